"""Removing an account with all that is its owner's, whatever else happens meanwhile."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from contextlib import suppress
from functools import partial

import pytest

from shared.data.catalog import topics
from shared.data.members import account_checks, follows, order_news, saved, sessions, users
from shared.data.orders import carts, reading, steps
from shared.data.removal import remove_account
from shared.dynamodb.table import Table
from shared.errors import NoSuchUser, NotSignedIn, OrdersRemain, UnknownAddress
from shared.models.catalog import Deal
from shared.models.orders import OrderStatus
from tests.support.engines import DYNOXIDE_ENGINE, on
from tests.support.factories import APPLE, NOW, a_deal, a_message, a_user, send
from tests.support.shop import a_buyer, buy, on_sale
from tests.support.wire import before, watched

PIECES = 100


@pytest.fixture
def deal(table: Table) -> Deal:
    """The deal that is bought."""
    return on_sale(table, PIECES)


@pytest.fixture
def other(table: Table) -> Deal:
    """The deal that stays in the cart."""
    return on_sale(table, PIECES)


def furnish(table: Table, deal: Deal, other: Deal) -> None:
    """An account that has something of each kind, and no open order."""
    a_buyer(table)
    follows.like(table, APPLE, "ana", NOW)
    follows.watch(table, APPLE, "ana", NOW)
    saved.save(table, deal, "ana", NOW)
    send(table, a_message(a_deal()))
    for _ in range(2):
        steps.advance(table, buy(table, "ana", deal), OrderStatus.SHIPPED, NOW, telling=order_news.telling)
    carts.put_in(table, "ana", other.deal_id, 1, NOW)
    sessions.start(table, a_user(), NOW, secrets.token_bytes(32))


def remove(table: Table) -> None:
    remove_account(table, users.get(table, "ana", consistent=True))


def belongings(table: Table) -> list[tuple[str, str]]:
    """The keys of all items that name the user, but for the receipts of requests, which nobody inherits."""
    return sorted(
        (item["PK"], item["SK"])
        for item in table.scan()[0]
        if item["Type"] != "Idempotency" and any("ana" in re.split(r"[#@]", str(value)) for value in item.values())
    )


def test_an_account_goes_with_its_orders_its_cart_and_all_else(table: Table, deal: Deal, other: Deal) -> None:
    furnish(table, deal, other)
    a_buyer(table, "bo")
    others = buy(table, "bo", deal)

    remove(table)

    assert belongings(table) == []
    assert topics.get(table, APPLE).likes == topics.get(table, APPLE).watchers == 0
    assert reading.get(table, "bo", others.order_id) == others


def test_an_account_with_an_open_order_stays_as_it_was(table: Table, deal: Deal, other: Deal) -> None:
    furnish(table, deal, other)
    buy(table, "ana", deal)
    there = table.scan()[0]

    with pytest.raises(OrdersRemain):
        remove(table)

    assert table.scan()[0] == there
    follows.unlike(table, APPLE, "ana")
    follows.like(table, APPLE, "ana", NOW)


def put_in(table: Table, deal: Deal) -> None:
    with suppress(NoSuchUser):
        carts.put_in(table, "ana", deal.deal_id, 2, NOW)


def place(table: Table, deal: Deal) -> None:
    # Once the account is gone, its addresses are, too.
    with suppress(NoSuchUser, UnknownAddress):
        buy(table, "ana", deal)


def keep(table: Table, deal: Deal) -> None:
    with suppress(NotSignedIn):
        saved.save(table, deal, "ana", NOW)


@on(DYNOXIDE_ENGINE)
@pytest.mark.parametrize("beside", [put_in, place, keep])
def test_what_another_window_does_while_the_account_is_removed_is_neither_left_nor_does_it_cost_anything(
    table: Table, deal: Deal, other: Deal, beside: Callable[[Table, Deal], None]
) -> None:
    furnish(table, deal, other)
    with watched(table) as wire:
        remove(table)

    for operation, count in wire.operations.items():
        for number in range(count):
            furnish(table, deal, other)
            there = set(belongings(table))
            with before(table, operation, partial(beside, table, deal), skip=number):
                try:
                    remove(table)
                except OrdersRemain:
                    # An order came first: then nothing else has changed.
                    assert there <= set(belongings(table)), f"before {operation} {number}"
                    follows.unwatch(table, APPLE, "ana")
                    follows.watch(table, APPLE, "ana", NOW)
                    for order in reading.latest(table, "ana", limit=25, status=OrderStatus.PLACED).items:
                        steps.advance(table, order, OrderStatus.CANCELLED, NOW)
                    remove(table)
            assert belongings(table) == [], f"before {operation} {number}"


def test_what_is_put_into_the_cart_after_another_removal_let_the_account_stay_is_not_left(
    table: Table, deal: Deal, other: Deal
) -> None:
    furnish(table, deal, other)

    def let_stay() -> None:
        table.write(account_checks.staying("ana"))
        put_in(table, deal)

    with before(table, "BatchGetItem", let_stay):  # the one that looks for likes and watches
        remove(table)

    assert belongings(table) == []


@on(DYNOXIDE_ENGINE)
def test_a_removal_that_was_interrupted_is_repeated_to_its_end(table: Table, deal: Deal, other: Deal) -> None:
    furnish(table, deal, other)
    with watched(table) as wire:
        remove(table)

    for operation, count in wire.operations.items():
        for number in range(count):
            furnish(table, deal, other)
            with before(table, operation, _fail, skip=number), suppress(SystemExit):
                remove(table)
            with suppress(NoSuchUser):  # it was interrupted after the account had gone
                remove(table)
            # Sessions of an account that is gone do not work any more, and TTL deletes them.
            left = [keys for keys in belongings(table) if not keys[0].startswith("SESSION#")]
            assert left == [], f"before {operation} {number}"


def _fail() -> None:
    raise SystemExit("killed")
