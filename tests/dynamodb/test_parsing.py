"""The plain parser against botocore's own: every operation in use is answered alike."""

from __future__ import annotations

import base64
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from shared.dynamodb.attributes import marshal_item, unmarshal_item
from shared.dynamodb.table import Table
from tests.support.engines import FAKE_CREDENTIALS, MINISTACK, on

pytestmark = on(MINISTACK)

ITEM = {
    "PK": "A",
    "SK": "A",
    "Type": "Everything",
    "Text": 'naïve 鞋 " \\ \n',
    "Number": 12345678901234567890,
    "Flag": True,
    "Bytes": b"\x00\xff" * 40,
    "Map": {"inner": {"deep": [1, "two", False]}},
    "List": [],
    "Set": {"a", "b"},
}
KEY = marshal_item({"PK": "A", "SK": "A"})
ABSENT = marshal_item({"PK": "B", "SK": "B"})

Answer = dict[str, Any]
Client = Any


@pytest.fixture
def theirs(bare_table: Table) -> Client:
    """boto3's own client, as it comes."""
    return boto3.session.Session().client(
        "dynamodb",
        endpoint_url=bare_table.client.meta.endpoint_url,
        region_name=FAKE_CREDENTIALS["region_name"],
        aws_access_key_id=FAKE_CREDENTIALS["aws_access_key_id"],
        aws_secret_access_key=FAKE_CREDENTIALS["aws_secret_access_key"],
    )


def requests(name: str) -> list[tuple[str, Answer]]:
    """A request of each operation that the data layer uses, and of what it may be answered."""
    where = {"TableName": name}
    partition = {"KeyConditionExpression": "PK = :pk", "ExpressionAttributeValues": {":pk": {"S": "A"}}}
    inserts = [f"INSERT INTO \"{name}\" VALUE {{'PK': '{pk}', 'SK': '{pk}'}}" for pk in "CA"]
    return [
        ("put_item", {**where, "Item": marshal_item(ITEM), "ReturnValues": "ALL_OLD"}),
        ("get_item", {**where, "Key": KEY, "ReturnConsumedCapacity": "INDEXES"}),
        ("get_item", {**where, "Key": ABSENT}),
        ("batch_get_item", {"RequestItems": {name: {"Keys": [KEY, ABSENT]}}, "ReturnConsumedCapacity": "TOTAL"}),
        ("query", {**where, **partition, "Limit": 1, "ReturnConsumedCapacity": "INDEXES"}),
        ("query", {**where, **partition, "Select": "COUNT"}),
        ("scan", {**where, "Segment": 0, "TotalSegments": 1, "Limit": 1}),
        (
            "update_item",
            {
                **where,
                "Key": KEY,
                "UpdateExpression": "SET Seen = :yes",
                "ExpressionAttributeValues": {":yes": {"BOOL": True}},
                "ReturnValues": "ALL_NEW",
            },
        ),
        ("transact_write_items", {"TransactItems": [{"Delete": {**where, "Key": ABSENT}}]}),
        ("batch_execute_statement", {"Statements": [{"Statement": insert} for insert in inserts]}),
        ("delete_item", {**where, "Key": KEY, "ReturnValues": "ALL_OLD"}),
        ("describe_time_to_live", where),
        ("describe_table", where),
    ]


REFUSED = [
    ("put_item", {"Item": KEY, "ConditionExpression": "attribute_exists(PK)"}),
    ("update_item", {"Key": KEY, "UpdateExpression": "SET Seen = :missing"}),
    ("get_item", {"TableName": "there-is-no-such-table", "Key": KEY}),
]


def said(client: Client, operation: str, request: Answer) -> Answer:
    """An answer without its time and its server."""
    answer: Answer = getattr(client, operation)(**request)
    metadata = answer.pop("ResponseMetadata")
    return {**answer, "status": metadata["HTTPStatusCode"]}


def test_all_operations_are_answered_alike(bare_table: Table, theirs: Client) -> None:
    for operation, request in requests(bare_table.name):
        ours = without_rich_types(said(bare_table.client, operation, request))
        restore(bare_table, operation)

        assert ours == without_rich_types(said(theirs, operation, request)), operation


def restore(table: Table, operation: str) -> None:
    """Undo a write, so that it can be made once more to the same effect."""
    if operation == "put_item":
        table.client.delete_item(TableName=table.name, Key=KEY)
    elif operation == "batch_execute_statement":
        table.client.delete_item(TableName=table.name, Key=marshal_item({"PK": "C", "SK": "C"}))
    elif operation == "delete_item":
        table.client.put_item(TableName=table.name, Item=marshal_item({**ITEM, "Seen": True}))


def without_rich_types(value: Any) -> Any:
    """An answer whose bytes are base64 and whose times are left out: the two ways in which the parsers differ.

    Our data layer reads no times from DynamoDB's own answers, and unmarshals bytes from either form.
    """
    match value:
        case dict():
            return {name: without_rich_types(each) for name, each in value.items() if not name.endswith("DateTime")}
        case list():
            return [without_rich_types(each) for each in value]
        case bytes():
            return base64.b64encode(value).decode()
    return value


def test_items_are_unmarshalled_alike(bare_table: Table, theirs: Client) -> None:
    bare_table.client.put_item(TableName=bare_table.name, Item=marshal_item(ITEM))

    answers = [client.get_item(TableName=bare_table.name, Key=KEY)["Item"] for client in (bare_table.client, theirs)]

    assert [type(answer["Bytes"]["B"]) for answer in answers] == [str, bytes]
    assert [unmarshal_item(answer) for answer in answers] == [ITEM, ITEM]


@pytest.mark.parametrize(("operation", "request_"), REFUSED, ids=["condition", "mistake", "no table"])
def test_refusals_are_told_alike(bare_table: Table, theirs: Client, operation: str, request_: Answer) -> None:
    errors = []
    for client in (bare_table.client, theirs):
        with pytest.raises(ClientError) as caught:
            getattr(client, operation)(**{"TableName": bare_table.name, **request_})
        errors.append(caught.value)

    ours, own = errors
    assert type(ours).__name__ == type(own).__name__
    assert ours.response["Error"] == own.response["Error"]


def test_the_reasons_of_a_cancelled_transaction_are_told_alike(bare_table: Table, theirs: Client) -> None:
    where = {"TableName": bare_table.name}
    writes: list[Any] = [
        {"Put": {**where, "Item": ABSENT}},
        {"Put": {**where, "Item": KEY, "ConditionExpression": "attribute_exists(PK)"}},
    ]
    reasons = []
    for client in (bare_table.client, theirs):
        with pytest.raises(ClientError) as caught:
            client.transact_write_items(TransactItems=writes)
        reasons.append([reason.get("Code") for reason in caught.value.response["CancellationReasons"]])

    assert reasons == [["None", "ConditionalCheckFailed"]] * 2


def test_every_operation_of_the_data_layer_is_held_against_botocores(bare_table: Table) -> None:
    in_use = {
        "put_item", "get_item", "batch_get_item", "query", "scan", "update_item", "delete_item", "transact_write_items",
        "batch_execute_statement", "describe_table", "describe_time_to_live",
    }  # fmt: skip

    assert {operation for operation, _ in requests(bare_table.name)} == in_use
