"""Items to and from objects, and answers to and from bytes."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import UTC, datetime
from enum import StrEnum
from types import UnionType
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

import pytest
from botocore.exceptions import ClientError
from botocore.parsers import ResponseParserFactory

from shared.dynamodb.attributes import Codec, Entity, marshal_item, unmarshal_item
from shared.dynamodb.table import Table
from shared.models import catalog, members
from shared.values.stored import Attribute, Extended, attribute_of, stored
from tests.support.cases import cases
from tests.support.engines import MINISTACK, on
from tests.support.wire import hooked

MODELS = [
    model
    for module in (catalog, members, *cases("MODELS"))
    for model in vars(module).values()
    if is_dataclass(model) and isinstance(model, type) and model.__module__ == module.__name__
]


class Care(StrEnum):
    FRAGILE = "fragile"
    STURDY = "sturdy"


@dataclass(frozen=True, slots=True)
class Parcel:
    parcel_id: str = field(metadata=stored("ParcelId"))
    sent_at: datetime = field(metadata=stored("SentAt", datetime))
    weight: int = field(default=1, metadata=stored("Weight", int))
    care: Care | None = field(default=None, metadata=stored("Care", Care))
    note: str | None = field(default=None, metadata=stored("Note", listed=False, copied=False))
    size: tuple[int, ...] = field(default=(), metadata=stored("Size", tuple))
    tags: tuple[str, ...] = ()


PARCEL = Entity(Parcel, forms={"size": Codec(list, tuple)}, apart=frozenset({"tags"}))
SENT = datetime(2026, 6, 4, 20, 28, 53, tzinfo=UTC)


def test_what_is_written_is_read_again() -> None:
    parcel = Parcel("p1", SENT, 3, Care.FRAGILE, "a vase", (2, 3), tags=("red",))

    item = PARCEL.write(parcel)

    assert item == {
        "ParcelId": "p1",
        "SentAt": "2026-06-04T20:28:53Z",
        "Weight": 3,
        "Care": "fragile",
        "Note": "a vase",
        "Size": [2, 3],
    }
    assert PARCEL.read(item, tags=("red",)) == parcel


def test_what_an_item_does_not_hold_is_the_fields_default() -> None:
    parcel = PARCEL.read({"ParcelId": "p1", "SentAt": "2026-06-04T20:28:53Z"})

    assert parcel == Parcel("p1", SENT)


@pytest.mark.parametrize("missing", ["ParcelId", "SentAt"])
def test_an_item_without_a_required_attribute_is_none(missing: str) -> None:
    item = PARCEL.write(Parcel("p1", SENT))
    del item[missing]

    with pytest.raises(KeyError):
        PARCEL.read(item)


def test_lists_and_copies_leave_out_what_its_row_says() -> None:
    assert PARCEL.listed == ("ParcelId", "SentAt", "Weight", "Care", "Size")
    assert "Note" not in PARCEL.copy(Parcel("p1", SENT, note="fragile"))


def test_a_field_that_is_neither_stored_nor_apart_is_an_error_at_once() -> None:
    with pytest.raises(TypeError, match="each field of Parcel"):
        Entity(Parcel, forms={"size": Codec(list, tuple)})


@dataclass(frozen=True, slots=True)
class Insurance:
    insurer: str | None = field(default=None, metadata=stored("Insurer"))
    excess: int | None = field(default=None, metadata=stored("Excess", int, personal=True))


@dataclass(frozen=True, slots=True)
class Letter(Extended):
    letter_id: str = field(metadata=stored("LetterId"))
    more: Mapping[type, object] = field(default_factory=dict, hash=False)


LETTER = Entity(
    Letter, apart=frozenset({"more"}), more=(Attribute("Care", Care, listed=False, copied=False), Insurance)
)


def test_values_of_features_are_found_by_their_types_and_stored_beside_the_others() -> None:
    letter = Letter("l1", {Care: Care.FRAGILE, Insurance: Insurance("Lloyd's", 20)})

    item = LETTER.write(letter)
    read = LETTER.read(item)

    assert item == {"LetterId": "l1", "Care": "fragile", "Insurer": "Lloyd's", "Excess": 20}
    assert (read, read.own(Care), read.own(Insurance)) == (letter, Care.FRAGILE, Insurance("Lloyd's", 20))
    assert LETTER.read({"LetterId": "l1"}).own(Care) is None
    assert LETTER.listed == ("LetterId", "Insurer", "Excess")
    assert LETTER.copy(letter).keys() == {"LetterId", "Insurer", "Excess"}


def test_an_item_without_features_has_no_values_of_theirs() -> None:
    alone = Entity(Letter, apart=frozenset({"more"}))

    assert alone.read({"LetterId": "l1", "Care": "fragile"}) == Letter("l1")
    assert alone.salvage({"LetterId": "l1"}) == ({"letter_id": "l1", "more": {}}, set())


def test_a_damaged_value_of_a_feature_is_left_out_of_what_can_be_read() -> None:
    left, lost = LETTER.salvage({"LetterId": "l1", "Care": "none", "Insurer": "Lloyd's"})

    assert (left["more"], lost) == ({Insurance: Insurance("Lloyd's")}, set())


@pytest.mark.parametrize(
    ("more", "said"),
    [((Attribute("Care", str),), "a type of its own"), ((Attribute("LetterId", Care),), "the same attribute")],
)
def test_a_value_of_a_feature_without_its_own_type_or_attribute_is_an_error_at_once(more: Any, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        Entity(Letter, apart=frozenset({"more"}), more=more)


@pytest.mark.parametrize("model", MODELS)
def test_the_kind_of_an_attribute_is_the_type_of_its_field(model: type) -> None:
    hints = get_type_hints(model)
    stored_fields = [(each, attribute) for each in fields(model) if (attribute := attribute_of(each))]

    for each, attribute in stored_fields:
        kinds = {_plain(hint) for hint in _either(hints[each.name])} - {type(None)}
        assert kinds == {attribute.kind}, each.name


def _either(hint: Any) -> Iterator[Any]:
    """The types that a union is of; a type is a union of one."""
    if get_origin(hint) in (Union, UnionType):
        for part in get_args(hint):
            yield from _either(part)
    else:
        yield hint


def _plain(hint: Any) -> Any:
    """The class of a type's values: of a Literal's, that is str."""
    return str if get_origin(hint) is Literal else get_origin(hint) or hint


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


def read_by_both(table: Table, operation: str, request: Answer) -> tuple[Answer, Answer]:
    """One answer as our parser reads it, and as botocore's own does, each with its status for its metadata."""
    told: list[Any] = []
    with hooked(table, "before-parse.dynamodb", lambda **answer: told.append(answer)):
        try:
            ours = getattr(table.client, operation)(**request)
        except ClientError as error:
            ours = cast("Answer", error.response)
    ((raw, model),) = [(each["response_dict"], each["operation_model"]) for each in told]
    own = ResponseParserFactory().create_parser("json")
    theirs = own.parse(raw, model.output_shape)
    if "Error" in theirs:
        shape = model.service_model.shape_for_error_code(theirs["Error"]["Code"])
        theirs |= own.parse(raw, shape) if shape else {}
    for each in (ours, theirs):
        each["ResponseMetadata"] = each["ResponseMetadata"]["HTTPStatusCode"]
    return ours, theirs


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


