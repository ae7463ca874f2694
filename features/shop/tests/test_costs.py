"""What orders cost, as README says; and how fast a rush sells."""

from __future__ import annotations

import pytest

from features.shop import benchmarks as rush
from features.shop.data import addresses
from features.shop.models import Address
from features.shop.tests.support import a_buyer, buy, on_sale
from shared.data.members import follows
from shared.dynamodb.table import Table
from shared.values.naming import counted
from shared.values.prices import MILLION
from tests.data.test_costs import cost
from tests.support.engines import DYNOXIDE_ENGINE, on
from tests.support.factories import APPLE, NOW
from tests.test_cost import NOTHING, stated

PAGE = rush.PAGE.read_text(encoding="utf-8")


def test_a_thousand_orders_cost_what_the_page_says() -> None:
    order = rush.Order(items=1, requests=7, reads=5, writes=19, seconds=0.004)

    cost = rush.dollars(order, NOTHING)

    assert cost["API Gateway"] == pytest.approx(0.0035)
    # Two more units are the authorizer's: the session and its user.
    assert cost["DynamoDB"] == pytest.approx(1000 * (7 * 0.125 + 19 * 0.625) / MILLION)
    figures = [
        float(figure) for figure in stated(r"<!-- cost of orders -->\n.*?\| 1 item \|(.*?)\|\n", PAGE).split("|")
    ]
    assert figures[-1] == pytest.approx(sum(figures[:-1]), abs=0.0003)
    assert figures[1] > 0


@pytest.mark.parametrize(("shards", "open_shards"), rush.RUSHES)
def test_a_rush_sells_every_piece_and_none_twice_and_no_faster_than_the_formula(shards: int, open_shards: int) -> None:
    came = rush.simulate(shards, open_shards, buyers=900, pieces=300)

    assert (came.sold, came.refused, came.left) == (300, 600, [0] * shards)
    at_once = rush.WRITES // 10 * open_shards  # admitted without a wait
    assert came.sold_out_at >= rush.least_seconds(300 - at_once - shards, shards, open_shards)
    assert came.tries >= came.sold


def test_more_shards_sell_faster_until_the_index_of_open_orders_is_the_limit() -> None:
    one, four, sixteen, spread = (rush.simulate(*shards, buyers=900, pieces=500).sold_out_at for shards in rush.RUSHES)

    assert one > four > sixteen > spread
    assert sixteen > (500 - rush.WRITES / 10) / rush.WRITES


@pytest.mark.parametrize("items", rush.SIZES)
def test_an_order_takes_the_units_that_the_benchmarks_say(items: int) -> None:
    order = rush.measure(items, rounds=1)

    table = stated(r"<!-- orders -->\n(.*?)<!-- end", PAGE)
    assert f"| {counted(items, 'item')} | {order.requests} | {order.reads:.1f} | {order.writes:.0f} |" in table
    assert order.writes == 15 + 5 * items


@on(DYNOXIDE_ENGINE)
def test_an_order_and_a_like_cost_the_same_for_a_user_with_ten_long_addresses(table: Table) -> None:
    deal = on_sale(table, 9)
    for name in ("ana", "bo", "cy"):
        a_buyer(table, name)
    buy(table, "cy", deal)  # the day is noted, and a block of numbers drawn
    long = Address("a long name" * 4, "a long street" * 4, "a long town" * 4, "04101", "US")
    for number in range(1, addresses.MOST):
        addresses.save(table, "bo", f"address {number}", long)

    def costs(name: str) -> list[float]:
        return [
            cost(table, lambda: follows.like(table, APPLE, name, NOW)),
            cost(table, lambda: follows.unlike(table, APPLE, name)),
            cost(table, lambda: buy(table, name, deal)),
        ]

    assert costs("bo") == costs("ana")
