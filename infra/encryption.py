"""A stage's own key in KMS (``key_arn``): which roles may use it, each through the services that it uses anyway.

Without it, services encrypt with keys of AWS, for nothing. The key isn't the stack's, and neither is its policy, which
lets CloudWatch's logs, those who write and read them, and what fills queues use it (``docs/deploying.md``).
"""

from __future__ import annotations

from aws_cdk import Aws
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sqs as sqs

from infra.stage import Stage

READS = ("kms:Decrypt", "kms:DescribeKey")
WRITES = (*READS, "kms:Encrypt", "kms:GenerateDataKey", "kms:ReEncryptFrom", "kms:ReEncryptTo")
"""What the CDK grants to those who read a table with such a key, and to those who write to it, without its wildcards.
DynamoDB's page says only that it decrypts in their name.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/encryption.usagenotes.html
https://github.com/aws/aws-cdk/pull/7425"""

RECEIVES = ("kms:Decrypt",)
SENDS = ("kms:GenerateDataKey", "kms:Decrypt")
"""What SQS asks of those who receive and send messages, and S3 of those who read objects and write them in parts.
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-key-management.html
https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingKMSEncryption.html"""

REUSED_FOR = 3600
"""Seconds that SQS uses a data key: each new one is a request to KMS. Five minutes are usual, a day the longest."""


def may_use(role: iam.IRole, stage: Stage, service: str, *actions: str) -> None:
    """Let a role use the stage's key, if it has one, in requests to one service, and not by itself."""
    if stage.key_arn is None or not actions:
        return
    through = f"{service}.{Aws.REGION}.{Aws.URL_SUFFIX}"
    role.add_to_principal_policy(
        iam.PolicyStatement(
            actions=[*actions],
            resources=[stage.key_arn],
            conditions={"StringEquals": {"kms:ViaService": through}},
        )
    )


def encrypt_queue(queue: sqs.Queue, key_arn: str) -> None:
    """Encrypt a queue with a key, in the place of SQS's own. The CDK would grant wildcards to each of its users."""
    resource = queue.node.default_child
    assert isinstance(resource, sqs.CfnQueue)  # noqa: S101  # a Queue is this one resource
    resource.kms_master_key_id = key_arn
    resource.kms_data_key_reuse_period_seconds = REUSED_FOR
    resource.sqs_managed_sse_enabled = None
