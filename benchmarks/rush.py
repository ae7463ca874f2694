"""A rush: what an order takes, and 10,000 buyers of 1,000 pieces. ``python -m benchmarks rush``.

Units and requests are counted on dynoxide, whose capacity figures are DynamoDB's. The rush itself is a simulation of
DynamoDB's limits: nothing waits, so its figures are the same on each machine.
"""

from __future__ import annotations

import heapq
import itertools
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from benchmarks.harness import markdown, record
from benchmarks.prices import Assumptions, Invocation, Operation
from shared.data.orders import stock
from shared.dynamodb.retries import MAX_ATTEMPTS
from shared.dynamodb.tracing import Trace
from shared.models.orders import Shard, Stock
from tests.support.engines import DYNOXIDE_ENGINE
from tests.support.factories import open_brands
from tests.support.shop import a_buyer, buy, on_sale

COST_PAGE = Path(__file__).parent.parent / "docs" / "cost.md"
SIZES = (1, 5, 20)
"""Items of the orders that are measured."""

SHARDS = (1, 4, 16)
BUYERS = 10_000
PIECES = 1_000
SPREAD = 1.0
"""Seconds within which all buyers press the button."""

REQUEST = 0.006
"""Seconds of a request to DynamoDB."""

WRITES = 1_000
"""Write units that one item takes in a second.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html"""

UNITS = 2
"""Write units of an item below 1 KB in a transaction.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html"""

LATER = 1.0
"""Seconds after which a buyer who was told that the site is busy tries again: what Retry-After says."""


@dataclass(frozen=True, slots=True)
class Order:
    """The cost of placing an order of so many items: requests, units, and seconds of processor time here."""

    items: int
    requests: int
    reads: float
    writes: float
    seconds: float


