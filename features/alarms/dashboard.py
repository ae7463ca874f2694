"""The dashboard of a stage that watches everything."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain
from typing import TypeVar

from aws_cdk import Duration, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from features.alarms.measures import (
    OPERATIONS,
    P99,
    answering,
    dead_letters,
    mappings,
    of_table,
    polls,
    queues,
    reading,
    stream_readers,
    working,
)
from infra.functions import reporters
from infra.site import MAXIMUM, Site, of_function, only
from infra.stage import Stage
from shared import features, hooks
from shared.dynamodb.schema import INDEXES
from shared.runtime import metrics

Part = TypeVar("Part")

MOST_STATUSES = 100
"""Alarms that one widget of a dashboard may show.
https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/CloudWatch-Dashboard-Body-Structure.html"""

_SAID = (
    metrics.DEALS_POSTED,
    metrics.LIKES_ADDED,
    metrics.LIKES_REMOVED,
    metrics.WATCHES_ADDED,
    metrics.WATCHES_REMOVED,
)


class Dashboard(Construct):
    """One page: alarms, readers' and editors' activity, and the load of functions, queues and table."""

    def __init__(self, scope: Construct, *, stage: Stage, site: Site, alarms: list[cloudwatch.Alarm]) -> None:
        super().__init__(scope, "Dashboard")
        rows: list[Row] = [
            *(_statuses(alarms[start : start + MOST_STATUSES]) for start in range(0, len(alarms), MOST_STATUSES)),
            _activity(stage),
            _upkeep(stage, site),
            [_graph(title, *found) for title, found in site.graphs],
            _requests(stage, site),
            _invocations({**answering(site), **working(site)}),
            _stream(stage, site),
            _queues(site),
            _table(site),
        ]
        cloudwatch.Dashboard(
            self,
            "Dashboard",
            # Dashboards are global (PutDashboard in CloudWatch's API reference says so), and a stage may be in several
            # regions.
            dashboard_name=f"{stage.stack_name}-overview-{Stack.of(self).region}",
            default_interval=Duration.hours(3),
            widgets=rows,
        )


Row = list[cloudwatch.IWidget]


def _statuses(alarms: list[cloudwatch.Alarm]) -> Row:
    """A dashboard row with the state of some alarms, as high as they need."""
    height = 3 + len(alarms) // 20
    return [cloudwatch.AlarmStatusWidget(title="Alarms", alarms=list(alarms), width=24, height=height)]


def _activity(stage: Stage) -> Row:
    """What readers and editors do, and the notifications that follow."""
    delivery = chain.from_iterable(each.DELIVERY for each in features.roles(hooks.Metrics))
    return [
        _graph("Deals, likes and watches", *_by_function(stage, *_SAID)),
        _graph("Messages", *_by_function(stage, metrics.MESSAGES_DELIVERED, *delivery)),
        _graph("Fan-out lag, s", *(only(stage, metrics.FAN_OUT_LAG, each) for each in ("p50", P99, MAXIMUM))),
    ]


def _upkeep(stage: Stage, site: Site) -> Row:
    """Caches, sweeps, failed sign-ins and damaged items."""
    damaged = [_of(of_function(stage, metrics.DAMAGED_ITEMS, name), f"DamagedItems {name}") for name in reading(site)]
    return [
        _graph("Cached parts", *_by_function(stage, metrics.CACHE_HITS, metrics.CACHE_MISSES)),
        _graph("Cache age, s", only(stage, metrics.CACHE_AGE, MAXIMUM)),
        _graph(
            "Sweeps and sign-in failures",
            *_by_function(stage, metrics.ENDED_DEALS_SWEPT, metrics.SIGN_IN_FAILURES),
            *damaged,
        ),
    ]


def _requests(stage: Stage, site: Site) -> Row:
    """The gateways' requests, failures and latency."""
    return [
        _graph(
            "Requests",
            *_each(site.gateways, lambda each: each.stage.metric_count()),
            *(_of(each.stage.metric_client_error(), f"{name} 4xx") for name, each in site.gateways.items()),
        ),
        _graph(
            "Answers of 500 and above, and faults",
            *_each(site.gateways, lambda each: each.stage.metric_server_error()),
            *(_of(of_function(stage, metrics.FAULTS, name), f"Faults {name}") for name in answering(site)),
        ),
        _graph(
            "Latency, ms",
            *(
                _of(each.stage.metric_latency(statistic=statistic), f"{name} {statistic}")
                for name, each in site.gateways.items()
                for statistic in ("p50", P99)
            ),
        ),
    ]


