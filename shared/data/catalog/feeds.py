"""The feed of all deals, of a brand, of a category - written once.

A feed has one index partition per period (a day or a month). The listed deals of each period are counted
(``feed_counts.py``), so that a read goes straight to the partitions that hold deals and to no other, however long the
gaps between them. A page takes at most three sequential round trips:

    first page       1 the counts, and ended deals not yet swept   2 the partitions that are needed, all at once
    page by cursor   1 the cursor's partition, which mostly fills the page
                     2 the counts, and ended deals not yet swept   3 the partitions that are needed, all at once

Ended deals stay in the index until the next sweep (``endings.py``, each minute) and are filtered here. Their notes say
how many there are, so that a round trip makes room for them; where more wait than that, it reads on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import accumulate

from shared.data import keys
from shared.data.catalog import endings, feed_counts
from shared.data.catalog.deal_items import CARDS, readable
from shared.dynamodb import cursors
from shared.dynamodb.attributes import Item
from shared.dynamodb.table import Table
from shared.models.catalog import CountedTopic, Deal, Feed, Page, Status, Topic, feed_of
from shared.values import identifiers

SPARE = 20
"""Deals that counts are read for beyond a page: some may have ended, or be damaged. 121 of the largest deals still fit
one answer of 1 MB."""

PeriodCounts = tuple[Mapping[str, int], Counter[str]]
"""How many deals each period of a feed holds, newest first, and how many of them are known to have ended."""


@dataclass(frozen=True, slots=True)
class _Stretch:
    """The unread rest of one partition: the deals older than ``after``, or all of them."""

    period: str
    after: str | None = None


def read(
    table: Table, feed: Feed, *, limit: int, now: datetime, cursor: str | None = None, held: PeriodCounts | None = None
) -> Page[Deal]:
    """A page of a feed's active deals, newest first: ``limit`` of them as long as that many older ones exist.

    ``held`` is from ``open_feed``, a moment ago. Raises InvalidCursor, NoSuchTopic.
    """
    wanted = limit + 1  # one more than the page, to know whether there is a next one
    found: list[Deal] = []
    pending: list[_Stretch] = []
    newest: str | None = None
    if cursor is not None:
        last_id = cursors.decode(scope(feed), cursor)
        newest = feed.period.start_of(identifiers.time_of(last_id))
        found, pending = _take(table, feed, [_Stretch(newest, last_id)], wanted, Counter(), now)
    while len(found) < wanted:
        most = wanted - len(found) + SPARE
        periods, waiting = held or _expected(table, feed, most, newest, now)
        held = None
        older = {period: count for period, count in periods.items() if period != newest}
        known = {stretch.period for stretch in pending}
        pending += [_Stretch(period) for period in older if period not in known]
        while pending and len(found) < wanted:
            enough = wanted - len(found)
            planned = _plan(pending, periods, waiting, enough)
            more, unread = _take(table, feed, pending[:planned], enough, waiting, now)
            found += more
            pending = unread + pending[planned:]
        if sum(older.values()) < most:
            break  # these were all there are
        newest = min(older)
    deals = tuple(found[:limit])
    return Page(deals, cursors.encode(scope(feed), deals[-1].deal_id) if len(found) > limit else None)


def open_feed(table: Table, topic: Topic) -> tuple[CountedTopic, PeriodCounts]:
    """A topic's name and counts, and what all periods of its feed hold: all that its page needs before its deals.

    One round trip of two requests. Deals that have ended and wait for the sweep are not asked for: a page that meets
    some of them reads on. Raises NoSuchTopic.
    """
    feed = feed_of(topic)
    books, found = table.gather(feed_counts.requests(table, feed, most=feed_counts.ALL_PERIODS, until=None))
    return found, (feed_counts.counted(feed, books, until=None), Counter())


def of_periods(table: Table, feed: Feed, periods: Sequence[str], *, most: int) -> list[Deal]:
    """The newest listed deals of some periods of a feed, ``most`` of each, ended ones not yet swept included.

    A Query for each period, all at once.
    """
    wanted = (partial(_query, table, feed, _Stretch(period), most) for period in periods)
    return readable(item for items in table.gather(list(wanted)) for item in items)


def scope(feed: Feed) -> str:
    """The name under which a feed's cursors are its own."""
    return f"{feed.topic.kind.label}/{feed.topic.slug}" if feed.topic else "deals"


def _expected(table: Table, feed: Feed, most: int, until: str | None, now: datetime) -> PeriodCounts:
    """The counts of the newest periods up to one, of ``most`` deals if there are, and how many of them have ended."""
    counting = feed_counts.requests(table, feed, most=most, until=until)
    books, _, *notes = table.gather([*counting, *endings.requests(table, now)])
    return feed_counts.counted(feed, books, until=until), endings.waiting(feed, notes)


def _plan(pending: Sequence[_Stretch], periods: Mapping[str, int], waiting: Counter[str], enough: int) -> int:
    """How many of the next stretches to read at once so that they hold enough active deals, as far as is known."""
    # What is left of a partly read partition is unknown: it may be nothing.
    expected = (
        max(0, periods.get(each.period, 0) - waiting[each.period]) if each.after is None else 0 for each in pending
    )
    return next((number for number, held in enumerate(accumulate(expected), 1) if held >= enough), len(pending))


def _take(
    table: Table, feed: Feed, stretches: Sequence[_Stretch], enough: int, waiting: Counter[str], now: datetime
) -> tuple[list[Deal], list[_Stretch]]:
    """The active deals of some stretches in one round trip, and what is left unread of them.

    Of each stretch ``enough`` items are read, and as many more as wait for the sweep. Deals behind a stretch
    that was not read to its end are left unread too, so nothing is ever passed over.
    """
    limits = [enough + waiting[stretch.period] for stretch in stretches]
    answers = table.gather([partial(_query, table, feed, *each) for each in zip(stretches, limits, strict=True)])
    deals: list[Deal] = []
    for number, (stretch, limit, items) in enumerate(zip(stretches, limits, answers, strict=True)):
        deals += [deal for deal in readable(items) if deal.status(now) is Status.ACTIVE]
        if len(items) == limit:
            return deals, [_Stretch(stretch.period, keys.deal_id_of(items[-1])), *stretches[number + 1 :]]
    return deals, []


def _query(table: Table, feed: Feed, stretch: _Stretch, limit: int) -> list[Item]:
    partition = keys.feed_partition(feed, stretch.period)
    after = keys.deal_sort_key(stretch.after) if stretch.after else None
    return list(table.query(partition, **CARDS[feed.index], after=after, newest_first=True, limit=limit))
