"""Counts of the items of each type, by a Scan that ends early."""

from __future__ import annotations

import pytest

from features.workings import data as workings
from shared.data import keys
from shared.data.entities import SCRATCH_ITEM
from shared.dynamodb.table import Table
from shared.dynamodb.writes import put


@pytest.fixture
def table(bare_table: Table) -> Table:
    return bare_table


def test_items_are_counted_by_their_types_and_places(table: Table) -> None:
    for number in range(3):
        place = {"GSI1PK": "DEALS#x", "GSI1SK": f"DEAL#{number}"} if number else {}
        table.write(put({"PK": f"DEAL#{number}", "SK": "x", "Type": "Counted", **place}, because="a test's own"))

    counts = workings.count(table)

    assert (counts.counts["Counted", None], counts.counts["Counted", "GSI1"]) == (3, 2)
    assert counts.examples["Counted", "GSI1"]["PK"] in ("DEAL#1", "DEAL#2")
    assert counts.is_whole


def test_scratch_items_are_counted_as_such_whatever_they_say_that_they_are(table: Table) -> None:
    for number, type_ in enumerate([{}, {"Type": "Deal"}]):
        place = {"PK": keys.scratch("visitor-0001", str(number)), "GSI1PK": keys.scratch("visitor-0001", "x")}
        table.write(put({**place, "SK": "x", "GSI1SK": "y", **type_}, because="a test's own"))

    counts = workings.count(table).counts

    assert (counts[SCRATCH_ITEM.type, None], counts[SCRATCH_ITEM.type, "GSI1"], counts["Deal", None]) == (2, 2, 0)


def test_counting_stops_in_a_large_table_and_says_so(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workings, "MOST", 1)
    for number in range(4):
        large = {"PK": f"DEAL#{number}", "SK": "x", "Type": "Large", "Value": "x" * 390_000}
        table.write(put(large, because="a test's own"))

    counts = workings.count(table)

    assert 0 < counts.counts["Large", None] < 4
    assert not counts.is_whole
