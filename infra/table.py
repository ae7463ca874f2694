"""The table, as ``shared/data/schema.py`` declares it, and what a function may be allowed to do with it."""

from __future__ import annotations

from dataclasses import dataclass

from aws_cdk import RemovalPolicy
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from constructs import Construct

from shared.data.schema import INDEXES, PARTITION_KEY, SORT_KEY, STREAM_VIEW, TTL_ATTRIBUTE, Index


@dataclass(frozen=True, slots=True)
class Access:
    """What a function does with the table: operations on its items, and queries.

    A transaction is authorized as the operations in it. ``queried`` and ``scanned`` name the indexes that are queried
    and scanned; ``inserts`` is PartiQL's INSERT.
    """

    items: tuple[str, ...] = ()
    query: bool = False
    queried: tuple[Index, ...] = ()
    scanned: tuple[Index, ...] = ()
    inserts: bool = False


class DealsTable(Construct):
    """The one table: on demand, streamed, restorable to any second of the last 35 days."""

    def __init__(self, scope: Construct, construct_id: str, *, table_name: str | None, keeps_data: bool) -> None:
        super().__init__(scope, construct_id)
        self.table = dynamodb.Table(
            self,
            "Table",
            table_name=table_name,
            partition_key=_string(PARTITION_KEY),
            sort_key=_string(SORT_KEY),
            billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
            stream=dynamodb.StreamViewType[STREAM_VIEW],
            time_to_live_attribute=TTL_ATTRIBUTE,
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=True
            ),
            deletion_protection=keeps_data,
            removal_policy=RemovalPolicy.RETAIN if keeps_data else RemovalPolicy.DESTROY,
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

    def grant(self, grantee: iam.IGrantable, access: Access) -> None:
        """Allow exactly an access, on nothing but this table and the indexes it names."""
        operations = [*access.items, *(["PartiQLInsert"] if access.inserts else [])]
        queried = [self.table.table_arn] if access.query else []
        queried += map(self._index, access.queried)
        for actions, resources in (
            (operations, [self.table.table_arn]),
            (["Query"], queried),
            (["Scan"], list(map(self._index, access.scanned))),
        ):
            if actions and resources:
                iam.Grant.add_to_principal(
                    grantee=grantee,
                    actions=[f"dynamodb:{operation}" for operation in actions],
                    resource_arns=resources,
                )

    def _index(self, index: Index) -> str:
        return f"{self.table.table_arn}/index/{index.name}"


def _string(name: str) -> dynamodb.Attribute:
    return dynamodb.Attribute(name=name, type=dynamodb.AttributeType.STRING)
