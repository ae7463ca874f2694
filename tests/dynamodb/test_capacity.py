"""What requests take, and how they are traced."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError

from shared.dynamodb.attributes import Item, marshal_item
from shared.dynamodb.capacity import Basis, Capacity, meanings, size_of, taken, units_read, units_written
from shared.dynamodb.table import Projection, Table
from shared.dynamodb.tracing import Trace
from shared.dynamodb.writes import put, put_new
from shared.errors import AlreadyExists
from tests.support.engines import DYNOXIDE_ENGINE, FAST, MINISTACK, Engine, on
from tests.support.wire import hooked

KB = 1024
KEY = {"PK": "A", "SK": "1"}


def sized(size: int) -> dict[str, Any]:
    """An item of so many bytes, as DynamoDB sends it."""
    return {"Body": {"S": "x" * (size - 4)}}


@pytest.mark.parametrize(
    ("size", "units"), [(int(3.5 * KB), 1), (10 * KB, 3), (int(40.8 * KB), 11), (1500 * 64, 24), (8 * KB, 2), (0, 1)]
)
def test_a_read_takes_a_unit_for_each_4_kb_half_or_double(size: int, units: int) -> None:
    assert units_read(size, consistent=True) == units
    assert units_read(size) == units / 2
    assert units_read(size, transactional=True) == units * 2


def test_items_of_a_batch_are_rounded_up_one_by_one_and_those_of_a_query_together() -> None:
    items = [sized(int(1.5 * KB)), sized(int(6.5 * KB))]
    batch = {"RequestItems": {"deals": {"Keys": [{}, {}], "ConsistentRead": True}}}

    of_batch = taken("BatchGetItem", batch, {"Responses": {"deals": items}}, "http://127.0.0.1")
    of_query = taken("Query", {"ConsistentRead": True}, {"Items": items}, "http://127.0.0.1")

    assert of_batch == {"table": Capacity(3.0, basis=Basis.COUNTED)}
    assert of_query == {"table": Capacity(2.0, basis=Basis.COUNTED)}


@pytest.mark.parametrize(("size", "units"), [(500, 1), (int(3.5 * KB), 4), (1024, 1), (1025, 2)])
def test_a_write_takes_a_unit_for_each_1_kb_double_in_a_transaction(size: int, units: int) -> None:
    assert units_written(None, sized(size)) == {"table": units}
    assert units_written(sized(size), None) == {"table": units}
    assert units_written(sized(size), sized(10)) == {"table": units}
    assert units_written(None, sized(size), transactional=True) == {"table": 2 * units}


OLD = {"GSI1PK": "a", "GSI1SK": "1", "Body": "x" * 1500}


@pytest.mark.parametrize(
    ("before", "after", "units"),
    [
        (None, OLD, 2),
        (OLD, OLD, 0),
        (OLD, OLD | {"Body": "y"}, 2),
        (OLD, OLD | {"GSI1SK": "2"}, 4),
        (OLD, OLD | {"GSI1SK": "2", "Body": "y"}, 3),
        (OLD, {"Body": "y"}, 2),
        (OLD, None, 2),
        ({"Body": "x"}, {"Body": "y"}, 0),
        ({"GSI1PK": "a"}, {"GSI1PK": "b"}, 0),
    ],
    ids=["appears", "stays", "changes", "moves", "moves and shrinks", "leaves", "goes", "is in none", "half a key"],
)
def test_an_index_takes_a_write_for_what_changes_in_it_and_two_for_what_moves(
    before: dict[str, Any] | None, after: dict[str, Any] | None, units: int
) -> None:
    images = (marshal_item(KEY | image) if image is not None else None for image in (before, after))

    assert units_written(*images).get("GSI1", 0) == units


VALUES: list[dict[str, Any]] = [
    *({"S": text} for text in ("", "ab", "é€")),
    *({"N": number} for number in ("0", "1", "-1", "12", "123", "-12345", "0.05", "10.5", "12300", "1e10")),
    *({"N": number} for number in ("1203", "12345678901234567890123456789012345678")),
    {"B": b"abc"}, {"BOOL": True}, {"NULL": True}, {"L": []}, {"M": {}},
    {"L": [{"S": "a"}, {"M": {"x": {"N": "1"}, "yy": {"L": [{"B": b"abcd"}]}}}]},
    {"SS": ["a", "bb"]}, {"NS": ["1", "22"]}, {"BS": [b"a", b"bb"]},
]  # fmt: skip


@on(DYNOXIDE_ENGINE)
@pytest.mark.parametrize("value", VALUES, ids=str)
def test_an_items_size_is_the_engines_to_the_byte(bare_table: Table, value: dict[str, Any]) -> None:
    item = marshal_item(KEY) | {"Value": value, "Pad": {"S": ""}}
    room = KB - size_of(item)
    told = []

    for pad in (room, room + 1):
        item["Pad"] = {"S": "x" * pad}
        answer = bare_table.client.put_item(TableName=bare_table.name, Item=item, ReturnConsumedCapacity="TOTAL")
        told.append(answer["ConsumedCapacity"]["CapacityUnits"])
        bare_table.client.delete_item(TableName=bare_table.name, Key=marshal_item(KEY))

    assert told == [1.0, 2.0]


@pytest.fixture
def trace(bare_table: Table) -> Iterator[Trace]:
    """A trace of the table's requests from now on."""
    trace = Trace().attach(bare_table)
    yield trace
    trace.detach(bare_table)


