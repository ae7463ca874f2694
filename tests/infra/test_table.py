"""The table in the template is the one that the schema declares."""

from __future__ import annotations

from shared.dynamodb.schema import TTL_ATTRIBUTE, create_table_request
from tests.infra.conftest import Synthesized


def test_the_table_has_the_keys_indexes_and_stream_of_the_schema(dev: Synthesized) -> None:
    declared = create_table_request("any")

    table = dev.only("AWS::DynamoDB::Table")["Properties"]

    assert table["KeySchema"] == declared["KeySchema"]
    assert table["GlobalSecondaryIndexes"] == declared["GlobalSecondaryIndexes"]
    assert _by_name(table["AttributeDefinitions"]) == _by_name(declared["AttributeDefinitions"])
    assert table["BillingMode"] == declared["BillingMode"]
    assert table["StreamSpecification"]["StreamViewType"] == "NEW_AND_OLD_IMAGES"


def test_items_expire_and_can_be_restored_on_every_stage(dev: Synthesized, prod: Synthesized) -> None:
    for stage in (dev, prod):
        table = stage.only("AWS::DynamoDB::Table")["Properties"]

        assert table["TimeToLiveSpecification"] == {"AttributeName": TTL_ATTRIBUTE, "Enabled": True}
        assert table["PointInTimeRecoverySpecification"]["PointInTimeRecoveryEnabled"] is True


def test_production_data_outlives_its_stack_and_development_data_does_not(dev: Synthesized, prod: Synthesized) -> None:
    kept, dropped = prod.only("AWS::DynamoDB::Table"), dev.only("AWS::DynamoDB::Table")

    assert kept["Properties"]["DeletionProtectionEnabled"] is True
    assert kept["DeletionPolicy"] == "Retain"
    assert dropped["Properties"].get("DeletionProtectionEnabled", False) is False
    assert dropped["DeletionPolicy"] == "Delete"


def _by_name(definitions: object) -> list[dict[str, str]]:
    assert isinstance(definitions, list)
    return sorted(definitions, key=lambda each: str(each["AttributeName"]))
