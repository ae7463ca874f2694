"""The textbook in the stack: its own table."""

from __future__ import annotations

import json

from features.textbook import lessons
from tests.infra.conftest import Synthesized, assemblies, dev, prod  # noqa: F401  # fixtures


def _by_name(definitions: object) -> list[dict[str, str]]:
    assert isinstance(definitions, list)
    return sorted(definitions, key=lambda each: str(each["AttributeName"]))


def test_the_textbook_has_a_table_of_its_own_that_one_function_knows_where_there_is_a_textbook(
    dev: Synthesized, prod: Synthesized
) -> None:
    ((name, resource),) = dev.resources("AWS::DynamoDB::Table", "Textbook").items()
    table, declared = resource["Properties"], lessons.table_request("any")

    knowing = {module: dev.allowed(module) for module in dev.modules() if module}
    rights = {module: {(action, to) for action, to in found if name in to} for module, found in knowing.items()}

    assert (table["KeySchema"], table["BillingMode"]) == (declared["KeySchema"], declared["BillingMode"])
    assert table["GlobalSecondaryIndexes"] == declared["GlobalSecondaryIndexes"]
    assert _by_name(table["AttributeDefinitions"]) == _by_name(declared["AttributeDefinitions"])
    assert resource["DeletionPolicy"] == "Delete"
    assert dev.variables("learn")["TEXTBOOK_TABLE"] == {"Ref": name}
    assert rights["learn"] == {
        ("dynamodb:BatchWriteItem", name), ("dynamodb:Query", f"{name}/index/{lessons.recorded()['index']}"),
    }  # fmt: skip
    assert not any(found for module, found in rights.items() if module != "learn")
    assert "Textbook" not in json.dumps(prod.template)