def fill(table: Table) -> None:
    """Twenty items of 1.5 KB in one partition, each in an index, too."""
    for number in range(20):
        item = KEY | {"SK": f"{number:02}", "GSI1PK": "G", "GSI1SK": f"{number:02}", "Body": "x" * 1500}
        table.write(put(item, because="a test"))


READS: dict[str, tuple[Callable[[Table], object], float]] = {
    "a Query": (lambda table: list(table.query("A")), 4.0),
    "a consistent Query": (lambda table: list(table.query("A", consistent=True)), 8.0),
    "a Query of nothing": (lambda table: list(table.query("B")), 0.5),
    "a Scan": (lambda table: table.scan(), 4.0),
    "a BatchGetItem": (lambda table: table.get_many([KEY | {"SK": f"{n:02}"} for n in range(25)]), 12.5),
    "a GetItem of nothing": (lambda table: table.get(KEY, consistent=True), 1.0),
}  # fmt: skip


@on(MINISTACK, DYNOXIDE_ENGINE)
def test_a_trace_says_the_same_where_the_answer_has_it_and_where_it_is_counted(
    bare_table: Table, trace: Trace, engine: Engine
) -> None:
    fill(bare_table)
    trace.start_over()
    basis = Basis.COUNTED if engine is MINISTACK else Basis.TOLD

    for read, _ in READS.values():
        read(bare_table)

    assert [request.capacity for request in trace.requests] == [
        Capacity(units, basis=basis) for _, units in READS.values()
    ]


@on(MINISTACK, DYNOXIDE_ENGINE)
def test_a_transaction_and_inserts_are_counted_with_their_indexes(bare_table: Table, trace: Trace) -> None:
    item = KEY | {"GSI1PK": "G", "GSI1SK": "1", "Body": "x" * 1500}

    bare_table.transact(put_new(item, refused=AlreadyExists()))
    bare_table.insert_batch([item | {"SK": "2"}, item | {"SK": "3"}])

    transaction, inserts = trace.requests
    assert {name: units.write for name, units in transaction.by_index.items()} == {"table": 4.0, "GSI1": 2.0}
    assert {name: units.write for name, units in inserts.by_index.items()} == {"table": 4.0, "GSI1": 4.0}


@on(MINISTACK)
def test_where_a_projection_hides_an_item_the_count_says_at_least(bare_table: Table, trace: Trace) -> None:
    fill(bare_table)
    trace.start_over()

    list(bare_table.query("A", projection=Projection.of("SK")))

    bare_table.get(KEY)

    assert [str(request.capacity) for request in trace.requests] == ["≥0.5 RRU", "~0.5 RRU"]
    assert str(trace.capacity) == "≥1 RRU"
    assert [sentence[0] for sentence in meanings(request.capacity for request in trace.requests)] == ["~", "≥"]


