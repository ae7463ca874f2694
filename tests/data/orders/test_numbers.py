"""Orders' numbers: each is one order's own, and the sequence is written once for ten of them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from shared.data import keys
from shared.data.orders.order_items import BLOCK, Numbers
from shared.dynamodb.table import Table
from shared.values import identifiers
from tests.support.wire import watched


def test_a_process_draws_ten_numbers_and_gives_them_out_one_by_one(table: Table) -> None:
    mine = Numbers()

    with watched(table) as wire:
        drawn = [mine.next(table) for _ in range(BLOCK + 1)]

    assert drawn == list(range(10_001, 10_001 + BLOCK + 1))
    assert wire.operations == {"UpdateItem": 2}
    assert table.get(keys.order_numbers()) == {**keys.order_numbers(), "Type": "Sequence", "LastNumber": 10_020}


def test_processes_that_draw_at_once_share_no_number(table: Table) -> None:
    several = [Numbers() for _ in range(4)]

    with ThreadPoolExecutor(8) as pool:
        drawn = list(pool.map(lambda place: several[place % 4].next(table), range(60)))

    assert len(set(drawn)) == 60


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("BTD-10234", 10234), ("btd-10234", 10234), (" 10234 ", 10234), ("1023", None), ("BTD10234", None), ("", None),
        ("１０２３４", None), ("BTD-1e5", None), ("9" * 13, None),
    ],
)  # fmt: skip
def test_a_number_is_read_as_people_write_it(text: str, number: int | None) -> None:
    assert identifiers.read_order_number(text) == number
    assert number is None or identifiers.order_number(number) == "BTD-10234"
