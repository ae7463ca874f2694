"""A rush: the cost of an order, and 10,000 buyers of 1,000 pieces. ``python -m benchmarks rush``.

Units and requests are counted on dynoxide, whose capacity figures are DynamoDB's. The rush itself is a simulation of
DynamoDB's limits: nothing waits, so its figures are the same on each machine.
"""

from __future__ import annotations

import heapq
import itertools
import random
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks.formulas import Assumptions, Invocation, Operation
from benchmarks.harness import markdown, record
from features.shop.data import placing, steps, stock
from features.shop.models import Shard, Stock
from features.shop.tests.support import a_buyer, buy, on_sale
from shared.dynamodb.aws_errors import MAX_ATTEMPTS
from shared.dynamodb.tracing import Trace
from shared.hooks import Limited
from shared.values.naming import counted
from tests.support.engines import DYNOXIDE_ENGINE
from tests.support.factories import open_brands

PAGE = Path(__file__).with_name("README.md")
"""The document with the tables."""

SIZES = (1, 5, 20)
"""Items of the orders that are measured."""

RUSHES = ((1, 1), (4, 1), (16, 1), (16, 4))
"""Shards of the stock, and of the open orders in the index, of the rushes that are simulated."""

BUYERS = 10_000
PIECES = 1_000
SPREAD = 1.0
"""Seconds within which all buyers press the button."""

REQUEST = 0.006
"""Seconds of a request to DynamoDB."""

READS, WRITES = 3_000, 1_000
"""Units that one partition takes in a second, of the table or of an index.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html"""

UNITS, INDEX_UNITS = 2, 1
"""Write units of an item below 1 KB in a transaction, and of its entry in an index.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html"""

CONSISTENT, EVENTUAL = 1.0, 0.5
"""Read units of an item below 4 KB."""

LATER = 1.0
"""Seconds after which a buyer whose order was refused as busy tries again: what Retry-After says."""


@dataclass(frozen=True, slots=True)
class Order:
    """The cost of placing an order with a number of items: requests, units, and seconds of processor time here."""

    items: int
    requests: int
    reads: float
    writes: float
    seconds: float


def measure(items: int, rounds: int = 5) -> Order:
    """Order one piece each of some deals; returns the buyer."""
    with DYNOXIDE_ENGINE.table() as table:
        open_brands(table)
        a_buyer(table)
        deals = [on_sale(table, rounds + 1) for _ in range(items)]
        ordered = partial(buy, table, "ana", *deals, notify=steps.notify, an_hour=placing.AN_HOUR)
        ordered()  # the day is noted from now on
        trace = Trace(detailed=False).attach(table)
        spent = []
        for _ in range(rounds):
            before = time.process_time()
            ordered()
            spent.append(time.process_time() - before)
        trace.detach(table)  # all tables of the engine have one client
        requests = trace.count // rounds
    return Order(items, requests, trace.capacity.read / rounds, trace.capacity.write / rounds, median(spent))


@dataclass(slots=True)
class _Partition:
    """A partition that admits a number of units a second, and a tenth of that at once."""

    units: float
    free: float = 0.0
    seen_at: float = 0.0

    def __post_init__(self) -> None:
        self.free = self.units / 10

    def admits(self, now: float, units: float) -> bool:
        """Whether there are units for a request; if so it takes them, even if it is then cancelled."""
        self.free = min(self.units / 10, self.free + (now - self.seen_at) * self.units)
        self.seen_at = now
        if self.free < units:
            return False
        self.free -= units
        return True


@dataclass(slots=True)
class _Shard:
    """A shard of the stock: what is left, until when a transaction holds it, and what its partition admits."""

    left: int
    held_until: float = 0.0
    reads: _Partition = field(default_factory=lambda: _Partition(READS))
    writes: _Partition = field(default_factory=lambda: _Partition(WRITES))


class Rush:
    """Buyers who order one piece each, as ``placing.place`` does, and their results.

    ``open_shards`` are the partitions of the index that all orders of the day are in.
    """

    def __init__(self, shards: int, open_shards: int, pieces: int, chance: random.Random) -> None:
        evenly, more = divmod(pieces, shards)
        self.shards = [_Shard(evenly + (number < more)) for number in range(shards)]
        self.deal, self.note = _Partition(READS), _Partition(READS)
        self.index = [_Partition(WRITES) for _ in range(open_shards)]
        self.sold = self.tries = self.busy = self.refused = 0
        self.sold_out_at = self.over_at = 0.0
        self._chance = chance
        self._order = itertools.count()
        self._events: list[tuple[float, int, Callable[[float], None]]] = []

    @property
    def left(self) -> list[int]:
        """The pieces that are left, by shard."""
        return [shard.left for shard in self.shards]

    def at(self, when: float, do: Callable[[float], None]) -> None:
        """Let something happen at a time, in seconds."""
        heapq.heappush(self._events, (when, next(self._order), do))

    def run(self) -> None:
        """Let everything happen."""
        while self._events:
            now, _, do = heapq.heappop(self._events)
            do(now)

    def look(self, now: float, short: int = 0, tried: int = 0) -> None:
        """Read the deal and the note of its stock; ``short`` counts the shards that were found too empty before."""
        if self.deal.admits(now, CONSISTENT) and self.note.admits(now, EVENTUAL):
            self.at(now + REQUEST, partial(self.choose, short=short))
        else:
            self._again(now, tried, partial(self.look, short=short))

    def choose(self, now: float, short: int, tried: int = 0) -> None:
        """Read all shards and choose one; or ask again, consistently and twice, and learn that everything is sold."""
        seen = tuple(Shard(number, shard.left, 0, 0, 0) for number, shard in enumerate(self.shards))
        plan = stock.plan(Stock("", seen), 1, self._chance.random())
        units = EVENTUAL if plan else EVENTUAL + 2 * CONSISTENT
        admitted = [
            shard.reads.admits(now, units) for shard in self.shards
        ]  # each is asked, whatever the others answer
        if not all(admitted):
            self._again(now, tried, partial(self.choose, short=short))
        elif plan is None:
            self.refused += 1
            self.over_at = now
        else:
            (shard,) = plan
            self.at(now + REQUEST, partial(self.take, shard=shard, short=short))

    def take(self, now: float, shard: int, short: int, tried: int = 0) -> None:
        """Send the transaction: again where it is throttled or meets another; where the shard is empty, look again.

        A partition of the index that is throttled holds up the table.
        """
        taken, index = self.shards[shard], self._chance.choice(self.index)
        self.tries += 1
        admitted = taken.writes.admits(now, UNITS) and index.admits(now, INDEX_UNITS)
        if not admitted or now < taken.held_until:
            self._again(now, tried, partial(self.take, shard=shard, short=short))
        elif taken.left == 0:
            self._again(now, short, lambda then, tried: self.look(then, short=tried))
        else:
            taken.held_until = now + REQUEST
            taken.left -= 1
            self.sold += 1
            self.sold_out_at = self.over_at = now + REQUEST / 2

    def _again(self, now: float, tried: int, do: Callable[..., None]) -> None:
        """Wait as ``aws_errors.py`` does and do it again; after the last try, start over when Retry-After says."""
        wait = self._chance.random() * min(1.0, 0.025 * 2**tried)
        if tried + 1 < MAX_ATTEMPTS:
            self.at(now + REQUEST + wait, partial(do, tried=tried + 1))
        else:
            self.busy += 1
            self.at(now + REQUEST + LATER + self._chance.random(), self.look)


