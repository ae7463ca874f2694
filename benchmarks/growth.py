"""What grows: operations on a table of ten busy years, which cost what they cost on a new one; and the readers of a hot
deal, with whom its time and its cost grow.

For years, capacity units and round trips are counted on dynoxide, whose capacity figures are DynamoDB's, and no time is
measured. ``tests/data/test_costs.py`` holds what is shown of them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from functools import partial

from benchmarks.harness import markdown, record
from benchmarks.requests import new_queue
from shared import settings
from shared.data import keys
from shared.data.catalog import deals, feed_counts, feeds
from shared.data.members import cohorts, fanout, follows, users
from shared.data.members.cohorts import Unit
from shared.dynamodb.attributes import Item
from shared.dynamodb.table import MAX_BATCH_WRITES, Table
from shared.dynamodb.tracing import Trace
from shared.dynamodb.writes import put
from shared.models.catalog import Deal, Feed
from shared.values import times
from shared.values.prices import WRITE
from tests.support.engines import DYNOXIDE_ENGINE, MINISTACK
from tests.support.factories import APPLE, FEEDS, NOW, SHOES, a_deal, a_user, ago, join, open_brands
from tests.support.surroundings import taken

YEARS = 10
A_DAY = 1583
"""Deals that a busy day of a busy feed has."""

Taken = tuple[float, float, int]
"""Read units, write units, and round trips that follow one another."""


def over_years() -> None:
    """Measure, print and record what operations cost over years."""
    new, old = measure(years=0), measure(years=YEARS)
    rows = [[name, *(f"{figure:g}" for figure in new[name]), *(f"{figure:g}" for figure in old[name])] for name in new]
    head = ["Operation", "New: RRU", "WRU", "round trips", f"{YEARS} years: RRU", "WRU", "round trips"]
    record("operations over years", markdown(head, rows))


def measure(*, years: int) -> dict[str, Taken]:
    """The cost of each operation on a table with some years of counts behind it."""
    with DYNOXIDE_ENGINE.table() as table:
        open_brands(table)
        join(table, "ana")
        live(table, years)
        for number in range(60):
            deals.create(table, a_deal(ago(minutes=number)), NOW)
        trace = Trace().attach(table)
        return {name: _taken(trace, do) for name, do in _operations(table)}


def _operations(table: Table) -> Iterator[tuple[str, Callable[[], object]]]:
    for topic in (APPLE, SHOES):
        yield f"like a {topic.kind.label}", partial(follows.like, table, topic, "ana", NOW)
        yield f"watch a {topic.kind.label}", partial(follows.watch, table, topic, "ana", NOW)
    posted: list[Deal] = []
    yield "post a deal", lambda: posted.append(deals.create(table, a_deal(), NOW))
    yield "edit it", lambda: deals.edit(table, posted[0].deal_id, {"title": "Road runner"}, NOW)
    yield "withdraw it", lambda: deals.withdraw(table, posted[0].deal_id, NOW)
    cursors: dict[str, str | None] = {}
    for name, feed in zip(("all deals", "a brand", "a category"), FEEDS, strict=True):
        yield f"the newest page of {name}", partial(_read, table, feed, name, cursors)
        yield f"the page after it, of {name}", partial(_read, table, feed, name, cursors)


def _read(table: Table, feed: Feed, name: str, cursors: dict[str, str | None]) -> None:
    cursors[name] = feeds.read(table, feed, limit=25, now=NOW, cursor=cursors.get(name)).next


def _taken(trace: Trace, do: Callable[[], object]) -> Taken:
    trace.start_over()
    do()
    return trace.capacity.read, trace.capacity.write, trace.round_trips


def live(table: Table, years: int) -> None:
    """Write some busy years' counts, without the deals: nothing that is measured reads these."""
    for feed in FEEDS:
        books: dict[str, Item] = {}
        for day in range(60, 365 * years):
            period = feed.period.start_of(ago(days=day))
            key = keys.periods(feed, period)
            book = books.setdefault(key["SK"], {**key, "Type": keys.PERIODS, feed_counts.TOTAL: 0})
            name = feed_counts.attribute(feed, period)
            book[name] = book.get(name, 0) + A_DAY
            book[feed_counts.TOTAL] += A_DAY
        for book in books.values():
            table.write(put(book, because="a benchmark's own table"))


MEASURED = (1_000, 10_000, 20_000)
COMPUTED = (1_000_000, 10_000_000)

WRITE_UNITS_PER_MESSAGE = 2
"""One for the item, below 1 KB, and one for its entry in GSI1."""

TABLE_WRITE_UNITS = (4_000, 40_000)
"""Write units a second of a new on-demand table, and of one at its default quota."""


def over_readers() -> None:
    """Measure, print and record the cost of a hot deal by its number of readers."""
    rows, page_seconds = [], 0.0
    for count in MEASURED:
        with MINISTACK.table() as store:
            seconds, pages = _tell_everyone(store, count)
        page_seconds = seconds / pages
        rows.append([f"{seconds:.1f} measured", f"{count / seconds:,.0f}", *_cost(count, pages, 3)])
    for count in COMPUTED:
        pages = math.ceil(count / settings.READERS_PER_COHORT)
        work = pages * page_seconds / 10
        slow, fast = (max(work, count * WRITE_UNITS_PER_MESSAGE / rate) for rate in TABLE_WRITE_UNITS)
        rows.append([f"{slow:,.0f} at 4,000 WRU/s, {fast:,.0f} at 40,000, computed", "", *_cost(count, pages, 2)])
    head = ["Users", "Seconds", "Messages a second", "Requests", "Write units", "Dollars"]
    counts = (f"{count:,}" for count in MEASURED + COMPUTED)
    record("fan-out growth", markdown(head, [[count, *row] for count, row in zip(counts, rows, strict=True)]))


def _cost(readers: int, pages: int, digits: int) -> list[str]:
    """Requests, write units and dollars."""
    units = readers * WRITE_UNITS_PER_MESSAGE
    requests = pages * 4 + math.ceil(readers / MAX_BATCH_WRITES)
    return [f"{requests:,}", f"{units:,}", f"{units * WRITE.each:,.{digits}f}"]


def _tell_everyone(store: Table, count: int) -> tuple[float, int]:
    """Make users and a hot deal, and do all its work in this process, one cohort after another."""
    now = times.now()
    queue = new_queue(store)
    for number in range(count):
        store.write(users.registration(a_user(f"reader{number}")))
    open_brands(store)
    deal = deals.make_hot(store, deals.create(store, a_deal(now), now).deal_id, now)
    began = time.perf_counter()
    pages, pending = 0, [unit.to_json() for unit in fanout.alarm_of(deal)]
    while pending:
        for body in pending:
            fanout.deliver(store, queue, Unit.from_json(body), now)
        pages, pending = pages + len(pending), taken(queue)
    seconds = time.perf_counter() - began
    told = cohorts.progress_of(store, deal.deal_id)
    assert told == cohorts.Progress(count, finished=True), told
    return seconds, pages
