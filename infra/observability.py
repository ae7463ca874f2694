"""Monitoring of a deployment: metrics, alarms, the topic that they notify, and the dashboard.

Each alarm watches one metric instead of a formula, which would cost as much as all its metrics. Alarms and dashboard
are in a nested stack.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

from aws_cdk import Duration, NestedStack, Stack
from aws_cdk import aws_budgets as budgets
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from infra import nag
from infra.nag import accept
from infra.stage import ESSENTIAL, Bound, Stage, Watch
from shared import features, hooks
from shared.dynamodb.schema import INDEXES
from shared.runtime import metrics

if TYPE_CHECKING:
    from infra.site import Site

MAXIMUM, MINIMUM, SUM, SAMPLES, P99 = "Maximum", "Minimum", "Sum", "SampleCount", "p99"


def of_function(stage: Stage, metric: metrics.Metric, module: str, statistic: str = SUM) -> cloudwatch.Metric:
    """A metric as one function reports it."""
    return cloudwatch.Metric(
        namespace=stage.stack_name,
        metric_name=metric.name,
        dimensions_map={metrics.DIMENSION: module},
        statistic=statistic,
    )


def only(stage: Stage, metric: metrics.Metric, statistic: str) -> cloudwatch.Metric:
    """A metric that only one function reports."""
    (module,) = metric.services
    return of_function(stage, metric, module, statistic)


def of_table(site: Site, name: str, **dimensions: str) -> cloudwatch.Metric:
    """A count that DynamoDB reports. Without an index's name it excludes the indexes."""
    return cloudwatch.Metric(
        namespace="AWS/DynamoDB",
        metric_name=name,
        dimensions_map={"TableName": site.table.name, **dimensions},
        statistic=SUM,
    )


def polls(mapping: str) -> cloudwatch.Metric:
    """Polls of an event source mapping: a value for each poll, zero if it found nothing.

    https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html#event-source-mapping-metrics
    """
    return cloudwatch.Metric(
        namespace="AWS/Lambda",
        metric_name="PolledEventCount",
        dimensions_map={"EventSourceMappingUUID": mapping},
        statistic=SAMPLES,
    )


RUNBOOK = "docs/runbook.md"

OPERATIONS = (
    "GetItem", "BatchGetItem", "Query", "Scan", "PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems",
    "BatchExecuteStatement", "BatchWriteItem",
)  # fmt: skip
"""The functions' operations on the table: DynamoDB counts its own failures only by operation.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/metrics-dimensions.html"""


