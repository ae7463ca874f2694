"""The alarm topic, and a nested stack of alarms and dashboard."""

from __future__ import annotations

from aws_cdk import Annotations, NestedStack, Stack
from aws_cdk import aws_budgets as budgets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from infra import acceptances
from infra.checks import accept
from infra.observability.alarms import Alarms
from infra.observability.dashboard import Dashboard
from infra.observability.site import Site
from infra.settings import Stage, Watch


class Observability(Construct):
    """Alarms, the topic that they and the budget notify, and where all is watched a dashboard of it.

    Alarms and dashboard are a nested stack: a stack has 500 resources at most, and these would be a hundred of them
    (https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html). What is watched goes
    there by parameters, so nothing is exported, and anything can be removed. The topic stays outside, so that its
    confirmed subscriptions stay.
    """

    def __init__(self, scope: Construct, *, stage: Stage, site: Site) -> None:
        super().__init__(scope, "Observability")
        self.topic = self._topic(stage)
        watch = NestedStack(self, "Watch", description=f"Alarms and dashboard of {stage.stack_name}")
        alarms = Alarms(watch, stage=stage, site=site, topic=self.topic)
        if stage.watch is Watch.FULL:
            Dashboard(watch, stage=stage, site=site, alarms=alarms.alarms)
        if stage.budget:
            self._budget(stage.budget)
        if not stage.alarm_email:
            Annotations.of(self).add_warning_v2(
                "nobody-is-told", f"Alarms of {stage.stack_name} reach nobody: set alarm_email in infra/settings.py."
            )

    def _topic(self, stage: Stage) -> sns.Topic:
        """Where alarms and the budget are told: by email, if the stage names an address. Reached over TLS only.

        SNS's disks are encrypted (https://docs.aws.amazon.com/sns/latest/dg/sns-data-encryption.html). Encryption by a
        key would need one of our own, which CloudWatch may use, for $1 a month: a message names an alarm and a number.
        https://repost.aws/knowledge-center/cloudwatch-configure-alarm-sns
        """
        topic = sns.Topic(
            Construct(self, "Topic"), "Topic", display_name=f"Alarms of {stage.stack_name}", enforce_ssl=True
        )
        accept(topic, acceptances.KEY_OF_SNS)
        # A policy of our own replaces the default one, which lets the account's alarms publish.
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
            accept(subscription, acceptances.ALARMS_GROW_OLD)
        return topic

    def _budget(self, dollars: int) -> None:
        """Tell of a month that costs more than so much, and of one that will.

        It counts what the whole account pays, eight to twelve hours late:
        https://docs.aws.amazon.com/cost-management/latest/userguide/budgets-managing-costs.html
        """
        budgets.CfnBudget(
            self,
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