def test_amazons_own_figure_is_believed() -> None:
    answer = {"Items": [sized(9000)], "ConsumedCapacity": {"CapacityUnits": 1.0, "Table": {"CapacityUnits": 1.0}}}

    assert taken("Query", {}, answer, "https://dynamodb.eu-central-1.amazonaws.com") == {"table": Capacity(1.0)}
    assert taken("Query", {}, answer, "http://localhost:4566") == {"table": Capacity(1.5, basis=Basis.COUNTED)}


def test_a_million_cost_what_the_price_list_says() -> None:
    assert Capacity(read=8.0).dollars == pytest.approx(1.00)
    assert Capacity(write=6.0).dollars == pytest.approx(3.75)


def test_a_refused_condition_is_charged_and_an_invalid_request_is_not(bare_table: Table, trace: Trace) -> None:
    bare_table.write(put_new(KEY, refused=AlreadyExists()))
    trace.start_over()

    with pytest.raises(AlreadyExists):
        bare_table.write(put_new(KEY, refused=AlreadyExists()))
    with pytest.raises(AlreadyExists):
        bare_table.transact(put_new(KEY, refused=AlreadyExists()), put_new(KEY | {"SK": "2"}, refused=AlreadyExists()))
    with pytest.raises(ClientError):
        bare_table.client.update_item(TableName=bare_table.name, Key=marshal_item(KEY), UpdateExpression="FORGET Body")

    assert [str(request.capacity) for request in trace.requests] == ["≥1 WRU", "≥4 WRU", "0"]


ITEM: Item = {"PK": "ITEM", "SK": "ITEM", "Type": "Deal"}


@on(FAST)
@pytest.mark.parametrize("others", [0, 1, 2])
def test_each_of_several_traces_counts_a_request_once(bare_table: Table, others: int) -> None:
    for _ in range(others):
        Trace(detailed=False).attach(bare_table)
    trace = Trace().attach(bare_table)

    bare_table.write(put(ITEM, because="a test"))
    Trace().attach(bare_table)
    bare_table.get({"PK": "ITEM", "SK": "ITEM"}, consistent=True)

    assert (trace.count, trace.capacity) == (2, Capacity(read=1.0, write=1.0))
    assert [request.capacity for request in trace.requests] == [Capacity(write=1.0), Capacity(read=1.0)]


@on(FAST)
def test_a_batch_of_inserts_consumes_write_units(bare_table: Table) -> None:
    trace = Trace().attach(bare_table)

    bare_table.insert_batch([ITEM, {**ITEM, "PK": "OTHER"}])

    assert trace.capacity == Capacity(write=2.0)


@on(FAST)
def test_a_statement_without_parameters_is_answered_while_requests_are_traced(bare_table: Table) -> None:
    bare_table.insert_batch([ITEM])
    trace = Trace().attach(bare_table)

    statement = f"SELECT * FROM \"{bare_table.name}\" WHERE PK = 'ITEM' AND SK = 'ITEM'"
    answer = bare_table.client.batch_execute_statement(Statements=[{"Statement": statement}])
    trace.detach(bare_table)

    assert [each["Item"]["PK"] for each in answer["Responses"]] == [{"S": "ITEM"}]


@on(FAST)
def test_a_request_without_an_answer_says_what_became_of_it(bare_table: Table) -> None:
    trace = Trace().attach(bare_table)

    def fail(**_: Any) -> None:
        raise ReadTimeoutError(endpoint_url="http://127.0.0.1")

    with hooked(bare_table, "before-send.dynamodb.GetItem", fail), pytest.raises(ReadTimeoutError):
        bare_table.client.get_item(TableName=bare_table.name, Key={"PK": {"S": "A"}, "SK": {"S": "A"}})
    trace.detach(bare_table)

    assert [(request.refused, request.capacity) for request in trace.requests] == [("ReadTimeoutError", None)]
    assert trace.requests[0].seconds > 0
