"""Never more sold than there was, under any interleaving: put on sale = left + in orders that are not cancelled."""

from __future__ import annotations

import os
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, TypeVar

import pytest
from botocore.exceptions import ReadTimeoutError
from hypothesis import note, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from features.shop.data import carts, steps, stock
from features.shop.data.order_items import NoSuchOrder
from features.shop.data.placing import CannotOrder
from features.shop.data.steps import WrongStep
from features.shop.data.stock import NotThatMany
from features.shop.models import Order, OrderStatus, Wanted
from features.shop.tests.support import a_buyer, buy, on_sale, wanted
from shared.data import removal
from shared.data.idempotency import Idempotency
from shared.data.members import users
from shared.dynamodb.table import Table
from shared.errors import AccountChanged, Busy, Conflict, NotFound, NotSignedIn, Unavailable
from shared.values.money import of_units, units
from tests.support.engines import FAST_SERVER, MINISTACK, Engine, on
from tests.support.factories import NOW, open_brands
from tests.support.wire import cancelled, failing, hooked, losing

BUYERS = ("ana", "bo", "cy")
T = TypeVar("T")
TAKING, GONE = OrderStatus.PLACED, OrderStatus.CANCELLED


@contextmanager
def trouble(table: Table, kind: str) -> Iterator[None]:
    """One accident on the way to DynamoDB and back."""
    match kind:
        case "conflict":
            with failing(table, "TransactWriteItems", 2, cancelled("None", "None", "TransactionConflict")):
                yield
        case "lost answer":
            with losing(table, "TransactWriteItems"):
                yield
        case _:
            yield


TROUBLE = st.sampled_from(["none", "none", "conflict", "lost answer"])


class Selling(RuleBasedStateMachine):
    """Any sequence of orders, cancellations, restocking, against a model that knows numbers and nothing of shards."""

    engine: Engine

    def __init__(self) -> None:
        super().__init__()
        self.around = self.engine.table()
        self.table = replace(self.around.__enter__(), sleep=lambda _: None)
        open_brands(self.table)
        for username in BUYERS:
            a_buyer(self.table, username)
        self.deals = [on_sale(self.table, 4, shards=2), on_sale(self.table, 3)]
        self.left = [4, 3]
        self.on_sale = [4, 3]
        self.placed: dict[str, Order] = {}
        self.requests = 0

    def teardown(self) -> None:
        self.around.__exit__(None, None, None)

    @rule(buyer=st.sampled_from(BUYERS), quantities=st.tuples(st.integers(0, 4), st.integers(0, 4)).filter(any),
          kind=TROUBLE, again=st.booleans())  # fmt: skip
    def order(self, buyer: str, quantities: tuple[int, int], kind: str, again: bool) -> None:
        self.requests += 1
        key = f"request {self.requests}"
        lines = [wanted(deal, number) for deal, number in zip(self.deals, quantities, strict=True) if number]
        enough = all(number <= there for number, there in zip(quantities, self.left, strict=True))
        placed: Order | None = None
        with trouble(self.table, kind), suppress(Unavailable, CannotOrder):
            placed = buy(self.table, buyer, *lines, key=key)
        if placed is None or again:  # the answer was lost, or the reader of it clicked twice
            with suppress(CannotOrder):
                placed = buy(self.table, buyer, *lines, key=key)
        assert (placed is not None) == enough
        if placed is not None:
            note(f"{buyer} orders {quantities}")
            self.placed[placed.order_id] = placed
            self.left = [there - number for there, number in zip(self.left, quantities, strict=True)]

    @precondition(lambda self: self.placed)
    @rule(which=st.integers(0, 99), status=st.sampled_from([GONE, GONE, OrderStatus.SHIPPED]), kind=TROUBLE)
    def follow(self, which: int, status: OrderStatus, kind: str) -> None:
        order = list(self.placed.values())[which % len(self.placed)]
        allowed = order.status in (TAKING, status)
        read_before = replace(order, status=TAKING)
        for attempt in ("first", "again"):  # a buyer who met an error asks again, with the earlier read
            with trouble(self.table, kind if attempt == "first" else "none"), suppress(Unavailable, WrongStep):
                steps.advance(self.table, read_before, status, NOW)
                assert allowed
        if allowed and order.status is TAKING:
            self.placed[order.order_id] = replace(order, status=status)
            if status is GONE:
                for item in order.items:
                    self.left[[deal.deal_id for deal in self.deals].index(item.deal_id)] += item.quantity

    @rule(which=st.integers(0, 1), pieces=st.integers(-3, 5), shards=st.sampled_from([None, None, 1, 3]),
          kind=st.sampled_from(["none", "conflict"]))  # fmt: skip
    def restock(self, which: int, pieces: int, shards: int | None, kind: str) -> None:
        allowed = self.left[which] + pieces >= 0
        with trouble(self.table, kind), suppress(NotThatMany):
            stock.add(self.table, self.deals[which].deal_id, pieces, NOW, shards=shards)
            assert allowed
        if allowed:
            self.left[which] += pieces
            self.on_sale[which] += pieces

    @invariant()
    def what_is_left_is_what_the_model_says(self) -> None:
        for deal, left, put_on_sale in zip(self.deals, self.left, self.on_sale, strict=True):
            found = stock.of(self.table, deal.deal_id)
            assert (found.left, found.on_sale) == (left, put_on_sale)
            assert all(shard.left >= 0 and shard.ordered >= 0 for shard in found.shards)
            assert all(shard.left + shard.ordered == shard.on_sale for shard in found.shards)

    @invariant()
    def there_are_the_orders_that_were_placed_and_no_others(self) -> None:
        items, _ = self.table.scan()
        found = {item["OrderId"]: item["Status"] for item in items if item["Type"] == "Order"}
        assert found == {order_id: order.status for order_id, order in self.placed.items()}
        counted = {item["Username"]: item["OpenOrders"] for item in items if item["Type"] == "Account"}
        assert counted == {
            name: sum(o.username == name and o.status is TAKING for o in self.placed.values()) for name in BUYERS
        }


