"""Operations cost the same on a new table and on one of ten busy years. ``python -m benchmarks operations``.

Capacity units and round trips are counted on dynoxide, whose capacity figures are DynamoDB's; no time is measured.
``tests/data/test_costs.py`` holds what is shown here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from benchmarks.harness import markdown, record
from shared.data import item_types, keys
from shared.data.catalog import deals, feed_counts, feeds
from shared.data.members import follows
from shared.dynamodb.attributes import Item
from shared.dynamodb.table import Table
from shared.dynamodb.tracing import Trace
from shared.dynamodb.writes import put
from shared.models.catalog import Deal, Feed
from tests.support.engines import DYNOXIDE_ENGINE
from tests.support.factories import APPLE, FEEDS, NOW, SHOES, a_deal, ago, join, open_brands

YEARS = 10
A_DAY = 1583
"""Deals that a busy day of a busy feed has."""

Taken = tuple[float, float, int]
"""Read units, write units, and round trips that follow one another."""


def main() -> None:
    """Measure, print and record."""
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
            book = books.setdefault(key["SK"], {**key, "Type": item_types.PERIODS, feed_counts.TOTAL: 0})
            name = feed_counts.attribute(feed, period)
            book[name] = book.get(name, 0) + A_DAY
            book[feed_counts.TOTAL] += A_DAY
        for book in books.values():
            table.write(put(book, because="a benchmark's own table"))
