"""Monitoring of a deployment: alarms, the topic that they notify, and a budget.

Each alarm watches one metric instead of a formula, which would cost as much as all its metrics. Alarms and dashboard
are in a nested stack.
"""

from __future__ import annotations

from dataclasses import fields

from aws_cdk import Annotations, Duration, NestedStack, Stack
from aws_cdk import aws_budgets as budgets
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from features.alarms.dashboard import Dashboard
from features.alarms.measures import (
    MINIMUM,
    OPERATIONS,
    P99,
    SAMPLES,
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
from features.alarms.rights import ESSENTIAL, UNTOLD, Alarms, Bounds
from infra.nag import Acceptance, accept
from infra.site import MAXIMUM, RUNBOOK, SUM, Site, of_function, only
from infra.stage import Bound, Stage, Watch
from shared import features
from shared.dynamodb.schema import INDEXES
from shared.runtime import metrics

_KEY_OF_SNS = Acceptance(
    "An alarm's message names the alarm and a number, and SNS's disks are encrypted. A key would cost $1 a month.",
    "CKV_AWS_26",
)
_ALARMS_GROW_OLD = Acceptance(
    "A message that could not be handed over is an alarm that would be out of date when sent again.",
    "Serverless-SNSRedrivePolicy",
)


def watch(stack: Stack, site: Site) -> None:
    """Add alarms, and warn of what a stage with data lacks to be told of failures."""
    for number, lack in enumerate(lacks(site.stage)):
        Annotations.of(stack).add_warning_v2(f"lack-of-notice-{number}", lack)
    if site.stage.watch is not Watch.NOTHING:
        Observability(stack, site=site)


def lacks(stage: Stage) -> list[str]:
    """What a stage that keeps data should have to be told of failures, and hasn't: a sentence for each."""
    if not stage.keeps_data:
        return []
    alarms, place = stage.option(Alarms) or UNTOLD, "in features/alarms/rights.py"
    wanted = {
        "watch: nobody hears of a failure": stage.watch is not Watch.NOTHING,
        f"email {place}: its alarms have no recipient": alarms.email,
        f"budget {place}: nothing warns of its cost": alarms.budget,
    }
    return [f"{stage.stack_name} has no {what}." for what, has in wanted.items() if not has]


class AlarmSet(Construct):
    """One alarm for each bound that the stage watches.

    An alarm's description names its section of the runbook, or of a feature's document.
    """

    def __init__(self, scope: Construct, *, site: Site, bounds: Bounds, topic: sns.ITopic) -> None:
        super().__init__(scope, "Alarms")
        self._stage = site.stage
        self._bounds = bounds
        self._action = actions.SnsAction(topic)
        self.alarms: list[cloudwatch.Alarm] = []

        self._watch_events(site)
        self._watch_functions(site)
        self._watch_table(site)
        self._watch_ours(site)
        kinds = [("features/alarms/rights.py", [each.name for each in fields(bounds)])]
        for clash in features.clashes((*kinds, *((each.document, [each.kind]) for each in site.watched))):
            raise ValueError(clash)
        for each in site.watched:
            if each.essential or self._stage.watch is Watch.FULL:
                more = {"below": each.below, "silence_is_bad": each.silence_is_bad}
                self._add(each.kind, None, each.metric, bound=each.bound, document=each.document, **more)

    def _watch_events(self, site: Site) -> None:
        """Alarms on the stream, the queues of work, and the dead-letter queues."""
        for module, function in stream_readers(site).items():
            self._add("stream_is_behind", module, function.metric("IteratorAge", statistic=MAXIMUM))
        for module, mapping in mappings(site).items():
            self._add("reader_stands_still", module, polls(mapping), below=True, silence_is_bad=True)
        for name, queue in queues(site).items():
            self._add("work_is_old", name, queue.metric_approximate_age_of_oldest_message())
            self._add("work_piles_up", name, queue.metric_approximate_number_of_messages_visible(statistic=MINIMUM))
        for each in site.functions:
            if each.row.name == "expiry":  # one of those that the same rule calls
                ticks = each.function.metric_invocations(statistic=SUM)
                self._add("clock_is_stopped", None, ticks, below=True, silence_is_bad=True)
            if each.row.calls_itself:
                dropped = each.function.metric("RecursiveInvocationsDropped", statistic=SUM)
                self._add("loop_is_stopped", each.row.name, dropped)
        for name, queue in dead_letters(site).items():
            self._add("dead_letters_are_waiting", name, queue.metric_approximate_number_of_messages_visible())
            # By number instead of age: looking at the messages would remove them from the age.
            self._add("dead_letters_grow_old", name, queue.metric_approximate_number_of_messages_visible())

    def _watch_functions(self, site: Site) -> None:
        """Alarms on functions, and on the gateways before them."""
        for module, function in {**answering(site), **working(site)}.items():
            self._add("function_fails", module, function.metric_errors())
            self._add("function_is_throttled", module, function.metric_throttles())
        for module, function in answering(site).items():
            self._add("answer_is_slow", module, function.metric_duration(statistic=P99))
        for module, function in working(site).items():
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
        for module in answering(site):
            self._add("request_fails", module, of_function(stage, metrics.FAULTS, module))
        for module in reading(site):
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
        bound = bound or getattr(self._bounds, kind)
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


class Observability(Construct):
    """Alarms, the topic that they and the budget notify, and a dashboard if everything is watched.

    Alarms, dashboard and budget are in a nested stack: a stack has at most 500 resources, of which they would be many
    (https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html). Parameters name what is
    watched, so nothing is exported and anything can be removed. The topic stays outside, so that its confirmed
    subscriptions stay.
    """

    def __init__(self, scope: Construct, *, site: Site) -> None:
        super().__init__(scope, "Observability")
        stage, settings = site.stage, site.stage.option(Alarms) or UNTOLD
        self.topic = self._topic(stage, settings.email)
        watch = NestedStack(self, "Watch", description=f"Alarms and dashboard of {stage.stack_name}")
        alarms = AlarmSet(watch, site=site, bounds=settings.bounds, topic=self.topic)
        if stage.watch is Watch.FULL:
            Dashboard(watch, stage=stage, site=site, alarms=alarms.alarms)
        if settings.budget:
            self._budget(watch, settings.budget)

    def _topic(self, stage: Stage, email: str | None) -> sns.Topic:
        """The topic of alarms and the budget, with an email subscription if there is an address. TLS only.

        SNS's disks are encrypted (https://docs.aws.amazon.com/sns/latest/dg/sns-data-encryption.html). A key for
        CloudWatch would have to be our own, for $1 a month; a message holds only an alarm's name and a number.
        https://docs.aws.amazon.com/sns/latest/dg/sns-key-management.html
        """
        topic = sns.Topic(
            Construct(self, "Topic"), "Topic", display_name=f"Alarms of {stage.stack_name}", enforce_ssl=True
        )
        accept(topic, _KEY_OF_SNS)
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
        if email:
            subscription = topic.add_subscription(subscriptions.EmailSubscription(email))
            accept(subscription, _ALARMS_GROW_OLD)
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
