"""Patterns 7, 8 and 10: the feed of all deals, of a brand, of a category - written once.

A feed lies in one index partition per period (a day or a month). Its container (the DEALS item, a Brand or a Category)
counts the listed deals of each period that has any, so that a read goes straight to the partitions that hold deals and
to no other, however long the gaps between them. A page takes at most three sequential round trips:

    first page       1 container                 2 the partitions that its counts call for, all at once
                                                 3 more of them, where ended deals left the page short
    page by cursor   1 the cursor's partition, which mostly fills the page
                     2 container                 3 the partitions that its counts call for, with room for ended deals

Ended deals stay in the index until the next sweep (``endings.py``, each minute) and are filtered here. A page passes
over ``SPARE`` of them within its three round trips; where more wait for the sweep it reads on rather than return short.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from shared.data import keys
from shared.data.catalog import topics
from shared.data.catalog.deal_items import CARD, readable
from shared.dynamodb import cursors
from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import INDEXES
from shared.dynamodb.table import Projection, Table
from shared.models import Deal, Feed, Page, Status
from shared.values import ksuids

SPARE = 20
"""Ended deals that a page's last round trip makes room for: 121 of the largest deals still fit one answer of 1 MB."""

_INDEXES = {index.name: index for index in INDEXES}
_PERIODS = Projection.of("Periods")


@dataclass(frozen=True, slots=True)
class _Stretch:
    """What is still to be read of one partition: the deals older than ``after``, or all of them."""

    period: str
    after: str | None = None


def read(
    table: Table,
    feed: Feed,
    *,
    limit: int,
    now: datetime,
    cursor: str | None = None,
    periods: Mapping[str, int] | None = None,
) -> Page[Deal]:
    """A page of a feed's active deals, newest first: ``limit`` of them as long as that many older ones exist.

    ``periods`` are the feed's counts, where the caller has read its container already.
    Raises InvalidCursor, NoSuchTopic.
    """
    wanted = limit + 1  # the one more tells whether there is a next page
    found: list[Deal] = []
    pending: list[_Stretch] = []
    newest: str | None = None
    if cursor is not None:
        last_id = cursors.decode(scope(feed), cursor)
        newest = feed.period.start_of(ksuids.time_of(last_id))
        found, pending = _take(table, feed, [_Stretch(newest, last_id)], wanted, now)
    if len(found) < wanted:
        periods = counts(table, feed) if periods is None else periods
        pending += [_Stretch(period) for period in _nonempty(periods, older_than=newest)]
        room = SPARE if cursor is not None else 0
        while pending and len(found) < wanted:
            enough = wanted - len(found) + room
            planned = _plan(pending, periods, enough)
            more, unread = _take(table, feed, pending[:planned], enough, now)
            found += more
            pending = unread + pending[planned:]
            room = SPARE
    deals = tuple(found[:limit])
    return Page(deals, cursors.encode(scope(feed), deals[-1].deal_id) if len(found) > limit else None)


def of_periods(table: Table, feed: Feed, periods: Sequence[str]) -> list[Deal]:
    """All listed deals of some periods of a feed, ended ones not yet swept included. A Query for each, all at once."""
    wanted = (partial(_query, table, feed, _Stretch(period), None) for period in periods)
    return readable(item for items in table.gather(list(wanted)) for item in items)


def scope(feed: Feed) -> str:
    """The name under which a feed's cursors are its own."""
    return f"{feed.topic.kind.label}/{feed.topic.slug}" if feed.topic else "deals"


def counts(table: Table, feed: Feed) -> Mapping[str, int]:
    """How many deals each period of a feed lists, by its date. One GetItem. Raises NoSuchTopic, NotSeeded."""
    key, missing = topics.container(feed)
    container = table.get(key, projection=_PERIODS)
    if container is None:
        raise missing
    periods: Mapping[str, int] = container["Periods"]
    return periods


def _nonempty(periods: Mapping[str, int], *, older_than: str | None) -> list[str]:
    """The periods that hold deals, newest first."""
    return sorted((p for p, n in periods.items() if n > 0 and (older_than is None or p < older_than)), reverse=True)


def _plan(pending: Sequence[_Stretch], periods: Mapping[str, int], enough: int) -> int:
    """How many of the next stretches to read at once so that they hold enough deals by their counts."""
    held = 0
    for number, stretch in enumerate(pending, start=1):
        # What is left of a partly read partition is unknown: it may be nothing.
        held += periods.get(stretch.period, 0) if stretch.after is None else 0
        if held >= enough:
            return number
    return len(pending)


def _take(
    table: Table, feed: Feed, stretches: Sequence[_Stretch], limit: int, now: datetime
) -> tuple[list[Deal], list[_Stretch]]:
    """The active deals of some stretches in one round trip, ``limit`` items of each, and what is left unread of them.

    Deals behind a stretch that was not read to its end are left unread too, so nothing is ever passed over.
    """
    answers = table.gather([partial(_query, table, feed, stretch, limit) for stretch in stretches])
    deals: list[Deal] = []
    for number, (stretch, items) in enumerate(zip(stretches, answers, strict=True)):
        deals += [deal for deal in readable(items) if deal.status(now) is Status.ACTIVE]
        if len(items) == limit:
            return deals, [_Stretch(stretch.period, items[-1]["DealId"]), *stretches[number + 1 :]]
    return deals, []


def _query(table: Table, feed: Feed, stretch: _Stretch, limit: int | None) -> list[Item]:
    return list(
        table.query(
            keys.feed_partition(feed, stretch.period),
            index=_INDEXES[feed.index],
            after=keys.deal_sort_key(stretch.after) if stretch.after else None,
            newest_first=True,
            limit=limit,
            projection=CARD,
        )
    )
