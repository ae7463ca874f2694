"""The alarm topic, which alarms notify."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from infra import acceptances
from infra.checks import accept

if TYPE_CHECKING:
    from infra.settings import Stage


class AlarmTopic(Construct):
    """Where alarms and the budget are told: by email, if the stage names an address. Reached over TLS only.

    SNS's disks are encrypted (https://docs.aws.amazon.com/sns/latest/dg/sns-data-encryption.html). Encryption by a key
    would need one of our own, which CloudWatch may use, for $1 a month: a message names an alarm and a number.
    https://repost.aws/knowledge-center/cloudwatch-configure-alarm-sns
    """

    def __init__(self, scope: Construct, construct_id: str, *, stage: Stage) -> None:
        super().__init__(scope, construct_id)
        self.topic = sns.Topic(self, "Topic", display_name=f"Alarms of {stage.stack_name}", enforce_ssl=True)
        accept(self.topic, acceptances.KEY_OF_SNS)
        # A policy of our own replaces the default one, which lets the account's alarms publish.
        for service in ("cloudwatch", "budgets"):
            self.topic.add_to_resource_policy(
                iam.PolicyStatement(
                    principals=[iam.ServicePrincipal(f"{service}.amazonaws.com")],
                    actions=["sns:Publish"],
                    resources=[self.topic.topic_arn],
                    conditions={"StringEquals": {"aws:SourceAccount": Stack.of(self).account}},
                )
            )
        if stage.alarm_email:
            subscription = self.topic.add_subscription(subscriptions.EmailSubscription(stage.alarm_email))
            accept(subscription, acceptances.ALARMS_GROW_OLD)