@on(MINISTACK)
def test_nothing_is_oversold_or_lost_after_any_sequence_of_orders_cancellations_and_restocking(engine: Engine) -> None:
    class OnThisEngine(Selling):
        pass

    OnThisEngine.engine = engine
    run_state_machine_as_test(OnThisEngine, settings=settings(max_examples=6, stateful_step_count=12, deadline=None))


@on(MINISTACK)
def test_forty_buyers_at_once_on_the_last_ten_pieces_get_ten(table: Table) -> None:
    deal = on_sale(table, 10, shards=3)
    buyers = [a_buyer(table, f"buyer{number}") for number in range(40)]
    patient = replace(table, sleep=lambda _: None)

    def try_to_buy(username: str) -> Order | None:
        with suppress(CannotOrder):
            return buy(patient, username, deal)
        return None

    with ThreadPoolExecutor(40) as pool:
        placed = [order for order in pool.map(try_to_buy, random.sample(buyers, 40)) if order is not None]

    found = stock.of(table, deal.deal_id)
    assert len(placed) == 10
    assert (found.left, found.ordered) == (0, 10)
    assert sum(item["Type"] == "OrderItem" for item in table.scan()[0]) == 10


WINDOWS = 8
NAMES = [f"buyer{number}" for number in range(16)]
ACTIONS = int(os.environ.get("DRIFT_ACTIONS", "1000"))
SEED = int(os.environ.get("DRIFT_SEED", "1"))
REFUSALS = (Conflict, NotFound, NotSignedIn, AccountChanged, Busy)


