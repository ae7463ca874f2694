"""The desk's lists of orders, and a step that is taken back within a minute."""

from __future__ import annotations

from datetime import timedelta

import pytest

from shared.data import keys
from shared.data.members import announcements, messages
from shared.data.orders import order_items, steps, stock
from shared.dynamodb.table import Table
from shared.dynamodb.writes import forget, update
from shared.errors import TooLateToUndo, WrongStep
from shared.models.catalog import Deal
from shared.models.orders import Order, OrderStatus
from tests.support.engines import on_servers
from tests.support.factories import NOW, every_page
from tests.support.shop import a_buyer, buy, left, on_sale, wanted

pytestmark = on_servers

PLACED, SHIPPED, DELIVERED, CANCELLED = OrderStatus
SOON = NOW + steps.UNDO_WITHIN
LATE = NOW + timedelta(seconds=61)


@pytest.fixture
def deal(table: Table) -> Deal:
    a_buyer(table)
    return on_sale(table, 9)


@pytest.fixture
def order(table: Table, deal: Deal) -> Order:
    return buy(table, "ana", wanted(deal, 2))


def taken(table: Table, order: Order, *to: OrderStatus) -> Order:
    for status in to:
        order = steps.advance(table, order, status, NOW)
    return order


def lists(table: Table) -> dict[OrderStatus, list[str]]:
    """The orders of each of the desk's lists."""
    found = {status: order_items.open_orders(table, NOW, status=status, limit=9) for status in (PLACED, SHIPPED)}
    found |= {status: order_items.closed(table, status, limit=9) for status in (DELIVERED, CANCELLED)}
    return {status: [order.order_id for order in page.items] for status, page in found.items() if page.items}


@pytest.mark.parametrize("to", [(), (SHIPPED,), (SHIPPED, DELIVERED), (CANCELLED,)])
def test_an_order_is_in_the_list_of_its_status_and_in_no_other(
    table: Table, order: Order, to: tuple[OrderStatus, ...]
) -> None:
    taken(table, order, *to)

    assert lists(table) == {(PLACED, *to)[-1]: [order.order_id]}


def test_closed_orders_are_listed_by_pages_the_last_placed_first(table: Table, deal: Deal) -> None:
    orders = [buy(table, "ana", deal, now=NOW + timedelta(seconds=number)) for number in range(5)]
    for order in orders:
        steps.advance(table, order, CANCELLED, SOON)

    pages = every_page(lambda cursor: order_items.closed(table, CANCELLED, limit=3, cursor=cursor))

    last_first = [order.order_id for order in reversed(orders)]
    assert [[order.order_id for order in page.items] for page in pages] == [last_first[:3], last_first[3:]]


def test_a_list_is_filled_with_what_to_pack(table: Table, deal: Deal) -> None:
    orders = [buy(table, "ana", wanted(deal, 2)), buy(table, "ana", deal, on_sale(table, 1))]

    heads = order_items.open_orders(table, NOW, limit=9).items

    assert {each.order_id: each for each in order_items.filled(table, heads)} == {
        each.order_id: each for each in orders
    }


@pytest.mark.parametrize("to", [(SHIPPED,), (SHIPPED, DELIVERED), (CANCELLED,)])
def test_a_step_is_taken_back_within_a_minute_and_no_later(
    table: Table, deal: Deal, order: Order, to: tuple[OrderStatus, ...]
) -> None:
    before = taken(table, order, *to[:-1])
    after = steps.advance(table, before, to[-1], NOW)

    with pytest.raises(TooLateToUndo):
        steps.undo(table, after, to[-1], LATE)
    assert order_items.get(table, "ana", order.order_id) == after
    back = steps.undo(table, after, to[-1], SOON, correlation_id="c-2", notify=announcements.notify_correction)
    again = steps.undo(table, after, to[-1], SOON, notify=announcements.notify_correction)

    assert (back.status, back.times, back.correlation_id) == (before.status, before.times, "c-2")
    assert order_items.get(table, "ana", order.order_id) == back == again
    assert lists(table) == {before.status: [order.order_id]}
    assert left(table, [deal]) == [7]
    assert (table.get(keys.account("ana")) or {})["OpenOrders"] == int(before.status is PLACED)
    (told,) = messages.latest(table, "ana", limit=9, now=SOON).items
    assert (told.kind, "Your order of 2 pieces is" in told.subject) == ("corrected", True)


def test_an_order_that_is_to_be_sent_again_is_listed_though_its_day_had_no_other(table: Table, order: Order) -> None:
    sent = taken(table, order, SHIPPED)
    for note in list(table.query(keys.open_orders())):
        table.write(forget(keys.primary(note), because="the clock forgets what has been empty for days"))
    order_items._known.clear()

    steps.undo(table, sent, SHIPPED, SOON)

    assert lists(table) == {PLACED: [order.order_id]}


def test_what_was_delivered_meanwhile_is_not_taken_back_to_placed(table: Table, order: Order) -> None:
    sent = taken(table, order, SHIPPED)
    taken(table, sent, DELIVERED)

    with pytest.raises(TooLateToUndo):
        steps.undo(table, sent, SHIPPED, SOON)


def test_a_cancelled_order_whose_pieces_were_sold_meanwhile_stays_cancelled(
    table: Table, deal: Deal, order: Order
) -> None:
    cancelled = taken(table, order, CANCELLED)
    buy(table, "ana", wanted(deal, 8))

    with pytest.raises(TooLateToUndo):
        steps.undo(table, cancelled, CANCELLED, SOON)

    assert stock.of(table, deal.deal_id).left == 1
    assert order_items.get(table, "ana", order.order_id).status is CANCELLED


def test_a_shard_that_lost_a_count_does_not_hold_up_who_cancels_and_undoes(table: Table, order: Order) -> None:
    (shard,) = order.items[0].shards
    key = keys.stock_shard(order.items[0].deal_id, shard)

    table.write(update(key, "REMOVE #left", names={"#left": "Left"}, refused=None))
    cancelled = taken(table, order, CANCELLED)
    table.write(update(key, "REMOVE Ordered", refused=None))
    steps.undo(table, cancelled, CANCELLED, SOON)

    assert lists(table) == {PLACED: [order.order_id]}


def test_an_order_that_is_placed_again_takes_its_steps_again(table: Table, order: Order) -> None:
    back = steps.undo(table, taken(table, order, SHIPPED), SHIPPED, SOON)

    assert steps.advance(table, back, CANCELLED, SOON).status is CANCELLED
    with pytest.raises(WrongStep):
        steps.advance(table, back, SHIPPED, SOON)


def test_steps_within_one_second_are_taken_and_told_once(table: Table, order: Order) -> None:
    notify, notify_correction = announcements.notify, announcements.notify_correction
    for _ in range(2):
        cancelled = steps.advance(table, order, CANCELLED, NOW, notify=notify)
        order = steps.undo(table, cancelled, CANCELLED, NOW, notify=notify_correction)

    inbox = messages.latest(table, "ana", limit=9, now=NOW).items
    assert order.status is PLACED
    assert sorted(message.kind for message in inbox) == ["cancelled", "corrected"]
