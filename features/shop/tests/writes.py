"""The shop's actions that write, for ``tests/interleave``."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from unittest import mock

from features.shop.data import addresses, carts, keys, order_items, placing, sold_here, steps, stock
from features.shop.data.order_items import Numbers
from features.shop.models import OrderStatus
from features.shop.tests.support import HOME_ADDRESS, buy
from shared.data.idempotency import Idempotency
from shared.dynamodb.table import Table
from shared.values import identifiers
from tests.interleave.beginning import FIRST, LATER, NEW, SECOND
from tests.support.factories import NOW, account_of, ago

if TYPE_CHECKING:
    from tests.interleave.processes import Process

PLACED, SHIPPED, DELIVERED, CANCELLED = OrderStatus

_OPEN, _SENT, _EVES = (identifiers.random(ago(days=2), each * 16) for each in (b"o", b"p", b"q"))


class OwnNumbers(Numbers):
    """Draws numbers for each thread by itself, as each process does."""

    def __init__(self) -> None:
        super().__init__()
        self._here = threading.local()

    def next(self, table: Table) -> int:
        numbers: Numbers = vars(self._here).setdefault("numbers", Numbers())
        return numbers.next(table)


class OwnNotes(dict[tuple[object, ...], Any]):
    """Remembers notes for each thread by itself."""

    def get(self, place: tuple[object, ...], default: Any = None) -> Any:
        return super().get((threading.get_ident(), *place), default)

    def __setitem__(self, place: tuple[object, ...], seen: Any) -> None:
        super().__setitem__((threading.get_ident(), *place), seen)


@contextmanager
def new_process() -> Iterator[None]:
    """Nothing is remembered of earlier orders, and two processes share no numbers, nor what they know of notes."""
    with (
        mock.patch.object(order_items, "_known", OwnNotes()),
        mock.patch.object(placing, "NUMBERS", OwnNumbers()),
    ):
        yield


def prepare(at: Process) -> None:
    """Five pieces of one deal are left, of another one; Bo has an open order and a sent one, Eve a sent one."""
    table = at.table
    stock.add(table, FIRST.deal_id, 8, NOW, shards=2)
    stock.add(table, SECOND.deal_id, 1, NOW)
    for name in ("ana", "bo", "eve"):
        addresses.save(table, name, "home", HOME_ADDRESS)
    carts.put_in(table, "ana", FIRST.deal_id, 1, NOW)
    for name, letter in (("bo", b"o"), ("bo", b"p"), ("eve", b"q")):
        order = buy(
            table, name, FIRST, now=ago(days=2), entropy=letter * 16, chance=lambda: 0.5, key=f"{name} {letter!r}"
        )
        if letter != b"o":
            steps.advance(table, order, SHIPPED, NOW)


def leave_pending(at: Process) -> None:
    """The stream has yet to show a deal's stock, and the clock to remove the note of a day without open orders."""
    stock.add(at.table, NEW.deal_id, 3, NOW)
    order_items.know(at.table, PLACED, identifiers.random(ago(days=3), bytes(16)), 1, ago(days=3))


def order(at: Process, username: str = "ana", *, from_cart: bool = False) -> str:
    """Place an order; the same request again gets the same order."""
    deal = SECOND if username == "bo" else FIRST
    key = "from the cart" if from_cart else "a key"
    placed = buy(
        at.table, username, deal, now=LATER, entropy=at.entropy(), chance=lambda: 0.5, key=key, from_cart=from_cart
    )
    return placed.status.value


def step(at: Process, order_id: str, status: OrderStatus) -> str:
    found = order_items.get(at.table, "bo", order_id)
    return steps.advance(at.table, found, status, LATER).status.value


def undo(at: Process) -> str:
    return steps.undo(at.table, order_items.get(at.table, "bo", _SENT), SHIPPED, NOW + timedelta(seconds=30)).status


def order_last_piece(at: Process) -> str:
    """The last piece of a deal, with another key each time: another buyer."""
    return buy(
        at.table, "ana", SECOND, now=LATER, entropy=at.entropy(), chance=lambda: 0.5, key=f"last {at.seed}"
    ).status.value


def add_stock(at: Process) -> None:
    once = Idempotency(account_of("bo"), "a key", {"pieces": 3})
    stock.add(at.table, FIRST.deal_id, 3, LATER, idempotency=once)


def show_new(at: Process) -> None:
    """What the refresher does with the record of a stock, and with the deal's, which follows from that."""
    stock.show_level(at.table, NEW.deal_id)
    sold_here.file(at.table, NEW.deal_id)


WRITES = {
    "order": order,
    "order from the cart": lambda at: order(at, from_cart=True),
    "order of bo": lambda at: order(at, "bo"),
    "order the last piece": order_last_piece,
    "ship": lambda at: step(at, _OPEN, SHIPPED),
    "cancel": lambda at: step(at, _OPEN, CANCELLED),
    "deliver order": lambda at: step(at, _SENT, DELIVERED),
    "undo shipping": undo,
    "add stock": add_stock,
    "remove stock": lambda at: stock.add(at.table, FIRST.deal_id, -3, LATER),
    "set stock": lambda at: stock.leave(at.table, FIRST.deal_id, 5, shards=3),
    "pool stock": lambda at: stock.pool(at.table, FIRST.deal_id),
    "show stock": lambda at: stock.show_level(at.table, FIRST.deal_id),
    "file sold here": lambda at: sold_here.file(at.table, FIRST.deal_id),
    "put in the cart": lambda at: carts.put_in(at.table, "ana", FIRST.deal_id, 2, LATER, account_of("ana")),
    "take out of the cart": lambda at: carts.take_out(at.table, "ana", FIRST.deal_id, account_of("ana")),
    "save address": lambda at: addresses.save(at.table, "ana", "work", HOME_ADDRESS, account_of("ana")),
    "remove address": lambda at: addresses.remove(at.table, "ana", "home", account_of("ana")),
}
PENDING_WRITES = {"show new stock": show_new}
BEFORE_WRITES = (prepare,)
LEFT_PENDING = (leave_pending,)
AROUND_WRITES = (new_process,)
WRITES_DIFFER = {frozenset({"crash", "set stock"}): "a stock that is set again to the same counts its changes again"}
WRITES_DIFFER |= {frozenset({name}): "the pieces are spread as they were read" for name in ("set stock", "pool stock")}
REFUSED_WRITES = ("AddressChanged", "CartChanged", "AmountChanged", "Short")
HARMLESS_WRITES = {keys.OPEN_ORDERS: "a day without open orders costs an empty read"}
WRITES_ONCE_FAILED = (("undo shipping", "undo shipping"), ("order of bo", "order of bo"))