class Alarms(Construct):
    """One alarm for each bound that the stage watches.

    An alarm's description names its section of the runbook, or of a feature's document.
    """

    def __init__(self, scope: Construct, *, stage: Stage, site: Site, topic: sns.ITopic) -> None:
        super().__init__(scope, "Alarms")
        self._stage = stage
        self._action = actions.SnsAction(topic)
        self.alarms: list[cloudwatch.Alarm] = []

        self._watch_events(site)
        self._watch_functions(site)
        self._watch_table(site)
        self._watch_ours(site)
        kinds = [(features.THE_CORE, [each.name for each in fields(stage.bounds)])]
        for clash in features.clashes((*kinds, *((each.document, [each.kind]) for each in site.watched))):
            raise ValueError(clash)
        for each in site.watched:
            if each.essential or self._stage.watch is Watch.FULL:
                more = {"below": each.below, "silence_is_bad": each.silence_is_bad}
                self._add(each.kind, None, each.metric, bound=each.bound, document=each.document, **more)

    def _watch_events(self, site: Site) -> None:
        """Alarms on the stream, the queues of work, and the dead-letter queues."""
        for module, function in site.stream_readers.items():
            self._add("stream_is_behind", module, function.metric("IteratorAge", statistic=MAXIMUM))
        for module, mapping in site.mappings.items():
            self._add("reader_stands_still", module, polls(mapping), below=True, silence_is_bad=True)
        for name, queue in site.queues.items():
            self._add("work_is_old", name, queue.metric_approximate_age_of_oldest_message())
            self._add("work_piles_up", name, queue.metric_approximate_number_of_messages_visible(statistic=MINIMUM))
        for each in site.functions:
            if each.row.name == "expiry":  # one of those that the same rule calls
                ticks = each.function.metric_invocations(statistic=SUM)
                self._add("clock_is_stopped", None, ticks, below=True, silence_is_bad=True)
            if each.row.calls_itself:
                dropped = each.function.metric("RecursiveInvocationsDropped", statistic=SUM)
                self._add("loop_is_stopped", each.row.name, dropped)
        for name, queue in site.dead_letters.items():
            self._add("dead_letters_are_waiting", name, queue.metric_approximate_number_of_messages_visible())
            # By number instead of age: looking at the messages would remove them from the age.
            self._add("dead_letters_grow_old", name, queue.metric_approximate_number_of_messages_visible())

    def _watch_functions(self, site: Site) -> None:
        """Alarms on functions, and on the gateways before them."""
        for module, function in {**site.answering, **site.working}.items():
            self._add("function_fails", module, function.metric_errors())
            self._add("function_is_throttled", module, function.metric_throttles())
        for module, function in site.answering.items():
            self._add("answer_is_slow", module, function.metric_duration(statistic=P99))
        for module, function in site.working.items():
            self._add("work_is_slow", module, function.metric_duration(statistic=P99))
        for name, gateway in site.gateways.items():
            self._add("answer_is_slow", name, gateway.stage.metric_latency(statistic=P99))
            self._add("api_fails", name, gateway.stage.metric_server_error())
            self._add("too_many_requests", name, gateway.stage.metric_count(statistic=SUM))

    def _watch_table(self, site: Site) -> None:
        """Alarms on DynamoDB's refusals and failures."""
        self._add("table_is_throttled", "reads", of_table(site, "ReadThrottleEvents"))
        self._add("table_is_throttled", "writes", of_table(site, "WriteThrottleEvents"))
        for index in INDEXES:
            reads, writes = (
                of_table(site, f"{kind}ThrottleEvents", GlobalSecondaryIndexName=index.name)
                for kind in ("Read", "Write")
            )
            self._add("table_is_throttled", f"reads-{index.name}", reads)
            self._add("index_holds_up_writes", index.name, writes)
        for operation in OPERATIONS:
            self._add("table_fails", operation, of_table(site, "SystemErrors", Operation=operation))

    def _watch_ours(self, site: Site) -> None:
        """Alarms on the functions' own metrics."""
        stage = self._stage
        # This measures late notifications. If none are sent at all, the queues' alarms ring.
        self._add("news_is_late", None, only(stage, metrics.FAN_OUT_LAG, MAXIMUM))
        self._add("cache_is_old", None, only(stage, metrics.CACHE_AGE, MAXIMUM), silence_is_bad=True)
        for module in site.answering:
            self._add("request_fails", module, of_function(stage, metrics.FAULTS, module))
        for module in site.reading:
            self._add("items_are_damaged", module, of_function(stage, metrics.DAMAGED_ITEMS, module))
        sweeps = only(stage, metrics.ENDED_DEALS_SWEPT, SAMPLES)
        self._add("sweep_is_missing", None, sweeps, below=True, silence_is_bad=True)
        for module in metrics.SIGN_IN_FAILURES.services:
            self._add("sign_ins_fail", module, of_function(stage, metrics.SIGN_IN_FAILURES, module))

    def _add(
        self,
        kind: str,
        of: str | None,
        metric: cloudwatch.Metric,
        *,
        bound: Bound | None = None,
        below: bool = False,
        silence_is_bad: bool = False,
        document: str = RUNBOOK,
    ) -> None:
        """Add an alarm of a kind, with the stage's bound for it by default.

        Most metrics have no values while nothing happens, which is fine.

        ``silence_is_bad``: the alarm also rings when its metric stops, by going to INSUFFICIENT_DATA. A new alarm
        begins in that state and only a change notifies, so a new stage is quiet until the first value. If missing
        values counted as "breaching", each would ring before the clock's first minute. Sources:
        https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html
        https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html
        https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-actions.html
        """
        if bound is None and self._stage.watch is Watch.ESSENTIAL and kind not in ESSENTIAL:
            return
        bound = bound or getattr(self._stage.bounds, kind)
        name = kind.title().replace("_", "")
        says = kind.capitalize().replace("_", " ")
        operator, missing = cloudwatch.ComparisonOperator, cloudwatch.TreatMissingData
        alarm = cloudwatch.Alarm(
            self,
            f"{name}{of or ''}",
            alarm_name=".".join(filter(None, (self._stage.stack_name, name, of))),
            alarm_description=f"{says}{f': {of}' if of else ''}. What to do: {document}, under {says!r}",
            metric=metric.with_(period=Duration.minutes(bound.minutes)),
            threshold=bound.threshold,
            datapoints_to_alarm=bound.points,
            evaluation_periods=bound.of,
            comparison_operator=operator.LESS_THAN_THRESHOLD if below else operator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
            treat_missing_data=missing.MISSING if silence_is_bad else missing.NOT_BREACHING,
        )
        if silence_is_bad:
            alarm.add_insufficient_data_action(self._action)
        alarm.add_alarm_action(self._action)
        alarm.add_ok_action(self._action)
        self.alarms.append(alarm)


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
            _invocations({**site.answering, **site.working}),
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
    damaged = [_of(of_function(stage, metrics.DAMAGED_ITEMS, name), f"DamagedItems {name}") for name in site.reading]
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
            *(_of(of_function(stage, metrics.FAULTS, name), f"Faults {name}") for name in site.answering),
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
    functions = {**site.answering, **site.working}
    return [
        _graph("Cold starts", *(_of(of_function(stage, metrics.COLD_START, name), name) for name in functions)),
        _graph("Throttled invocations", *_each(functions, lambda each: each.metric_throttles())),
        _graph(
            "Stream: age of the oldest record, ms",
            *_each(site.stream_readers, lambda each: each.metric("IteratorAge", statistic=MAXIMUM)),
        ),
        _graph("Readers: polls", *_each(site.mappings, polls)),
    ]