def _invocations(functions: Mapping[str, lambda_.IFunction]) -> Row:
    """The functions' invocations, errors and duration."""
    return [
        _graph("Invocations", *_each(functions, lambda each: each.metric_invocations())),
        _graph("Errors", *_each(functions, lambda each: each.metric_errors())),
        _graph("Duration p99, ms", *_each(functions, lambda each: each.metric_duration(statistic=P99))),
    ]


def _stream(stage: Stage, site: Site) -> Row:
    """Cold and throttled functions, and how far the stream's readers are behind."""
    functions = {**answering(site), **working(site)}
    return [
        _graph("Cold starts", *(_of(of_function(stage, metrics.COLD_START, name), name) for name in functions)),
        _graph("Throttled invocations", *_each(functions, lambda each: each.metric_throttles())),
        _graph(
            "Stream: age of the oldest record, ms",
            *_each(stream_readers(site), lambda each: each.metric("IteratorAge", statistic=MAXIMUM)),
        ),
        _graph("Readers: polls", *_each(mappings(site), polls)),
    ]


def _queues(site: Site) -> Row:
    """Queued work, and dead letters."""
    return [
        _graph(
            "Queues: waiting and in work",
            *(
                _of(count, f"{name} {state}")
                for name, queue in queues(site).items()
                for state, count in (
                    ("waiting", queue.metric_approximate_number_of_messages_visible()),
                    ("in work", queue.metric_approximate_number_of_messages_not_visible()),
                )
            ),
        ),
        _graph(
            "Queues: age of the oldest message, s",
            *_each(queues(site), lambda each: each.metric_approximate_age_of_oldest_message()),
        ),
        _graph(
            "Dead letters",
            *_each(dead_letters(site), lambda each: each.metric_approximate_number_of_messages_visible()),
        ),
    ]


def _table(site: Site) -> Row:
    """The table's consumed units, throttling and failures."""
    return [
        _graph("Table: consumed units", *_by_index(site, "ConsumedReadCapacityUnits", "ConsumedWriteCapacityUnits")),
        _graph("Table: throttled", *_by_index(site, "ReadThrottleEvents", "WriteThrottleEvents")),
        _graph(
            "Table: failures of its own",
            *(_of(of_table(site, "SystemErrors", Operation=each), each) for each in OPERATIONS),
        ),
    ]


def _by_function(stage: Stage, *reported: metrics.Metric) -> list[cloudwatch.IMetric]:
    """The sums of metrics, for each function that reports them."""
    return [
        _of(of_function(stage, metric, module), f"{metric.name} {module}")
        for metric in reported
        for module in reporters(metric)
    ]


def _by_index(site: Site, *names: str) -> list[cloudwatch.IMetric]:
    """Counts of the table and of each of its indexes."""
    places = {"table": {}, **{index.name: {"GlobalSecondaryIndexName": index.name} for index in INDEXES}}
    return [_of(of_table(site, name, **place), f"{name} {of}") for name in names for of, place in places.items()]


def _each(parts: Mapping[str, Part], measure: Callable[[Part], cloudwatch.Metric]) -> list[cloudwatch.Metric]:
    """A metric of each part, under the part's name."""
    return [_of(measure(part), name) for name, part in parts.items()]


def _of(metric: cloudwatch.Metric, label: str) -> cloudwatch.Metric:
    return metric.with_(label=label)


def _graph(title: str, *left: cloudwatch.IMetric) -> cloudwatch.GraphWidget:
    return cloudwatch.GraphWidget(title=title, left=list(left), width=8, height=6)
