"""The textbook's own table, which has an index as the table of the site has none."""

from __future__ import annotations

from aws_cdk import RemovalPolicy, Stack
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from constructs import Construct

from infra import nag
from infra.lambdas import PythonFunction
from infra.nag import Acceptance, accept
from infra.stacks import Site
from shared.dynamodb.schema import PARTITION_KEY, SORT_KEY
from shared.learn import lessons

_IS_WRITTEN_ANEW = Acceptance(
    "Each run of the lesson writes the same few items: nothing in it is worth restoring.",
    "AwsSolutions-DDB3",
    "CKV_AWS_28",
)


def add(stack: Stack, site: Site) -> None:
    """Give a stack the table, where it has the function."""
    if learn := site.by_name.get("learn"):
        TextbookTable(stack, learn=learn)


class TextbookTable(Construct):
    """A table of a few items, with an index whose keys have several attributes. The function ``learn`` may write the
    items and query the index, and nothing else may."""

    def __init__(self, scope: Construct, *, learn: PythonFunction) -> None:
        super().__init__(scope, "Textbook")
        kept = lessons.recorded()

        def attributes(*names: str) -> list[dynamodb.Attribute]:
            kinds = {"S": dynamodb.AttributeType.STRING, "N": dynamodb.AttributeType.NUMBER}
            return [dynamodb.Attribute(name=name, type=kinds[kept["types"][name]]) for name in names]

        (partition_key,), (sort_key,) = attributes(PARTITION_KEY), attributes(SORT_KEY)
        table = dynamodb.Table(
            self,
            "Table",
            partition_key=partition_key,
            sort_key=sort_key,
            billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
            removal_policy=RemovalPolicy.DESTROY,
        )
        table.add_global_secondary_index(
            index_name=kept["index"], partition_keys=attributes(*kept["partition"]), sort_keys=attributes(*kept["sort"])
        )
        accept(table, nag.KEY_OF_DYNAMODB, _IS_WRITTEN_ANEW)
        learn.function.add_environment("TEXTBOOK_TABLE", table.table_name)
        for operation, place in (("BatchWriteItem", ""), ("Query", f"/index/{kept['index']}")):
            iam.Grant.add_to_principal(
                grantee=learn.role, actions=[f"dynamodb:{operation}"], resource_arns=[f"{table.table_arn}{place}"]
            )