def _queues(site: Site) -> Row:
    """Queued work, and dead letters."""
    return [
        _graph(
            "Queues: waiting and in work",
            *(
                _of(count, f"{name} {state}")
                for name, queue in site.queues.items()
                for state, count in (
                    ("waiting", queue.metric_approximate_number_of_messages_visible()),
                    ("in work", queue.metric_approximate_number_of_messages_not_visible()),
                )
            ),
        ),
        _graph(
            "Queues: age of the oldest message, s",
            *_each(site.queues, lambda each: each.metric_approximate_age_of_oldest_message()),
        ),
        _graph(
            "Dead letters",
            *_each(site.dead_letters, lambda each: each.metric_approximate_number_of_messages_visible()),
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
        for module in metric.services
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


class Observability(Construct):
    """Alarms, the topic that they and the budget notify, and a dashboard if everything is watched.

    Alarms, dashboard and budget are in a nested stack: a stack has at most 500 resources, of which they would be many
    (https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html). Parameters name what is
    watched, so nothing is exported and anything can be removed. The topic stays outside, so that its confirmed
    subscriptions stay.
    """

    def __init__(self, scope: Construct, *, site: Site) -> None:
        super().__init__(scope, "Observability")
        stage = site.stage
        self.topic = self._topic(stage)
        watch = NestedStack(self, "Watch", description=f"Alarms and dashboard of {stage.stack_name}")
        alarms = Alarms(watch, stage=stage, site=site, topic=self.topic)
        if stage.watch is Watch.FULL:
            Dashboard(watch, stage=stage, site=site, alarms=alarms.alarms)
        if stage.budget:
            self._budget(watch, stage.budget)

    def _topic(self, stage: Stage) -> sns.Topic:
        """The topic of alarms and the budget, with an email subscription if the stage names an address. TLS only.

        SNS's disks are encrypted (https://docs.aws.amazon.com/sns/latest/dg/sns-data-encryption.html). A key for
        CloudWatch would have to be our own, for $1 a month; a message holds only an alarm's name and a number.
        https://docs.aws.amazon.com/sns/latest/dg/sns-key-management.html
        """
        topic = sns.Topic(
            Construct(self, "Topic"), "Topic", display_name=f"Alarms of {stage.stack_name}", enforce_ssl=True
        )
        accept(topic, nag.KEY_OF_SNS)
        # Our policy replaces the default one, which lets the account's alarms publish.
        for service in ("cloudwatch", "budgets"):
            topic.add_to_resource_policy(
                iam.PolicyStatement(
                    principals=[iam.ServicePrincipal(f"{service}.amazonaws.com")],
                    actions=["sns:Publish"],
                    resources=[topic.topic_arn],
                    conditions={"StringEquals": {"aws:SourceAccount": Stack.of(self).account}},
                )
            )
        if stage.alarm_email:
            subscription = topic.add_subscription(subscriptions.EmailSubscription(stage.alarm_email))
            accept(subscription, nag.ALARMS_GROW_OLD)
        return topic

    def _budget(self, scope: Construct, dollars: int) -> None:
        """Alert when a month's actual or forecast cost exceeds this many dollars.

        It counts the whole account's costs, half a day late or later:
        https://docs.aws.amazon.com/cost-management/latest/userguide/budgets-managing-costs.html
        """
        budgets.CfnBudget(
            scope,
            "Budget",
            budget={"budgetType": "COST", "timeUnit": "MONTHLY", "budgetLimit": {"amount": dollars, "unit": "USD"}},
            notifications_with_subscribers=[
                {
                    "notification": {"notificationType": kind, "comparisonOperator": "GREATER_THAN", "threshold": 100},
                    "subscribers": [{"subscriptionType": "SNS", "address": self.topic.topic_arn}],
                }
                for kind in ("ACTUAL", "FORECASTED")
            ],
        )
