"""The removal of accounts with orders: what was sent stays as a sale, and an open order holds the account."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Any

import pytest

from features.shop.account_fields import OrdersRemain
from features.shop.data import addresses, carts, order_items, steps
from features.shop.data import keys as shop_keys
from features.shop.data.order_items import NoSuchOrder
from features.shop.models import Order, OrderStatus
from features.shop.tests.support import HOME_ADDRESS, a_buyer, buy, on_sale, wanted
from shared.data import removal
from shared.data.entities import OWNED
from shared.data.members import sessions, users
from shared.dynamodb import damage
from shared.dynamodb.table import Table
from shared.dynamodb.writes import update
from shared.errors import (
    AccountChanged,
    Conflict,
    NoSuchUser,
    NotSignedIn,
    UsernameTaken,
)
from shared.models.catalog import Deal
from tests.data.test_removal import belongings
from tests.support.engines import DYNOXIDE_ENGINE, on
from tests.support.factories import NOW, a_user, ahead, leave
from tests.support.wire import before, watched

PLACED, SHIPPED, DELIVERED, CANCELLED = OrderStatus


@pytest.fixture
def deal(table: Table) -> Deal:
    """The deal that is bought."""
    return on_sale(table, 500)


def buy_and(table: Table, deal: Deal, *statuses: OrderStatus, pieces: int = 1) -> Order:
    """An order that has taken some steps."""
    order = buy(table, "ana", wanted(deal, pieces))
    for status in statuses:
        order = steps.advance(table, order, status, NOW, notify=steps.notify)
    return order


def sales(table: Table) -> list[dict[str, Any]]:
    return [item for item in table.scan()[0] if item["Type"] == "Sale"]


def test_an_account_goes_with_its_orders_and_its_cart_and_others_orders_stay(table: Table, deal: Deal) -> None:
    a_buyer(table)
    for statuses in ((SHIPPED,), (SHIPPED, DELIVERED), (CANCELLED,)):
        buy_and(table, deal, *statuses)
    carts.put_in(table, "ana", deal.deal_id, 1, NOW)
    a_buyer(table, "bo")
    others = buy(table, "bo", deal)

    leave(table)

    assert belongings(table) == []
    assert sorted((sale["Status"], "Address" in sale) for sale in sales(table)) == [(DELIVERED, False), (SHIPPED, True)]
    assert order_items.get(table, "bo", others.order_id) == others


def test_an_account_with_an_order_to_be_sent_stays_as_it_was(table: Table, deal: Deal) -> None:
    a_buyer(table)
    carts.put_in(table, "ana", deal.deal_id, 1, NOW)
    order = buy(table, "ana", deal)
    there = table.scan()[0]

    with pytest.raises(OrdersRemain):
        leave(table)

    assert table.scan()[0] == there
    steps.advance(table, order, SHIPPED, NOW)
    leave(table)


def test_what_was_sent_stays_without_the_account_and_loses_its_address_when_it_is_delivered(
    table: Table, deal: Deal
) -> None:
    a_buyer(table)
    order = buy_and(table, deal, SHIPPED, pieces=3)

    leave(table)
    sale = order_items.find(table, order.order_id)
    steps.advance(table, sale, DELIVERED, NOW, notify=steps.notify)
    delivered = order_items.find(table, order.order_id)

    assert (sale.username, sale.address, sale.status) == ("", HOME_ADDRESS, SHIPPED)
    assert (sale.items, sale.totals, sale.pieces, sale.times) == (order.items, order.totals, 3, order.times)
    assert (delivered.address, delivered.status, delivered.items) == (None, DELIVERED, order.items)
    assert steps.advance(table, sale, DELIVERED, NOW) == delivered  # said again
    assert HOME_ADDRESS.recipient not in str(table.scan()[0])
    with pytest.raises(NoSuchOrder):
        order_items.get(table, "ana", order.order_id)


def test_an_order_without_its_number_does_not_keep_its_account(table: Table, deal: Deal) -> None:
    a_buyer(table)
    order = buy_and(table, deal, SHIPPED)
    table.write(
        update(shop_keys.order("ana", order.order_id), "REMOVE OrderNumber", refused=NoSuchOrder(order.order_id))
    )

    leave(table)

    assert [sale["OrderId"] for sale in sales(table)] == [order.order_id]


def test_an_order_that_is_delivered_while_its_account_is_removed_has_no_address_left(table: Table, deal: Deal) -> None:
    a_buyer(table)
    order = buy_and(table, deal, SHIPPED)

    # The first transaction removes the account, the second makes the sale.
    with before(table, "TransactWriteItems", lambda: steps.advance(table, order, DELIVERED, NOW), skip=1):
        leave(table)
    removal.go_on_with_all(table)

    assert order_items.find(table, order.order_id).status is DELIVERED
    assert HOME_ADDRESS.recipient not in str(table.scan()[0])


def test_an_order_whose_account_is_removed_while_it_is_delivered_is_delivered_without_an_address(
    table: Table, deal: Deal
) -> None:
    a_buyer(table)
    order = buy_and(table, deal, SHIPPED)

    with before(table, "TransactWriteItems", partial(leave, table)):
        steps.advance(table, order, DELIVERED, ahead(days=1), correlation_id="1", notify=steps.notify)

    found = order_items.find(table, order.order_id)
    assert (found.username, found.address, found.correlation_id) == ("", None, "1")
    assert found.times[DELIVERED] == ahead(days=1)
    assert [item for item in table.scan()[0] if item["Type"] == "Message"] == []


def test_more_orders_than_go_at_once_go_in_the_background_and_then_the_name_is_free(
    table: Table, deal: Deal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(removal, "AT_ONCE", 10)
    ana = users.get(table, a_buyer(table))
    token, _ = sessions.start(table, a_user(), NOW, bytes(32))
    for _ in range(removal.AT_ONCE + 5):
        buy_and(table, deal, SHIPPED)

    with watched(table) as wire:
        leave(table)

    assert wire.operations.total() < removal.AT_ONCE + 10
    assert len(sales(table)) == removal.AT_ONCE
    with pytest.raises(NotSignedIn):
        sessions.authenticate(table, token, NOW)
    with pytest.raises(NoSuchUser):
        users.get(table, "ana")
    with pytest.raises(UsernameTaken):
        users.create(table, a_user("ana", email="other@mail.example"))
    users.create(table, a_user("bo", email=ana.email))
    assert [user.username for user in users.everyone(table)] == ["bo"]

    assert (removal.go_on_with_all(table), removal.go_on_with_all(table)) == (1, 0)

    assert len(sales(table)) == removal.AT_ONCE + 5
    users.create(table, a_user("ana", email="other@mail.example"))
    assert order_items.latest(table, "ana", limit=25).items == ()


def test_a_receipt_of_a_names_last_owner_does_not_answer_the_next(table: Table, deal: Deal) -> None:
    a_buyer(table)
    first = buy(table, "ana", deal, key="once")
    steps.advance(table, first, SHIPPED, NOW)
    leave(table)
    users.create(table, a_user("ana", account_id="the next"))
    addresses.save(table, "ana", "home", HOME_ADDRESS)

    second = buy(table, "ana", deal, key="once", account_id="the next")

    assert second.order_id != first.order_id
    assert order_items.get(table, "ana", second.order_id) == second


def test_orders_are_removed_first_as_they_are_most_of_a_large_account() -> None:
    assert OWNED[0].type == shop_keys.ORDER


def order_and_put_in(table: Table, deal: Deal) -> None:
    """What the owner may still buy in another window."""
    for deed in (lambda: carts.put_in(table, "ana", deal.deal_id, 2, NOW), lambda: buy(table, "ana", deal)):
        with suppress(NoSuchUser, NotSignedIn, AccountChanged, Conflict):
            deed()


@pytest.mark.thorough  # before each request of a removal
@on(DYNOXIDE_ENGINE)
def test_an_order_that_another_window_places_while_its_account_is_removed_holds_it_or_is_refused(
    table: Table, deal: Deal
) -> None:
    def furnish() -> None:
        a_buyer(table)
        for statuses in ((SHIPPED,), (SHIPPED, DELIVERED), (CANCELLED,)):
            buy_and(table, deal, *statuses)

    furnish()
    with watched(table) as wire:
        leave(table)
    for operation, count in wire.operations.items():
        for number in range(count):
            furnish()
            there = set(belongings(table))
            with before(table, operation, partial(order_and_put_in, table, deal), skip=number):
                try:
                    leave(table)
                except OrdersRemain:
                    # An order came first: then nothing else has changed.
                    assert there <= set(belongings(table)), f"before {operation} {number}"
                    for order in order_items.latest(table, "ana", limit=25, status=PLACED).items:
                        steps.advance(table, order, CANCELLED, NOW)
                    leave(table)
            assert belongings(table) == [], f"before {operation} {number}"


@pytest.mark.damages
def test_a_damaged_order_keeps_its_own_account_alone(table: Table, deal: Deal) -> None:
    a_buyer(table)
    order = buy_and(table, deal, CANCELLED)
    a_buyer(table, "bo")
    key = shop_keys.order("ana", order.order_id)
    table.write(update(key, "REMOVE OrderNumber", refused=NoSuchOrder(order.order_id)))
    for name in ("ana", "bo"):
        removal.leave(table, users.get(table, name, consistent=True), NOW)

    assert removal.go_on_with_all(table) == 1

    assert set(damage.taken()) == {"ana"}
    assert [user.username for user in users.everyone(table)] == []
