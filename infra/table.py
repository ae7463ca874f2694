"""The table, as ``shared/dynamodb/schema.py`` declares it, and what a function may be allowed to do with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aws_cdk import RemovalPolicy
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from constructs import Construct

from infra.checks import accept
from shared.dynamodb.schema import INDEXES, PARTITION_KEY, SORT_KEY, STREAM_VIEW, TTL_ATTRIBUTE, Index

if TYPE_CHECKING:
    from infra.settings import Stage

_NAMES_KEYS = {
    "GetItem", "BatchGetItem", "Query", "ConditionCheckItem", "PutItem", "UpdateItem", "DeleteItem", "PartiQLInsert",
}  # fmt: skip
"""Operations whose requests name partition keys, says AWS's service authorization reference."""


@dataclass(frozen=True, slots=True)
class Right:
    """One operation on the items of some partitions, of the table or of an index.

    ``partitions`` are patterns of partition keys. IAM holds every key that a request names against them, and each
    request of such an operation names at least one, so ``ForAllValues`` never holds for want of any. A transaction is
    authorized as the operations in it, and PartiQL's INSERT is ``PartiQLInsert``.
    """

    operation: str
    partitions: tuple[str, ...]
    index: Index | None = None

    def __post_init__(self) -> None:
        if self.operation not in _NAMES_KEYS or not self.partitions:
            raise ValueError(f"{self.operation} cannot be cut to partitions")

    @property
    def conditions(self) -> Mapping[str, Mapping[str, Any]]:
        return {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": list(self.partitions)}}


@dataclass(frozen=True, slots=True)
class Scan:
    """Scanning an index for some attributes of its items; a Scan names no keys that it could be cut to.

    ``dynamodb:Attributes`` holds what a request asks for, and is missing where it asks for whole items, which
    ``dynamodb:Select`` tells. DynamoDB wants the keys to be among the attributes.
    """

    attributes: tuple[str, ...]
    index: Index
    operation: str = field(default="Scan", init=False)

    @property
    def conditions(self) -> Mapping[str, Mapping[str, Any]]:
        keys = (PARTITION_KEY, SORT_KEY, self.index.partition_key, self.index.sort_key)
        return {
            "ForAllValues:StringEquals": {"dynamodb:Attributes": [*filter(None, keys), *self.attributes]},
            "StringEqualsIfExists": {"dynamodb:Select": "SPECIFIC_ATTRIBUTES"},
        }


Access = tuple[Right | Scan, ...]
"""What a function does with the table."""


class DealsTable(Construct):
    """The one table: on demand, streamed, restorable to any second of the last 35 days."""

    def __init__(self, scope: Construct, construct_id: str, *, stage: Stage) -> None:
        super().__init__(scope, construct_id)
        self._emulated = stage.emulated
        self.table = dynamodb.Table(
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
            deletion_protection=stage.keeps_data,
            removal_policy=RemovalPolicy.RETAIN if stage.keeps_data else RemovalPolicy.DESTROY,
        )
        accept(
            self.table,
            "DynamoDB encrypts every table with a key of AWS, for nothing. A key in KMS costs $0.03 per 10,000 uses, "
            "and $1 a month where it is ours: for a trail of its uses, and a switch that makes the data unreadable.",
            "CKV_AWS_119",
        )
        for index in INDEXES:
            self.table.add_global_secondary_index(
                index_name=index.name,
                partition_key=_string(index.partition_key),
                sort_key=_string(index.sort_key) if index.sort_key else None,
                projection_type=dynamodb.ProjectionType.ALL,
            )

    @property
    def name(self) -> str:
        """The table's name, a token until it is deployed."""
        return self.table.table_name

    def grant(self, role: iam.Role, access: Access) -> None:
        """Allow exactly an access, on nothing but this table and the indexes it names."""
        for right in access:
            iam.Grant.add_to_principal(
                grantee=role,
                actions=[f"dynamodb:{right.operation}"],
                resource_arns=[self._index(right.index) if right.index else self.table.table_arn],
                conditions=right.conditions,
            )
        if self._emulated and any(right.operation == "PartiQLInsert" for right in access):
            # MiniStack asks for the operation that carries PartiQL's statements, on no table; IAM knows no such right.
            role.add_to_policy(iam.PolicyStatement(actions=["dynamodb:BatchExecuteStatement"], resources=["*"]))
            accept(role, "MiniStack asks for it on everything.", "AwsSolutions-IAM5[Resource::*]")

    def _index(self, index: Index) -> str:
        return f"{self.table.table_arn}/index/{index.name}"


def _string(name: str) -> dynamodb.Attribute:
    return dynamodb.Attribute(name=name, type=dynamodb.AttributeType.STRING)
