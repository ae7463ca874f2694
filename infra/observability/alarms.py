"""The alarms. Each watches one metric and no formula, which would cost as much as all its metrics."""

from __future__ import annotations

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_sns as sns
from constructs import Construct

from infra.observability.bounds import ESSENTIAL, Bound
from infra.observability.site import (
    MAXIMUM,
    MINIMUM,
    P99,
    SAMPLES,
    SUM,
    Site,
    of_function,
    of_table,
    only,
    polls,
)
from infra.settings import Stage, Watch
from shared.dynamodb.schema import INDEXES
from shared.runtime import metrics

RUNBOOK = "docs/runbook.md"

OPERATIONS = (
    "GetItem", "BatchGetItem", "Query", "Scan", "PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems",
    "BatchExecuteStatement", "BatchWriteItem",
)  # fmt: skip
"""The functions' operations on the table: DynamoDB counts its own failures by operation only.

https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/metrics-dimensions.html"""


class Alarms(Construct):
    """One alarm for each thing that has a bound, as far as the stage watches it.

    Its description names the section of the runbook that helps.
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
        if site.exports:
            self._add(
                "export_is_missing", None, site.exports.machine.metric_succeeded(), below=True, silence_is_bad=True
            )

    def _watch_events(self, site: Site) -> None:
        """The stream, the queues of work, and the dead-letter queues."""
        for module, function in site.stream_readers.items():
            self._add("stream_is_behind", module, function.metric("IteratorAge", statistic=MAXIMUM))
        for module, mapping in site.mappings.items():
            self._add("reader_stands_still", module, polls(mapping), below=True, silence_is_bad=True)
        for name, queue in site.queues.items():
            self._add("work_is_old", name, queue.metric_approximate_age_of_oldest_message())
            self._add("work_piles_up", name, queue.metric_approximate_number_of_messages_visible(statistic=MINIMUM))
        for each in site.functions:
            if each.row.calls_itself:
                dropped = each.function.metric("RecursiveInvocationsDropped", statistic=SUM)
                self._add("loop_is_stopped", each.row.name, dropped)
        for name, queue in site.dead_letters.items():
            self._add("dead_letters_are_waiting", name, queue.metric_approximate_number_of_messages_visible())
            # By its number, not by its age: a look at what is there (``btd redrive``) would take it out of the age.
            self._add("dead_letters_grow_old", name, queue.metric_approximate_number_of_messages_visible())

    def _watch_functions(self, site: Site) -> None:
        """Functions, and the gateways before them."""
        for module, function in {**site.answering, **site.working}.items():
            self._add("function_fails", module, function.metric_errors())
            self._add("function_is_throttled", module, function.metric_throttles())
        for module, function in site.answering.items():
            self._add("answer_is_slow", module, function.metric_duration(statistic=P99))
        for module, function in site.working.items():
            self._add("work_is_slow", module, function.metric_duration(statistic=P99))
        for name, gateway in site.gateways.items():
            self._add("answer_is_slow", name, gateway.metric_latency(statistic=P99))
            self._add("api_fails", name, gateway.metric_server_error())
            self._add("too_many_requests", name, gateway.metric_count(statistic=SUM))

    def _watch_table(self, site: Site) -> None:
        """Alarms on what DynamoDB refuses, and where it fails."""
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
        """Alarms on what the functions report of themselves."""
        stage = self._stage
        # This measures news that is told late. Where news is not told at all, the queues' alarms ring.
        self._add("news_is_late", None, only(stage, metrics.FAN_OUT_LAG, MAXIMUM))
        self._add("cache_is_old", None, only(stage, metrics.CACHE_AGE, MAXIMUM), silence_is_bad=True)
        for module in site.answering:
            self._add("request_fails", module, of_function(stage, metrics.FAULTS, module))
        for module in site.reading:
            self._add("items_are_damaged", module, of_function(stage, metrics.DAMAGED_ITEMS, module))
        sweeps = only(stage, metrics.ENDED_DEALS_SWEPT, SAMPLES)
        self._add("sweep_is_missing", None, sweeps, below=True, silence_is_bad=True)
        self._add("orders_are_stuck", None, only(stage, metrics.OLDEST_OPEN_ORDER, MAXIMUM))
        for module in metrics.SIGN_IN_FAILURES.services:
            self._add("sign_ins_fail", module, of_function(stage, metrics.SIGN_IN_FAILURES, module))

    def _add(
        self, kind: str, of: str | None, metric: cloudwatch.Metric, *, below: bool = False, silence_is_bad: bool = False
    ) -> None:
        """An alarm of a kind. Most metrics have no values while nothing happens, which is all right.

        ``silence_is_bad``: the alarm also rings when its metric has no more values, by going to INSUFFICIENT_DATA. A
        new alarm begins in that state, and only a change notifies: on a new stage it is quiet until the first value. If
        missing values counted as "breaching", each would ring before the clock's first minute. Sources:
        https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html
        https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html
        https://docs.aws.amazon.com/autoscaling/application/userguide/cloudwatch-alarm-notifications.html
        """
        if self._stage.watch is Watch.ESSENTIAL and kind not in ESSENTIAL:
            return
        bound: Bound = getattr(self._stage.bounds, kind)
        name = kind.title().replace("_", "")
        says = kind.capitalize().replace("_", " ")
        operator, missing = cloudwatch.ComparisonOperator, cloudwatch.TreatMissingData
        alarm = cloudwatch.Alarm(
            self,
            f"{name}{of or ''}",
            alarm_name=".".join(filter(None, (self._stage.stack_name, name, of))),
            alarm_description=f"{says}{f': {of}' if of else ''}. What to do: {RUNBOOK}, under {says!r}",
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
