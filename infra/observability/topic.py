"""The alarm topic, which alarms notify."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aws_cdk import RemovalPolicy, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from infra import acceptances
from infra.checks import accept

if TYPE_CHECKING:
    from infra.settings import Stage


class AlarmTopic(Construct):
    """Where alarms are sent: by email, if the stage names an address. Encrypted, and reached over TLS only."""

    def __init__(self, scope: Construct, construct_id: str, *, stage: Stage) -> None:
        super().__init__(scope, construct_id)
        # CloudWatch cannot use the key that AWS keeps for SNS, so this is one of ours, for $1 a month.
        # https://repost.aws/knowledge-center/cloudwatch-configure-alarm-sns and https://aws.amazon.com/kms/pricing/
        key = kms.Key(
            self,
            "Key",
            description=f"Alarms of {stage.stack_name}",
            enable_key_rotation=True,
            removal_policy=RemovalPolicy.DESTROY,
        )
        self.topic = sns.Topic(
            self,
            "Topic",
            display_name=f"Alarms of {stage.stack_name}",
            master_key=key,
            enforce_ssl=True,
        )
        ours: dict[str, Any] = {
            "principals": [iam.ServicePrincipal("cloudwatch.amazonaws.com")],
            "conditions": {"StringEquals": {"aws:SourceAccount": Stack.of(self).account}},
        }
        key.add_to_resource_policy(
            iam.PolicyStatement(actions=["kms:Decrypt", "kms:GenerateDataKey*"], resources=["*"], **ours)
        )
        # A policy of our own replaces the default one, which lets the account's alarms publish.
        self.topic.add_to_resource_policy(
            iam.PolicyStatement(actions=["sns:Publish"], resources=[self.topic.topic_arn], **ours)
        )
        if stage.alarm_email:
            subscription = self.topic.add_subscription(subscriptions.EmailSubscription(stage.alarm_email))
            accept(subscription, acceptances.ALARMS_GROW_OLD)
