"""Requests that are made once, whatever they make."""

from __future__ import annotations

import pytest

from shared.data import keys
from shared.data.idempotency import Idempotency, earlier_result, once
from shared.dynamodb.table import Table
from shared.dynamodb.writes import put_new
from shared.errors import AlreadyExists
from tests.support.factories import NOW

ASKED = Idempotency("ed", "5f2c", {"title": "Trail runner"})


def test_a_repeated_request_gets_the_first_ones_result_and_writes_nothing(table: Table) -> None:
    item = {**keys.session("one"), "Type": "Session"}
    again = {**keys.session("two"), "Type": "Session"}

    first = once(table, ASKED, "one", NOW, [put_new(item, refused=AlreadyExists())])
    second = once(table, ASKED, "two", NOW, [put_new(again, refused=AlreadyExists())])

    assert (first, second) == (None, "one")
    assert earlier_result(table, ASKED, NOW) == "one"
    assert table.get(keys.session("two")) is None


def test_a_request_that_is_refused_leaves_no_receipt(table: Table) -> None:
    item = {**keys.session("one"), "Type": "Session"}
    table.write(put_new(item, refused=AlreadyExists()))

    with pytest.raises(AlreadyExists):
        once(table, ASKED, "one", NOW, [put_new(item, refused=AlreadyExists())])

    assert earlier_result(table, ASKED, NOW) is None
