"""The table in the template is the one that the schema declares."""

from __future__ import annotations

import json
from dataclasses import replace

from infra.settings import STAGES, RestoredTable
from shared.dynamodb.schema import TTL_ATTRIBUTE, create_table_request
from shared.learn import own_table
from tests.infra.conftest import Synthesized, synthesize


def test_the_table_has_the_keys_indexes_and_stream_of_the_schema(dev: Synthesized) -> None:
    declared = create_table_request("any")

    table = dev.only("AWS::DynamoDB::Table", "Deals")

    assert table["KeySchema"] == declared["KeySchema"]
    assert table["GlobalSecondaryIndexes"] == declared["GlobalSecondaryIndexes"]
    assert _by_name(table["AttributeDefinitions"]) == _by_name(declared["AttributeDefinitions"])
    assert table["BillingMode"] == declared["BillingMode"]
    assert table["StreamSpecification"]["StreamViewType"] == "NEW_AND_OLD_IMAGES"


def test_items_expire_and_can_be_restored_on_every_stage(dev: Synthesized, prod: Synthesized) -> None:
    for stage in (dev, prod):
        table = stage.only("AWS::DynamoDB::Table", "Deals")

        assert table["TimeToLiveSpecification"] == {"AttributeName": TTL_ATTRIBUTE, "Enabled": True}
        assert table["PointInTimeRecoverySpecification"]["PointInTimeRecoveryEnabled"] is True


def test_production_data_outlives_its_stack_and_development_data_does_not(dev: Synthesized, prod: Synthesized) -> None:
    (kept,), (dropped,) = (stage.resources("AWS::DynamoDB::Table", "Deals").values() for stage in (prod, dev))

    assert kept["Properties"]["DeletionProtectionEnabled"] is True
    assert (kept["DeletionPolicy"], kept["UpdateReplacePolicy"]) == ("RetainExceptOnCreate", "Retain")
    assert dropped["Properties"].get("DeletionProtectionEnabled", False) is False
    assert dropped["DeletionPolicy"] == "Delete"


def test_a_restored_table_takes_the_place_of_the_stacks_own() -> None:
    stream = "arn:aws:dynamodb:eu-central-1:111122223333:table/restored/stream/2026-06-12T15:00:00.000"
    stage = synthesize(replace(STAGES["prod"], restored=RestoredTable("restored", stream)))

    # The one that leaves the template stays, as the test above says.
    assert stage.resources("AWS::DynamoDB::Table") == {}
    used = {stage.variables(module).get("TABLE_NAME", "restored") for module in stage.modules()}
    assert used == {stage.template["Outputs"]["TableName"]["Value"]} == {"restored"}
    mappings = stage.all("AWS::Lambda::EventSourceMapping")
    read = {each["EventSourceArn"] for each in mappings if "FilterCriteria" in each}
    assert read == {stream}
    allowed = json.dumps(stage.all("AWS::IAM::Policy"))
    assert ":table/restored/index/GSI1" in allowed
    assert stream in allowed


def _by_name(definitions: object) -> list[dict[str, str]]:
    assert isinstance(definitions, list)
    return sorted(definitions, key=lambda each: str(each["AttributeName"]))


def test_the_textbook_has_a_table_of_its_own_that_one_function_knows_where_there_is_a_textbook(
    dev: Synthesized, prod: Synthesized
) -> None:
    ((name, resource),) = dev.resources("AWS::DynamoDB::Table", "Textbook").items()
    table, declared = resource["Properties"], own_table.table_request("any")

    knowing = {module: dev.allowed(module) for module in dev.modules() if module}
    rights = {module: {(action, to) for action, to in found if name in to} for module, found in knowing.items()}

    assert (table["KeySchema"], table["BillingMode"]) == (declared["KeySchema"], declared["BillingMode"])
    assert table["GlobalSecondaryIndexes"] == declared["GlobalSecondaryIndexes"]
    assert _by_name(table["AttributeDefinitions"]) == _by_name(declared["AttributeDefinitions"])
    assert resource["DeletionPolicy"] == "Delete"
    assert dev.variables("learn")["TEXTBOOK_TABLE"] == {"Ref": name}
    assert rights["learn"] == {
        ("dynamodb:BatchWriteItem", name), ("dynamodb:Query", f"{name}/index/{own_table.recorded()['index']}"),
    }  # fmt: skip
    assert not any(found for module, found in rights.items() if module != "learn")
    assert "Textbook" not in json.dumps(prod.template)
