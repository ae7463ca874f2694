"""Traces: requests and their capacity, counted once by each that watches."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ReadTimeoutError

from shared.dynamodb.attributes import Item
from shared.dynamodb.capacity import Capacity
from shared.dynamodb.table import Table
from shared.dynamodb.tracing import Trace
from shared.dynamodb.writes import put
from tests.support.engines import FAST, on
from tests.support.wire import hooked

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
def test_a_request_without_an_answer_says_what_became_of_it(bare_table: Table) -> None:
    trace = Trace().attach(bare_table)

    def fail(**_: Any) -> None:
        raise ReadTimeoutError(endpoint_url="http://127.0.0.1")

    with hooked(bare_table, "before-send.dynamodb.GetItem", fail), pytest.raises(ReadTimeoutError):
        bare_table.client.get_item(TableName=bare_table.name, Key={"PK": {"S": "A"}, "SK": {"S": "A"}})
    trace.detach(bare_table)

    assert [(request.refused, request.capacity) for request in trace.requests] == [("ReadTimeoutError", None)]
    assert trace.requests[0].seconds > 0