class Windows:
    """Random actions of several windows at once on one shop, and what the shop must account for afterwards."""

    def __init__(self, table: Table) -> None:
        self.table = replace(table, sleep=lambda _: None)
        self.deals = [on_sale(self.table, 400, shards=shards, price="10.00") for shards in (1, 2, 4)]
        self.lock = threading.Lock()
        self.on_sale = Counter({deal.deal_id: 400 for deal in self.deals})
        self.placed: list[Order] = []
        self.done: Counter[str] = Counter()
        self.lost = threading.local()
        for name in NAMES:
            a_buyer(self.table, name)

    def act(self, window: int) -> None:
        """Do one window's share of all actions."""
        dice = random.Random(f"{SEED}/{window}")
        ways = [self.order, self.order_cart, self.cancel, self.send, self.send, self.send, self.deliver, self.restock]
        for number in range(ACTIONS // WINDOWS):
            way = self.leave if dice.random() < 0.1 else dice.choice(ways)
            with suppress(*REFUSALS):
                way(dice, f"{window}/{number}")
                with self.lock:
                    self.done[way.__name__] += 1

    def lose(self, **_: Any) -> None:
        """Lose the answer of what a window has just asked for, now and then."""
        dice = getattr(self.lost, "dice", None)
        if dice is not None and dice.random() < 0.2:
            raise ReadTimeoutError(endpoint_url="made up")

    def surely(self, dice: random.Random, act: Callable[[], T]) -> T:
        """Ask until there is an answer, while answers are lost."""
        self.lost.dice = dice
        try:
            while True:
                with suppress(Unavailable):
                    return act()
        finally:
            self.lost.dice = None

    def any_order(self, dice: random.Random) -> Order:
        with self.lock:
            if not self.placed:
                raise NoSuchOrder("")
            return dice.choice(self.placed[-20:])

    def order(self, dice: random.Random, key: str) -> None:
        chosen = dice.sample(self.deals, dice.randint(1, 3))
        self.buy(dice, key, dice.choice(NAMES), [wanted(deal, dice.randint(1, 4)) for deal in chosen])

    def order_cart(self, dice: random.Random, key: str) -> None:
        """Put something into a cart, which other windows fill and order, too, and order all that is in it."""
        name = dice.choice(NAMES)
        carts.put_in(self.table, name, dice.choice(self.deals).deal_id, dice.randint(1, 4), NOW)
        lines = [wanted(item.deal, item.quantity) for item in carts.view(self.table, name, NOW)]
        if lines:  # another window may have just ordered them; the forms and the API take no order without a line
            self.buy(dice, key, name, lines, from_cart=True)

    def buy(self, dice: random.Random, key: str, name: str, lines: list[Wanted], *, from_cart: bool = False) -> None:
        placed = self.surely(
            dice, lambda: buy(self.table, name, *lines, key=key, from_cart=from_cart, notify=steps.notify)
        )
        with self.lock:
            self.placed.append(placed)

    def cancel(self, dice: random.Random, _: str) -> None:
        order = self.any_order(dice)
        self.surely(dice, lambda: steps.advance(self.table, order, GONE, NOW, notify=steps.notify))

    def send(self, dice: random.Random, _: str) -> None:
        """With answers that come: who asked twice could not tell a sent order that is gone from a cancelled one."""
        order = self.any_order(dice)
        steps.advance(self.table, order, OrderStatus.SHIPPED, NOW, notify=steps.notify)

    def deliver(self, dice: random.Random, _: str) -> None:
        steps.advance(self.table, self.any_order(dice), OrderStatus.DELIVERED, NOW, notify=steps.notify)

    def restock(self, dice: random.Random, key: str) -> None:
        deal_id, pieces = dice.choice(self.deals).deal_id, dice.randint(-20, 30)
        once = Idempotency("ed", key, {"add": pieces})
        shards = dice.choice([None, None, None, 1, 3, 6])
        self.surely(dice, lambda: stock.add(self.table, deal_id, pieces, NOW, shards=shards, idempotency=once))
        with self.lock:
            self.on_sale[deal_id] += pieces

    def leave(self, dice: random.Random, _: str) -> None:
        """Remove an account, and make another of the same name."""
        name = dice.choice(NAMES)
        with suppress(*REFUSALS):
            removal.remove_account(self.table, users.get(self.table, name, consistent=True), NOW)
        a_buyer(self.table, name)


@pytest.mark.thorough
@on(FAST_SERVER)
def test_every_piece_cent_and_message_is_accounted_for_whatever_eight_windows_do_at_once(table: Table) -> None:
    windows = Windows(table)

    with hooked(windows.table, "after-call.dynamodb", windows.lose), ThreadPoolExecutor(WINDOWS) as pool:
        list(pool.map(windows.act, range(WINDOWS)))
    removal.go_on_with_all(table)

    items = list(table.everything())
    of_type = {kind: [item for item in items if item["Type"] == kind] for kind in {item["Type"] for item in items}}
    orders = {item["OrderId"]: item for item in of_type["Order"]}
    pieces: Counter[str] = Counter()
    cents_of: Counter[str] = Counter()
    for item in of_type["OrderItem"]:
        cents_of[item["OrderId"]] += units(item["Price"], item["Currency"]) * item["Quantity"]
        pieces[item["DealId"]] += 0 if orders[item["OrderId"]]["Status"] == GONE else item["Quantity"]
    for sale in of_type.get("Sale", ()):
        pieces.update({item["DealId"]: item["Quantity"] for item in sale["Items"]})
    for deal in windows.deals:
        found = stock.of(table, deal.deal_id)
        assert (found.on_sale, found.ordered) == (windows.on_sale[deal.deal_id], pieces[deal.deal_id])
        assert found.left == found.on_sale - found.ordered
        assert all(shard.left >= 0 and shard.ordered >= 0 for shard in found.shards)
    assert {order_id: item["Totals"] for order_id, item in orders.items()} == {
        order_id: {"USD": of_units(amount, "USD")} for order_id, amount in cents_of.items()
    }
    told = Counter(item["OrderId"] for item in of_type["Message"])
    assert told == {i: sum(f"{status.capitalize()}At" in item for status in OrderStatus) for i, item in orders.items()}
    assert {item["Username"] for item in of_type["Order"]} <= {item["Username"] for item in of_type["User"]}
    assert all(windows.done[way] for way in ("order", "order_cart", "cancel", "send", "deliver", "restock", "leave"))
    print(f"{ACTIONS} actions, {dict(windows.done)}")
