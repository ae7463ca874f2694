"""The table as the schema declares it, made without CloudFormation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from shared.dynamodb import client
from shared.dynamodb.table import Table
from tests.support.engines import Engine


@pytest.fixture
def provisioned(engine: Engine) -> Iterator[Table]:
    """A table made as the laptop's is, on every engine."""
    with replace(engine, create=client.create_table).bare_table() as table:
        yield table


def test_the_table_is_on_demand_with_its_four_indexes_and_a_stream_of_both_images(provisioned: Table) -> None:
    made = provisioned.client.describe_table(TableName=provisioned.name)["Table"]

    indexes = {
        index["IndexName"]: (
            [key["AttributeName"] for key in index["KeySchema"]],
            index["Projection"]["ProjectionType"],
        )
        for index in made["GlobalSecondaryIndexes"]
    }
    assert [key["AttributeName"] for key in made["KeySchema"]] == ["PK", "SK"]
    assert made["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    assert made["StreamSpecification"] == {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
    assert indexes == {
        "GSI1": (["GSI1PK", "GSI1SK"], "ALL"),
        "GSI2": (["GSI2PK", "GSI2SK"], "ALL"),
        "GSI3": (["GSI3PK", "GSI3SK"], "ALL"),
        "UserIndex": (["UserIndex"], "ALL"),
    }


def test_items_expire_by_one_attribute_and_enabling_it_again_is_no_trouble(provisioned: Table) -> None:
    again = client.enable_ttl(provisioned.client, provisioned.name)

    ttl = provisioned.client.describe_time_to_live(TableName=provisioned.name)["TimeToLiveDescription"]
    assert again is False
    assert ttl["AttributeName"] == "ExpiresAt"
    assert ttl["TimeToLiveStatus"] in ("ENABLED", "ENABLING")
