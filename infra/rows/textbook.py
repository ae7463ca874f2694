"""The textbook's function and its rights, and its own table, with an index that the site's table lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from infra.rights import Access, Right
from infra.rows import Function
from shared.data import partitions as p
from shared.dynamodb.schema import GSI1, GSI2, GSI3, PARTITION_KEY, SORT_KEY

if TYPE_CHECKING:
    from aws_cdk import Stack

    from infra.stacks import Site

LEARN: Access = (
    *(Right(read, (*p.OPEN[None], p.SCRATCH)) for read in ("GetItem", "BatchGetItem", "Query")),
    *(Right("Query", (*p.OPEN[index.name], p.SCRATCH), index) for index in (GSI1, GSI2, GSI3)),
    *(
        Right(write, (p.SCRATCH,))
        for write in ("PutItem", "UpdateItem", "DeleteItem", "ConditionCheckItem", "BatchWriteItem", "PartiQLInsert")
    ),
)
"""Only stages that show their work have this function. It reads the public catalog, and writes scratch partitions. It
is separate because the function of ``/table`` writes nothing, and this one reads no session."""

FUNCTIONS = (Function(name="learn", access=LEARN, pages="/learn", shows_work=True),)


def add(stack: Stack, site: Site) -> None:
    """Add a small table with an index whose keys have several attributes, if the stack has the function.

    Only the function may write the items and query the index.
    """
    # Imported late: commands read the rows, and need neither aws_cdk nor the lessons.
    from aws_cdk import RemovalPolicy  # noqa: PLC0415
    from aws_cdk import aws_dynamodb as dynamodb  # noqa: PLC0415
    from aws_cdk import aws_iam as iam  # noqa: PLC0415
    from constructs import Construct  # noqa: PLC0415

    from infra import nag  # noqa: PLC0415
    from shared.learn import lessons  # noqa: PLC0415

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
