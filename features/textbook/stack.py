"""The textbook's own table, with an index that the site's table lacks."""

from __future__ import annotations

from aws_cdk import RemovalPolicy, Stack
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from constructs import Construct

from features.textbook import lessons
from infra import nag
from infra.site import Site
from shared.dynamodb.schema import PARTITION_KEY, SORT_KEY


def add(stack: Stack, site: Site) -> None:
    """Add a small table with an index whose keys have several attributes, if the stack has the function.

    Only the function may write the items and query the index.
    """
    learn = site.by_name.get("learn")
    if learn is None:
        return
    kept = lessons.recorded()

    def attributes(*names: str) -> list[dynamodb.Attribute]:
        kinds = {"S": dynamodb.AttributeType.STRING, "N": dynamodb.AttributeType.NUMBER}
        return [dynamodb.Attribute(name=name, type=kinds[kept["types"][name]]) for name in names]

    (partition_key,), (sort_key,) = attributes(PARTITION_KEY), attributes(SORT_KEY)
    table = dynamodb.Table(
        Construct(stack, "Textbook"),
        "Table",
        partition_key=partition_key,
        sort_key=sort_key,
        billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
        removal_policy=RemovalPolicy.DESTROY,
    )
    table.add_global_secondary_index(
        index_name=kept["index"], partition_keys=attributes(*kept["partition"]), sort_keys=attributes(*kept["sort"])
    )
    written_anew = "Each run of the lesson writes the same few items: nothing in it is worth restoring."
    nag.accept(table, nag.KEY_OF_DYNAMODB, nag.Acceptance(written_anew, "AwsSolutions-DDB3", "CKV_AWS_28"))
    learn.function.add_environment("TEXTBOOK_TABLE", table.table_name)
    for operation, place in (("BatchWriteItem", ""), ("Query", f"/index/{kept['index']}")):
        iam.Grant.add_to_principal(
            grantee=learn.role, actions=[f"dynamodb:{operation}"], resource_arns=[f"{table.table_arn}{place}"]
        )