def simulate(shards: int, open_shards: int = 1, *, buyers: int = BUYERS, pieces: int = PIECES, seed: int = 1) -> Rush:
    """Simulate buyers who order one piece each of a deal, within DynamoDB's limits.

    A buyer reads the deal and the note of its stock (a request), reads all shards (a request) and picks one by
    ``stock.plan``, and sends the transaction (a request); each takes effect in its middle. A request that a partition
    does not admit is sent again after a wait, and so is a transaction while another one holds the shard. Where the
    shard has become empty, the buyer starts over. After twelve tries the order is refused as busy, and the buyer comes
    again a second later. What is each buyer's own (the account, the cart, the order) limits nobody, and is left out.
    """
    chance = random.Random(seed)
    rush = Rush(shards, open_shards, pieces, chance)
    for _ in range(buyers):
        rush.at(chance.random() * SPREAD + REQUEST / 2, rush.look)
    rush.run()
    return rush


def least_seconds(pieces: int, shards: int, open_shards: int) -> float:
    """The shortest time to sell a number of pieces one by one, by a formula."""
    return max(pieces / shards * max(REQUEST, UNITS / WRITES), pieces / open_shards * INDEX_UNITS / WRITES)


def dollars(order: Order, given: Assumptions) -> dict[str, float]:
    """The cost of a thousand orders, by service: the request, its two functions, and the table."""
    authorizer = Invocation("authorizer", 512, 1.0, 2, 300, 1)
    placing = Invocation("orders", 512, order.seconds * 1000, 4, 500, 1)
    operation = Operation(
        "order", (authorizer, placing), reads=order.reads + 2, writes=order.writes, requests=1, body=400 * order.items
    )
    return {service: each * 1000 for service, each in operation.dollars(given).items()}


def limited() -> Mapping[str, Limited]:
    """The order that costs most, at the page's price, and how many a member may send."""
    name = counted(SIZES[-1], "item")
    _, _, table = PAGE.read_text(encoding="utf-8").partition("<!-- cost of orders -->")
    (row,) = re.findall(rf"\| {name} \|.* ([0-9.]+) \|\n", table.partition("<!-- end")[0])
    return {f"an order of {name}": Limited(1000 * float(row), placing.AN_HOUR)}


def main() -> None:
    """Measure, simulate, and write the tables."""
    orders = [measure(items) for items in SIZES]
    rows = [
        [counted(order.items, "item"), f"{order.requests}", f"{order.reads:.1f}", f"{order.writes:.0f}"]
        for order in orders
    ]
    record("orders", markdown(["An order of", "Requests", "RRU", "WRU"], rows), PAGE)
    head = ["Stock in", "Shards of open orders", "Sold", "Oversold", "Seconds until sold out", "Minimum by the formula"]
    head += ["Seconds until every buyer knows", "Tries per order", "Refused as busy", "Refused as sold out"]
    rows = []
    for shards, open_shards in RUSHES:
        rush = simulate(shards, open_shards)
        seconds = (rush.sold_out_at, least_seconds(PIECES, shards, open_shards), rush.over_at, rush.tries / rush.sold)
        sold = [f"{rush.sold:,}", str(max(0, rush.sold - PIECES))]
        rows.append(
            [
                counted(shards, "shard"),
                str(open_shards),
                *sold,
                *(f"{each:.1f}" for each in seconds),
                f"{rush.busy:,}",
                f"{rush.refused:,}",
            ]
        )
    record("rush", markdown(head, rows), PAGE)
    costs = [dollars(order, Assumptions()) for order in orders]
    rows = [
        [counted(order.items, "item"), *(f"{each:.4f}" for each in (*cost.values(), sum(cost.values())))]
        for order, cost in zip(orders, costs, strict=True)
    ]
    record("cost of orders", markdown(["For a thousand orders of", *costs[0], "Sum"], rows), PAGE)


BENCHMARKS = {"rush": main}
