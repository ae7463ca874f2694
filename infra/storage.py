"""The table, as ``shared/dynamodb/schema.py`` declares it, with the rights of functions to it; and private buckets.

Buckets are encrypted, accessible only over TLS, and delete their objects after some days.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from aws_cdk import CfnOutput, Duration, RemovalPolicy, Stack
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from infra import nag
from infra.encryption import READS, WRITES, may_use
from infra.nag import accept
from infra.rights import Access, Right, Scan
from infra.stage import Stage
from shared.dynamodb.schema import INDEXES, PARTITION_KEY, SORT_KEY, STREAM_VIEW, TTL_ATTRIBUTE

A_DAY = Duration.days(1)

READ_ONLY = {"GetItem", "BatchGetItem", "Query", "Scan", "ConditionCheckItem"}
"""Operations that write nothing."""


class Bucket(s3.Bucket):
    """A bucket with lifecycle rules. It outlives its stack, which couldn't delete a full one, but not a deployment that
    fails to create it."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *rules: s3.LifecycleRule,
        stage: Stage,
        cors: Sequence[s3.CorsRule] | None = None,
        tls: bool = True,
    ) -> None:
        key = kms.Key.from_key_arn(scope, f"{construct_id}Key", stage.key_arn) if stage.key_arn else None
        super().__init__(
            scope,
            construct_id,
            encryption=s3.BucketEncryption.KMS if key else s3.BucketEncryption.S3_MANAGED,
            encryption_key=key,
            bucket_key_enabled=True if key else None,  # one request to KMS for many objects
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            enforce_ssl=tls,
            minimum_tls_version=1.2 if tls else None,
            removal_policy=RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
            lifecycle_rules=[*rules],
            cors=cors,
        )


def gone_after(days: int) -> s3.LifecycleRule:
    """The rule that deletes objects after some days."""
    return s3.LifecycleRule(expiration=Duration.days(days), abort_incomplete_multipart_upload_after=A_DAY)


class DealsTable(Construct):
    """The one table: on demand, with a stream, restorable to any second of the last 35 days.

    If the stage names a ``restored`` table, it is that one, which the stack doesn't own (``docs/runbook.md``).
    """

    def __init__(self, scope: Construct, *, stage: Stage) -> None:
        super().__init__(scope, "Deals")
        self._stage, self._emulated, self._by_index = stage, stage.emulated, stage.rights_by_index
        if stage.restored:
            self.table = dynamodb.Table.from_table_attributes(
                self, "Restored", table_name=stage.restored.name, table_stream_arn=stage.restored.stream_arn
            )
        else:
            self.table = self._own(stage)
        self.name = self.table.table_name
        CfnOutput(Stack.of(self), "TableName", value=self.name)

    def _own(self, stage: Stage) -> dynamodb.ITable:
        table = dynamodb.Table(
            self,
            "Table",
            table_name=stage.table_name,
            partition_key=_string(PARTITION_KEY),
            sort_key=_string(SORT_KEY),
            billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
            stream=dynamodb.StreamViewType[STREAM_VIEW],
            time_to_live_attribute=TTL_ATTRIBUTE,
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=True
            ),
            deletion_protection=stage.is_protected,
            removal_policy=RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE if stage.keeps_data else RemovalPolicy.DESTROY,
        )
        if stage.key_arn:
            resource = table.node.default_child
            assert isinstance(resource, dynamodb.CfnTable)  # noqa: S101  # a Table is this one resource
            resource.sse_specification = dynamodb.CfnTable.SSESpecificationProperty(
                sse_enabled=True, sse_type="KMS", kms_master_key_id=stage.key_arn
            )
        else:
            accept(table, nag.KEY_OF_DYNAMODB)
        for index in INDEXES:
            table.add_global_secondary_index(
                index_name=index.name,
                partition_key=_string(index.partition_key),
                sort_key=_string(index.sort_key) if index.sort_key else None,
                projection_type=dynamodb.ProjectionType.ALL,
            )
        return table

    def grant(self, role: iam.Role, access: Access) -> None:
        """Allow exactly an access, only on this table and the indexes that it names, and what it takes of the key."""
        for right in map(self._asked_for, access):
            index = f"/index/{right.index.name}" if right.index else ""
            iam.Grant.add_to_principal(
                grantee=role,
                actions=[f"dynamodb:{right.operation}"],
                resource_arns=[f"{self.table.table_arn}{index}"],
                conditions=self._checked(right.conditions),
            )
        if access:
            writes = any(right.operation not in READ_ONLY for right in access)
            may_use(role, self._stage, "dynamodb", *(WRITES if writes else READS))
        if self._emulated and any(right.operation == "PartiQLInsert" for right in access):
            # MiniStack requires a right to the operation that carries PartiQL's statements; IAM has no such right.
            # https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-iam.html
            role.add_to_policy(iam.PolicyStatement(actions=["dynamodb:BatchExecuteStatement"], resources=["*"]))
            accept(role, nag.MINISTACK_ASKS_ON_EVERYTHING)

    def _checked(self, conditions: Mapping[str, Any]) -> Mapping[str, Any]:
        """The conditions that the cloud can check: MiniStack gives IAM no keys, so it would refuse every request."""
        return {name: each for name, each in conditions.items() if not (self._emulated and name == "Null")}

    def _asked_for(self, right: Right | Scan) -> Right | Scan:
        """A right that the cloud can check: MiniStack sees attributes only of requests with a projection, and would
        refuse others. A stage may grant an index without its partitions (``docs/deploying.md``)."""
        if self._by_index and isinstance(right, Right) and right.index:
            right = replace(right, keyed=False)
        projects = right.operation in ("GetItem", "Query")
        if self._emulated and isinstance(right, Right) and not projects:
            return replace(right, attributes=())
        return right


def _string(name: str) -> dynamodb.Attribute:
    return dynamodb.Attribute(name=name, type=dynamodb.AttributeType.STRING)