@on(MINISTACK)
def test_all_operations_are_answered_alike(bare_table: Table) -> None:
    for operation, request in requests(bare_table.name):
        ours, theirs = read_by_both(bare_table, operation, request)

        assert without_rich_types(ours) == without_rich_types(theirs), operation


@on(MINISTACK)
def test_what_either_parser_reads_is_unmarshalled_alike(bare_table: Table) -> None:
    bare_table.client.put_item(TableName=bare_table.name, Item=marshal_item(ITEM))

    answers = read_by_both(bare_table, "get_item", {"TableName": bare_table.name, "Key": KEY})

    assert [type(answer["Item"]["Bytes"]["B"]) for answer in answers] == [str, bytes]
    assert [unmarshal_item(answer["Item"]) for answer in answers] == [ITEM, ITEM]


REFUSED = {
    "condition": ("put_item", {"Item": KEY, "ConditionExpression": "attribute_exists(PK)"}),
    "mistake": ("update_item", {"Key": KEY, "UpdateExpression": "SET Seen = :missing"}),
    "no table": ("get_item", {"TableName": "there-is-no-such-table", "Key": KEY}),
}


@on(MINISTACK)
@pytest.mark.parametrize(("operation", "request_"), REFUSED.values(), ids=REFUSED)
def test_refusals_have_the_same_shape(bare_table: Table, operation: str, request_: Answer) -> None:
    ours, theirs = read_by_both(bare_table, operation, {"TableName": bare_table.name, **request_})

    assert (ours["Error"], ours["ResponseMetadata"]) == (theirs["Error"], 400)


@on(MINISTACK)
def test_the_reasons_of_a_cancelled_transaction_have_the_same_shape(bare_table: Table) -> None:
    where = {"TableName": bare_table.name}
    writes: list[Any] = [
        {"Put": {**where, "Item": ABSENT}},
        {"Put": {**where, "Item": KEY, "ConditionExpression": "attribute_exists(PK)"}},
    ]

    answers = read_by_both(bare_table, "transact_write_items", {"TransactItems": writes})

    reasons = [[reason.get("Code") for reason in answer["CancellationReasons"]] for answer in answers]
    assert reasons == [["None", "ConditionalCheckFailed"]] * 2


@on(MINISTACK)
def test_every_operation_of_the_data_layer_is_held_against_botocores(bare_table: Table) -> None:
    in_use = {
        "put_item", "get_item", "batch_get_item", "query", "scan", "update_item", "delete_item", "transact_write_items",
        "batch_execute_statement", "describe_table", "describe_time_to_live",
    }  # fmt: skip

    assert {operation for operation, _ in requests(bare_table.name)} == in_use
