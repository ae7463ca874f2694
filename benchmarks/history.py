"""Operations cost the same on a new table and on one of ten busy years. ``python -m benchmarks operations``.

Capacity units and round trips are counted on dynoxide, whose capacity figures are DynamoDB's; no time is measured.
``tests/data/test_costs.py`` holds what is shown here.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial

from benchmarks.harness import markdown, record
from benchmarks.servers import client_arguments, dynoxide
from shared.data import item_types, keys
from shared.data.catalog import brands, deals, feed_counts, feeds, seeds
from shared.data.members import follows, users
from shared.dynamodb.attributes import Item
from shared.dynamodb.client import connect
from shared.dynamodb.provision import create_table
from shared.dynamodb.table import Table
from shared.dynamodb.tracing import Trace
from shared.dynamodb.writes import put
from shared.models.catalog import ALL_DEALS, BRAND, CATEGORY, Deal, Feed, Topic, feed_of
from shared.models.members import User

NOW = datetime(2050, 6, 15, 12, 0, tzinfo=UTC)
YEARS = 10
A_DAY = 1583
"""Deals that a busy day of a busy feed has."""

BRANDED, SORTED = Topic(BRAND, "apple"), Topic(CATEGORY, "shoes")
FEEDS = {"all deals": ALL_DEALS, "a brand": feed_of(BRANDED), "a category": feed_of(SORTED)}

Taken = tuple[float, float, int]
"""Read units, write units, and round trips that follow one another."""


def main() -> None:
    """Measure, print and record."""
    with dynoxide() as endpoint:
        new = measure(endpoint, "new", years=0)
        old = measure(endpoint, "old", years=YEARS)
    rows = [[name, *(f"{figure:g}" for figure in new[name]), *(f"{figure:g}" for figure in old[name])] for name in new]
    head = ["Operation", "New: RRU", "WRU", "round trips", f"{YEARS} years: RRU", "WRU", "round trips"]
    record("operations over years", markdown(head, rows))


def measure(endpoint: str, name: str, *, years: int) -> dict[str, Taken]:
    """The cost of each operation on a table with some years of counts behind it."""
    table = connect(name, **client_arguments(endpoint))
    create_table(table.client, name)
    seeds.plant(table, NOW)
    brands.create(table, BRANDED.slug, "Apple", NOW)
    for username in ("ana", "bo"):
        users.create(table, User(username, f"{username}@mail.example", username, "no-hash", "member", NOW))
    _live(table, years)
    for number in range(60):
        deals.create(table, _deal(NOW - timedelta(minutes=number)), NOW)
    trace = Trace().attach(table)
    return {name: _taken(trace, do) for name, do in _operations(table)}


def _operations(table: Table) -> Iterator[tuple[str, Callable[[], object]]]:
    for topic in (BRANDED, SORTED):
        yield f"like a {topic.kind.label}", partial(follows.like, table, topic, "ana", NOW)
        yield f"watch a {topic.kind.label}", partial(follows.watch, table, topic, "ana", NOW)
    posted: list[Deal] = []
    yield "post a deal", lambda: posted.append(deals.create(table, _deal(NOW), NOW))
    yield "edit it", lambda: deals.edit(table, posted[0].deal_id, {"title": "Road runner"}, NOW)
    yield "withdraw it", lambda: deals.withdraw(table, posted[0].deal_id, NOW)
    cursors: dict[str, str | None] = {}
    for name, feed in FEEDS.items():
        yield f"the newest page of {name}", partial(_read, table, feed, name, cursors)
        yield f"the page after it, of {name}", partial(_read, table, feed, name, cursors)


def _read(table: Table, feed: Feed, name: str, cursors: dict[str, str | None]) -> None:
    cursors[name] = feeds.read(table, feed, limit=25, now=NOW, cursor=cursors.get(name)).next


def _taken(trace: Trace, do: Callable[[], object]) -> Taken:
    trace.start_over()
    do()
    return trace.capacity.read, trace.capacity.write, trace.round_trips


def _deal(created_at: datetime) -> Deal:
    entropy = secrets.token_bytes(16)
    return Deal(
        deal_id=deals.new_id(created_at, None, entropy),
        title="Trail runner",
        link="https://shop.example/trail-runner",
        brand=BRANDED.slug,
        brand_name="Apple",
        category=SORTED.slug,
        price="31.90",
        currency="USD",
        created_at=created_at,
    )


def _live(table: Table, years: int) -> None:
    """Some years' counts, without the deals: nothing that is measured reads these."""
    for feed in FEEDS.values():
        books: dict[str, Item] = {}
        for day in range(60, 365 * years):
            period = feed.period.start_of(NOW - timedelta(days=day))
            key = keys.periods(feed, period)
            book = books.setdefault(key["SK"], {**key, "Type": item_types.PERIODS, feed_counts.TOTAL: 0})
            name = feed_counts.attribute(feed, period)
            book[name] = book.get(name, 0) + A_DAY
            book[feed_counts.TOTAL] += A_DAY
        for book in books.values():
            table.write(put(book, because="a benchmark's own table"))
