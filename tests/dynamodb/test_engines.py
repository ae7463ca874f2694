"""Where engines depart from DynamoDB, and the table that is made on each."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from botocore.exceptions import ClientError

from shared.dynamodb.attributes import marshal_item
from shared.dynamodb.client import create_table, enable_ttl
from shared.dynamodb.table import Table
from tests.support.engines import DYNAMODB_LOCAL_ENGINE, DYNOXIDE_ENGINE, MINISTACK, MOTO, Engine

ITEM = {"PK": "X", "SK": "X", "Type": "Test", "A": 1, "B": "b"}
KEY = {"PK": "X", "SK": "X"}

Client = Any
"""A DynamoDB client; the requests here are wrong on purpose, which its stubs would not have."""


def known_to_differ(*engines: Engine) -> pytest.MarkDecorator:
    """Says of which engines it is known that they do otherwise."""
    return pytest.mark.parametrize("otherwise", [engines], ids=[""])


@pytest.fixture
def otherwise() -> tuple[Engine, ...]:
    """The engines that are known to differ: none, unless a test names some."""
    return ()


@pytest.fixture(autouse=True)
def _differs(request: pytest.FixtureRequest, engine: Engine, otherwise: Sequence[Engine]) -> None:
    if engine in otherwise:
        request.applymarker(pytest.mark.xfail(reason="known to differ from DynamoDB", strict=True))


@pytest.fixture
def client(bare_table: Table) -> Client:
    """A client that has put one item into the table."""
    bare_table.client.put_item(TableName=bare_table.name, Item=marshal_item(ITEM))
    return bare_table.client


def refused(action: Callable[..., Any], **arguments: Any) -> str:
    """The code of the error that a request meets."""
    with pytest.raises(ClientError) as error:
        action(**arguments)
    return str(error.value.response["Error"]["Code"])


WRONG_UPDATES = {
    "a comma between clauses": ({"UpdateExpression": "SET A = :n, REMOVE B"}, [MOTO, MINISTACK]),
    "a reserved name": ({"UpdateExpression": "SET Role = :n"}, []),
    "an unused name": ({"UpdateExpression": "SET A = :n", "ExpressionAttributeNames": {"#unused": "A"}}, []),
    "a path into a map that is not there": ({"UpdateExpression": "SET Periods.A = :n"}, []),
    "one path twice": ({"UpdateExpression": "SET A = :n REMOVE A"}, [MINISTACK]),
    "a number added to a text": ({"UpdateExpression": "ADD B :n"}, []),
}


@pytest.mark.parametrize(("update", "otherwise"), WRONG_UPDATES.values(), ids=WRONG_UPDATES)
def test_an_update_with_something_wrong_is_invalid(client: Client, bare_table: Table, update: dict[str, Any]) -> None:
    code = refused(
        client.update_item,
        TableName=bare_table.name,
        Key=marshal_item(KEY),
        ExpressionAttributeValues={":n": {"N": "1"}},
        **update,
    )

    assert code == "ValidationException"


@known_to_differ(MOTO)
def test_a_batch_of_more_than_25_writes_is_invalid(client: Client, bare_table: Table) -> None:
    puts = [{"PutRequest": {"Item": marshal_item({"PK": str(number), "SK": "X"})}} for number in range(26)]

    assert refused(client.batch_write_item, RequestItems={bare_table.name: puts}) == "ValidationException"


def test_a_batch_of_more_than_100_reads_is_invalid(client: Client, bare_table: Table) -> None:
    keys = [marshal_item({"PK": str(number), "SK": "X"}) for number in range(101)]

    assert refused(client.batch_get_item, RequestItems={bare_table.name: {"Keys": keys}}) == "ValidationException"


def puts(table: Table, number: int) -> list[dict[str, Any]]:
    return [{"Put": {"TableName": table.name, "Item": marshal_item({"PK": str(n), "SK": "X"})}} for n in range(number)]


def test_a_transaction_of_100_writes_goes_and_one_of_101_is_invalid(client: Client, bare_table: Table) -> None:
    client.transact_write_items(TransactItems=puts(bare_table, 100))

    assert refused(client.transact_write_items, TransactItems=puts(bare_table, 101)) == "ValidationException"


def test_a_transaction_that_writes_an_item_twice_is_invalid(client: Client, bare_table: Table) -> None:
    assert refused(client.transact_write_items, TransactItems=puts(bare_table, 1) * 2) == "ValidationException"


def test_a_cancelled_transaction_gives_a_reason_for_each_write(client: Client, bare_table: Table) -> None:
    absent = "attribute_not_exists(PK)"
    writes = [
        {"Put": {"TableName": bare_table.name, "Item": marshal_item({**ITEM, "PK": pk}), "ConditionExpression": absent}}
        for pk in ("Y", "X", "Z")
    ]

    with pytest.raises(ClientError) as error:
        client.transact_write_items(TransactItems=writes)

    reasons = error.value.response["CancellationReasons"]
    assert [reason.get("Code") for reason in reasons] == ["None", "ConditionalCheckFailed", "None"]
    assert "Item" not in client.get_item(TableName=bare_table.name, Key=marshal_item({"PK": "Y", "SK": "X"}))


def test_a_condition_is_looked_at_before_the_path_of_an_update(client: Client, bare_table: Table) -> None:
    write = {
        "TableName": bare_table.name,
        "Key": marshal_item({"PK": "absent", "SK": "absent"}),
        "UpdateExpression": "SET Periods.A = :n",
        "ConditionExpression": "attribute_exists(PK)",
        "ExpressionAttributeValues": {":n": {"N": "1"}},
    }

    with pytest.raises(ClientError) as error:
        client.transact_write_items(TransactItems=[{"Update": write}])

    assert error.value.response["CancellationReasons"][0]["Code"] == "ConditionalCheckFailed"
    assert refused(client.update_item, **write) == "ConditionalCheckFailedException"


def addition(table: Table, by: int) -> list[dict[str, Any]]:
    expression = {"UpdateExpression": "ADD A :by", "ExpressionAttributeValues": {":by": {"N": str(by)}}}
    return [{"Update": {"TableName": table.name, "Key": marshal_item(KEY), **expression}}]


@known_to_differ(MOTO)
def test_a_transaction_sent_again_with_its_token_counts_once(client: Client, bare_table: Table) -> None:
    token = uuid.uuid4().hex

    for _ in range(2):
        client.transact_write_items(TransactItems=addition(bare_table, 1), ClientRequestToken=token)

    assert bare_table.get(KEY) == {**ITEM, "A": 2}


@known_to_differ(MOTO)
def test_a_token_of_another_transaction_is_a_mismatch(client: Client, bare_table: Table) -> None:
    token = uuid.uuid4().hex
    client.transact_write_items(TransactItems=addition(bare_table, 1), ClientRequestToken=token)

    code = refused(client.transact_write_items, TransactItems=addition(bare_table, 2), ClientRequestToken=token)

    assert code == "IdempotentParameterMismatchException"


@known_to_differ(MOTO)
def test_an_insert_by_partiql_refuses_a_key_that_is_taken(client: Client, bare_table: Table) -> None:
    refusals = bare_table.insert_batch([{**ITEM, "PK": "Y"}, {**ITEM, "B": "c"}])

    assert refusals == [None, "DuplicateItem"]
    assert bare_table.get(KEY) == ITEM


# Amazon's local one takes in the item that passes the limit, and so all four.
@known_to_differ(DYNAMODB_LOCAL_ENGINE)
def test_an_answer_ends_at_1_mb(client: Client, bare_table: Table) -> None:
    for number in range(4):
        item = {"PK": "L", "SK": str(number), "Body": "x" * 300_000}
        client.put_item(TableName=bare_table.name, Item=marshal_item(item))
    partition = {"KeyConditionExpression": "PK = :pk", "ExpressionAttributeValues": {":pk": {"S": "L"}}}

    first = client.query(TableName=bare_table.name, **partition)

    assert len(first["Items"]) < 4
    assert len(list(bare_table.query("L"))) == 4


def test_an_item_of_more_than_400_kb_is_invalid(client: Client, bare_table: Table) -> None:
    too_large = marshal_item({**ITEM, "Body": "x" * 410_000})

    assert refused(client.put_item, TableName=bare_table.name, Item=too_large) == "ValidationException"


WRONG_QUERIES = {
    "the table's key on an index": ({"IndexName": "GSI1", "KeyConditionExpression": "PK = :pk"}, []),
    "a consistent read of an index": (
        {"IndexName": "GSI1", "KeyConditionExpression": "GSI1PK = :pk", "ConsistentRead": True},
        [],
    ),
    "no such index": ({"IndexName": "GSI9", "KeyConditionExpression": "GSI9PK = :pk"}, [MOTO]),
    "a reserved name": ({"KeyConditionExpression": "PK = :pk", "ProjectionExpression": "Role"}, []),
    "a limit of none": ({"KeyConditionExpression": "PK = :pk", "Limit": 0}, [MOTO]),
}


@pytest.mark.parametrize(("query", "otherwise"), WRONG_QUERIES.values(), ids=WRONG_QUERIES)
def test_a_query_with_something_wrong_is_invalid(client: Client, bare_table: Table, query: dict[str, Any]) -> None:
    values = {":pk": {"S": "X"}}

    code = refused(client.query, TableName=bare_table.name, ExpressionAttributeValues=values, **query)

    assert code == "ValidationException"


def test_half_a_key_is_invalid(client: Client, bare_table: Table) -> None:
    with pytest.raises(ClientError, match="ValidationException"):
        client.get_item(TableName=bare_table.name, Key={"PK": {"S": "X"}})


@known_to_differ(DYNOXIDE_ENGINE)
def test_the_beginning_of_a_key_has_capital_and_small_letters(bare_table: Table, client: Client) -> None:
    for name in ("Ana", "ana"):
        client.put_item(TableName=bare_table.name, Item=marshal_item({"PK": "X", "SK": name}))

    found = client.query(
        TableName=bare_table.name,
        KeyConditionExpression="PK = :x AND begins_with(SK, :a)",
        ExpressionAttributeValues=marshal_item({":x": "X", ":a": "a"}),
    )

    assert [item["SK"]["S"] for item in found["Items"]] == ["ana"]


def test_an_empty_key_of_an_index_is_invalid(client: Client, bare_table: Table) -> None:
    empty = marshal_item({**ITEM, "GSI1PK": "", "GSI1SK": "x"})

    assert refused(client.put_item, TableName=bare_table.name, Item=empty) == "ValidationException"


def body(size: int) -> dict[str, Any]:
    return marshal_item({**ITEM, "Body": "x" * size})


Arguments = Callable[[str], dict[str, Any]]

TOOK: dict[str, tuple[str, Arguments, float, list[Engine]]] = {
    "a read": ("get_item", lambda name: {"TableName": name, "Key": marshal_item(KEY)}, 1.5, [MOTO, MINISTACK]),
    "a batch of reads": (
        "batch_get_item", lambda name: {"RequestItems": {name: {"Keys": [marshal_item(KEY)]}}}, 1.5, [MOTO, MINISTACK],
    ),
    "a query": (
        "query", lambda name: {"TableName": name, "KeyConditionExpression": "PK = :pk",
                               "ExpressionAttributeValues": {":pk": {"S": "X"}}}, 1.5, [MOTO, MINISTACK],
    ),
    "a write": ("put_item", lambda name: {"TableName": name, "Item": body(9_500)}, 10.0, [MOTO]),
    "a write in a transaction": (
        "transact_write_items", lambda name: {"TransactItems": [{"Put": {"TableName": name, "Item": body(9_500)}}]},
        # DynamoDB Local doubles it twice.
        20.0, [MOTO, DYNAMODB_LOCAL_ENGINE],
    ),
}  # fmt: skip
"""By what is asked of an item of 9,000 bytes: the request, the units it takes, and the engines that say otherwise."""


@pytest.mark.parametrize(("operation", "arguments", "units", "otherwise"), TOOK.values(), ids=TOOK)
def test_an_answer_has_the_capacity_that_its_request_took(
    client: Client, bare_table: Table, operation: str, arguments: Arguments, units: float
) -> None:
    client.put_item(TableName=bare_table.name, Item=body(9_000))

    answer = getattr(client, operation)(ReturnConsumedCapacity="TOTAL", **arguments(bare_table.name))

    consumed = answer["ConsumedCapacity"]
    assert [each["CapacityUnits"] for each in (consumed if isinstance(consumed, list) else [consumed])] == [units]


@known_to_differ(MOTO)
def test_a_write_in_a_transaction_takes_capacity_of_its_index_too(client: Client, bare_table: Table) -> None:
    item = body(2_500) | marshal_item({"GSI1PK": "G", "GSI1SK": "G"})
    put = {"Put": {"TableName": bare_table.name, "Item": item}}

    answer = client.transact_write_items(TransactItems=[put], ReturnConsumedCapacity="TOTAL")

    assert [taken["CapacityUnits"] > 6.0 for taken in answer["ConsumedCapacity"]] == [True]


@pytest.mark.parametrize("segments", [1, 3, 8])
def test_the_segments_of_a_scan_hold_each_item_once(bare_table: Table, client: Client, segments: int) -> None:
    for number in range(30):
        client.put_item(TableName=bare_table.name, Item=marshal_item({**ITEM, "PK": str(number)}))

    found = [
        item["PK"] for segment in range(segments) for item in bare_table.scan(segment=segment, segments=segments)[0]
    ]

    assert sorted(found) == sorted([*map(str, range(30)), "X"])


@known_to_differ(DYNOXIDE_ENGINE)
def test_a_segment_of_a_scan_goes_on_from_an_item_that_is_gone(bare_table: Table, client: Client) -> None:
    for number in range(9):
        client.put_item(TableName=bare_table.name, Item=marshal_item({**ITEM, "PK": str(number)}))
    found, last = bare_table.scan(segment=0, segments=1, limit=4)
    client.delete_item(TableName=bare_table.name, Key=dict(last or {}))

    rest, _ = bare_table.scan(segment=0, segments=1, start=last)

    assert len(found) + len(rest) == 10


@pytest.fixture
def provisioned(engine: Engine) -> Iterator[Table]:
    """A table made as the laptop's is, on every engine."""
    with replace(engine, create=create_table).bare_table() as table:
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
    again = enable_ttl(provisioned.client, provisioned.name)

    ttl = provisioned.client.describe_time_to_live(TableName=provisioned.name)["TimeToLiveDescription"]
    assert again is False
    assert ttl["AttributeName"] == "ExpiresAt"
    assert ttl["TimeToLiveStatus"] in ("ENABLED", "ENABLING")