def measure(items: int, rounds: int = 5) -> Order:
    """Place orders of so many deals, one piece of each."""
    with DYNOXIDE_ENGINE.table() as table:
        open_brands(table)
        a_buyer(table)
        deals = [on_sale(table, rounds + 1) for _ in range(items)]
        buy(table, "ana", *deals)  # the day is known from now on
        trace = Trace(detailed=False).attach(table)
        spent = []
        for _ in range(rounds):
            before = time.process_time()
            buy(table, "ana", *deals)
            spent.append(time.process_time() - before)
    spent.sort()
    requests = trace.count // rounds
    return Order(items, requests, trace.capacity.read / rounds, trace.capacity.write / rounds, spent[rounds // 2])


@dataclass(slots=True)
class _Item:
    """A shard's item as DynamoDB holds it: what is left, and until when it has no units or a transaction holds it."""

    left: int
    held_until: float = 0.0
    units_from: float = 0.0

    def admits(self, now: float) -> bool:
        """Whether there are units for a write; if so, it takes them, even if it is then cancelled."""
        if now < self.units_from:
            return False
        self.units_from = now + UNITS / WRITES
        return True


@dataclass(slots=True)
class Rush:
    """How a rush ended."""

    shards: int
    sold: int = 0
    tries: int = 0
    busy: int = 0
    told: int = 0
    sold_out_at: float = 0.0
    left: list[int] = field(default_factory=list)

    @property
    def tries_per_order(self) -> float:
        """Transactions that were sent for each that was carried out."""
        return self.tries / self.sold


class _Simulation:
    """Buyers who order one piece each, as ``placing.place`` does, and what they meet."""

    def __init__(self, shards: int, pieces: int, chance: random.Random) -> None:
        evenly, more = divmod(pieces, shards)
        self.items = [_Item(evenly + (number < more)) for number in range(shards)]
        self.rush = Rush(shards)
        self._chance = chance
        self._order = itertools.count()
        self._events: list[tuple[float, int, Callable[[float], None]]] = []

    def at(self, when: float, do: Callable[[float], None]) -> None:
        """Let something happen at a time, in seconds."""
        heapq.heappush(self._events, (when, next(self._order), do))

    def run(self) -> None:
        """Let everything happen."""
        while self._events:
            now, _, do = heapq.heappop(self._events)
            do(now)

    def read(self, now: float, attempt: int = 0) -> None:
        """Look at all shards, and choose one; or learn that everything is sold."""
        seen = tuple(Shard(number, item.left, 0, 0, 0) for number, item in enumerate(self.items))
        plan = stock.plan(Stock("", seen), 1, self._chance.random())
        if plan is None:
            self.rush.told += 1
            return
        (shard,) = plan
        self.at(now + REQUEST, partial(self.take, shard=shard, attempt=attempt))

    def take(self, now: float, shard: int, attempt: int) -> None:
        """Send the transaction; where it is cancelled, wait and start over."""
        item = self.items[shard]
        self.rush.tries += 1
        if item.admits(now) and now >= item.held_until and item.left > 0:
            item.held_until = now + REQUEST
            item.left -= 1
            self.rush.sold += 1
            self.rush.sold_out_at = now + REQUEST / 2
            return
        wait = self._chance.random() * min(1.0, 0.025 * 2**attempt)
        attempt += 1
        if attempt == MAX_ATTEMPTS:
            self.rush.busy += 1
            attempt, wait = 0, LATER + self._chance.random()
        self.at(now + REQUEST + wait, partial(self.read, attempt=attempt))


def simulate(shards: int, *, buyers: int = BUYERS, pieces: int = PIECES, seed: int = 1) -> Rush:
    """Let so many buyers order one piece each of items that have DynamoDB's limits.

    A buyer reads all shards (a request), picks one by ``stock.plan``, and sends the transaction (a request); each takes
    effect in its middle. The transaction is cancelled if another one holds the shard, if the shard has no units at that
    moment, or if too few pieces are left in it; then the buyer waits as ``retries.py`` does and starts over. After
    twelve tries the buyer is told that the site is busy, and comes again a second later.
    """
    chance = random.Random(seed)
    simulation = _Simulation(shards, pieces, chance)
    for _ in range(buyers):
        simulation.at(chance.random() * SPREAD + REQUEST / 2, simulation.read)
    simulation.run()
    simulation.rush.left = [item.left for item in simulation.items]
    return simulation.rush


def least_seconds(pieces: int, shards: int) -> float:
    """The shortest time in which so many pieces can be sold one by one: the formula beside the simulation."""
    return pieces / shards * max(REQUEST, UNITS / WRITES)


def dollars(order: Order, given: Assumptions | None = None) -> dict[str, float]:
    """The cost of a thousand orders, by service: the request, its two functions, and the table."""
    authorizer = Invocation("authorizer", 512, 1.0, 2, 300, 1)
    placing = Invocation("orders", 512, order.seconds * 1000, 2, 500, 1)
    operation = Operation(
        "order", (authorizer, placing), reads=order.reads + 2, writes=order.writes, requests=1, body=400 * order.items
    )
    taken = operation.dollars(given or Assumptions(access_log=430, headers=972))
    return {service: each * 1000 for service, each in taken.items()}


def main() -> None:
    """Measure, simulate, and write the tables."""
    orders = [measure(items) for items in SIZES]
    record(
        "orders",
        markdown(
            ["Items", "Requests", "RRU", "WRU"],
            [[str(o.items), str(o.requests), f"{o.reads:.1f}", f"{o.writes:.0f}"] for o in orders],
        ),
    )
    rushes = [simulate(shards) for shards in SHARDS]
    record(
        "rush",
        markdown(
            ["Shards", "Sold", "Oversold", "Seconds until sold out", "At least, by the formula", "Tries per order",
             "Told that it is busy", "Told that it is sold out"],
            [
                [
                    str(rush.shards),
                    f"{rush.sold:,}",
                    str(max(0, rush.sold - PIECES)),
                    f"{rush.sold_out_at:.1f}",
                    f"{least_seconds(PIECES, rush.shards):.1f}",
                    f"{rush.tries_per_order:.1f}",
                    f"{rush.busy:,}",
                    f"{rush.told:,}",
                ]
                for rush in rushes
            ],
        ),
    )  # fmt: skip
    costs = [dollars(order) for order in orders]
    services = list(costs[0])
    record(
        "orders",
        markdown(
            ["For a thousand orders of", *services, "Sum"],
            [
                [f"{order.items} items" if order.items > 1 else "1 item", *(f"{cost[s]:.4f}" for s in services),
                 f"{sum(cost.values()):.4f}"]
                for order, cost in zip(orders, costs, strict=True)
            ],
        ),
        page=COST_PAGE,
    )  # fmt: skip
