"""``docs/nosql-workbench.json`` is what the schema, the keys and the sample make, and what Workbench can load."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

import pytest

from shared.data.entities import ROWS
from shared.dynamodb.schema import INDEXES, PARTITION_KEY, SORT_KEY
from tests.support.cases import cases
from tools import documents, workbench

Json = dict[str, Any]


@pytest.fixture(scope="module")
def model() -> Json:
    written: Json = json.loads(workbench.PATH.read_text(encoding="utf-8"))
    return written


@pytest.fixture(scope="module")
def table(model: Json) -> Json:
    (table,) = model["DataModel"]
    return dict(table)


def test_the_written_model_is_what_the_code_writes(model: Json) -> None:
    assert model == workbench.document(), "python -m tools.workbench writes it again"


def test_the_model_has_the_parts_that_workbench_reads(model: Json, table: Json) -> None:
    assert model.keys() == {"ModelName", "ModelMetadata", "DataModel"}
    assert (model["ModelMetadata"]["AWSService"], model["ModelMetadata"]["Version"]) == ("Amazon DynamoDB", "3.0")
    parts = {"TableName", "KeyAttributes", "NonKeyAttributes", "TableFacets", "GlobalSecondaryIndexes"}
    assert table.keys() == parts | {"DataAccess", "BillingMode"}
    assert [index["IndexName"] for index in table["GlobalSecondaryIndexes"]] == [index.name for index in INDEXES]


def test_a_facet_shows_each_entity_with_the_forms_of_its_keys(table: Json) -> None:
    facets = {facet["FacetName"]: facet["KeyAttributeAlias"] for facet in table["TableFacets"]}

    assert facets.keys() == {entity.type for entity in ROWS}
    assert facets["BrandWatch"] == {"PartitionKeyAlias": "BRANDWATCH#<Brand>", "SortKeyAlias": "USER#<Username>"}
    assert "SEQUENCE#DEAL" in facets["Sequence"]["PartitionKeyAlias"].split(" or ")


def test_every_attribute_has_one_type_which_the_table_declares(table: Json) -> None:
    """Workbench cannot load an attribute that is a map in one item and a number in another."""
    declared = {each["AttributeName"]: each["AttributeType"] for each in table["NonKeyAttributes"]}
    types: dict[str, set[str]] = defaultdict(set)
    for facet in table["TableFacets"]:
        for item in facet["TableData"]:
            assert item[PARTITION_KEY].keys() == item[SORT_KEY].keys() == {"S"}
            assert item["Type"] == {"S": facet["FacetName"]}
            assert item.keys() - {PARTITION_KEY, SORT_KEY} <= set(facet["NonKeyAttributes"])
            for name in item.keys() - {PARTITION_KEY, SORT_KEY}:
                types[name] |= item[name].keys()

    assert types == {name: {kind} for name, kind in declared.items()}


def test_the_sample_has_items_of_each_type_and_more_of_what_there_is_more_of(table: Json) -> None:
    items = {facet["FacetName"]: facet["TableData"] for facet in table["TableFacets"]}
    counts = {name: len(found) for name, found in items.items()}

    # These come only of an account that is removed; of a key of idempotency only if a feature sends one.
    missing = {name for name, count in counts.items() if not count}
    assert missing - {"Idempotency"} == {"Removal", *cases("NOT_IN_SAMPLE")}
    assert counts["Word"] > counts["Deal"] > counts["Brand"] > counts["User"] > counts["FrontPage"]
    assert counts["Message"] > counts["Brand"]


def test_the_description_lists_all_access_patterns(model: Json) -> None:
    lines = model["ModelMetadata"]["Description"].splitlines()

    assert "12. One deal (table: DEAL#‹DealId›, by number first DEALNUMBER#‹Number›)" in lines
    listed = lines[lines.index("The access patterns:") + 1 :]
    assert [line.split(". ")[0] for line in listed] == [*map(str, documents.pattern_rows())]
