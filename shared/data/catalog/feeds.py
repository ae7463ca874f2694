"""The feeds of all deals, of a brand and of a category, and the sweep that removes ended deals from them.

A feed has one index partition per period (a day or a month). ``feed_counts.py`` counts each period's listed deals, so a
read queries only partitions that hold deals, however long the gaps. A page takes at most three round trips in a row:

    first page       1 the counts, and ended deals not yet swept   2 the partitions that are needed, all at once
    page by cursor   1 the cursor's partition, which usually fills the page
                     2 the counts, and ended deals not yet swept   3 the partitions that are needed, all at once

A listed deal with an end has a note under the day it ends. Every minute the sweep follows the notes that are due, so
its cost grows with the deals that end, not with those that exist. Until then reads filter ended deals. The notes say
how many to expect, so that one round trip still fills the page; if more wait, the read goes on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta
from functools import partial
from itertools import accumulate, chain
from typing import NamedTuple

from shared.data import keys
from shared.data.catalog import deals, feed_counts
from shared.data.catalog.deals import CARDS, readable
from shared.dynamodb import damage
from shared.dynamodb.attributes import Item
from shared.dynamodb.table import Projection, Table
from shared.dynamodb.writes import forget, put
from shared.errors import Damaged, Impossible, NoSuchDeal, NotFound, NotSeeded, TooLarge
from shared.models.catalog import CountedTopic, Deal, Feed, Page, Period, Status, Topic, feed_of
from shared.values import identifiers

SPARE = 20
"""Deals to read beyond a page: some may have ended, or be damaged. 121 of the largest deals fit one answer of 1 MB."""

PeriodCounts = tuple[Mapping[str, int], Counter[str]]
"""How many deals each period of a feed holds, newest first, and how many of those are known to have ended."""


class _Stretch(NamedTuple):
    """The unread rest of a partition: deals older than ``after``, or all."""

    period: str
    after: str | None = None


def read(
    table: Table, feed: Feed, *, limit: int, now: datetime, cursor: str | None = None, held: PeriodCounts | None = None
) -> Page[Deal]:
    """A page of a feed's active deals, newest first. It has ``limit`` deals if the feed has that many.

    ``held`` is the result of a recent ``open_feed``. Raises InvalidCursor, NoSuchTopic.
    """
    wanted = limit + 1  # one more tells whether there is a next page
    found: list[Deal] = []
    pending: list[_Stretch] = []
    newest: str | None = None
    if cursor is not None:
        last_id = identifiers.read_cursor(scope(feed), cursor)
        newest = feed.period.start_of(identifiers.time_of(last_id))
        found, pending = _take(table, feed, [(_Stretch(newest, last_id), 0)], wanted, Counter(), now)
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
            more, unread = _take(table, feed, planned, enough, waiting, now)
            found += more
            pending = unread + pending[len(planned) :]
        if sum(older.values()) < most:
            break  # the feed has no older periods
        newest = min(older)
    return Page(tuple(found[:limit]), identifiers.next_cursor(scope(feed), [each.deal_id for each in found], limit))


def open_feed(table: Table, topic: Topic) -> tuple[CountedTopic, PeriodCounts]:
    """A topic's name and counts, and the counts of all periods of its feed. Raises NoSuchTopic.

    One round trip of two requests. Notes of ended deals aren't read: a page that meets ended deals reads on.
    """
    feed = feed_of(topic)
    books, found = table.gather(feed_counts.requests(table, feed, most=feed_counts.ALL_PERIODS, until=None))
    return found, (feed_counts.counted(feed, books, until=None), Counter())


def scope(feed: Feed) -> str:
    """The scope of a feed's cursors."""
    return f"{feed.topic.kind.label}/{feed.topic.slug}" if feed.topic else "deals"


def _expected(table: Table, feed: Feed, most: int, until: str | None, now: datetime) -> PeriodCounts:
    """The counts of the newest periods up to ``until`` that hold ``most`` deals, and how many of these have ended."""
    requests = feed_counts.requests(table, feed, most=most, until=until)
    days = (Period.DAY.start_of(now - timedelta(days=back)) for back in (0, 1))  # sweeps run each minute
    books, _, *notes = table.gather(requests + [partial(_due, table, day, now) for day in days])
    due = damage.readable(chain.from_iterable(notes), partial(_period_in, feed))
    return feed_counts.counted(feed, books, until=until), Counter(period for period in due if period is not None)


_Planned = list[tuple[_Stretch, int]]
"""Stretches to read at once, each with how many active deals it is expected to hold."""


def _plan(pending: Sequence[_Stretch], periods: Mapping[str, int], waiting: Counter[str], enough: int) -> _Planned:
    """The next stretches that hold enough active deals."""
    # How much is left of a partly read partition is unknown, so it counts as nothing.
    expected = [
        max(0, periods.get(each.period, 0) - waiting[each.period]) if each.after is None else 0 for each in pending
    ]
    number = next((number for number, held in enumerate(accumulate(expected), 1) if held >= enough), len(pending))
    return list(zip(pending[:number], expected, strict=False))


def _take(
    table: Table, feed: Feed, planned: _Planned, enough: int, waiting: Counter[str], now: datetime
) -> tuple[list[Deal], list[_Stretch]]:
    """Read stretches in one round trip; returns their active deals, and what is still unread.

    Each query reads as many items as are missing if those before it hold what is expected, and as many more as wait for
    the sweep. If a stretch wasn't read to its end, the following ones count as unread too, so that no deal is skipped.
    """
    stretches = [stretch for stretch, _ in planned]
    before = accumulate((expected for _, expected in planned), initial=0)
    limits = [enough - held + waiting[stretch.period] for stretch, held in zip(stretches, before, strict=False)]
    answers = table.gather([partial(_query, table, feed, *each) for each in zip(stretches, limits, strict=True)])
    active: list[Deal] = []
    for number, (stretch, limit, items) in enumerate(zip(stretches, limits, answers, strict=True)):
        active += [deal for deal in readable(items) if deal.status(now) is Status.ACTIVE]
        if len(items) == limit:
            return active, [_Stretch(stretch.period, keys.deal_id_of(items[-1])), *stretches[number + 1 :]]
    return active, []


def _query(table: Table, feed: Feed, stretch: _Stretch, limit: int) -> list[Item]:
    partition = keys.feed_partition(feed, stretch.period)
    after = keys.deal_sort_key(stretch.after) if stretch.after else None
    return list(table.query(partition, **CARDS[feed.index], after=after, newest_first=True, limit=limit))


def of_periods(table: Table, feed: Feed, periods: Sequence[str], *, most: int) -> list[Deal]:
    """The newest listed deals of some periods, at most ``most`` of each, including ended ones not yet swept.

    One Query for each period, all at once.
    """
    wanted = (partial(_query, table, feed, _Stretch(period), most) for period in periods)
    return readable(item for items in table.gather(list(wanted)) for item in items)


SETTLING = timedelta(hours=1)
"""How long after a day's end a sweep still reads that day: a note begun before midnight may be written after it."""

BACK = timedelta(days=7)
"""How far back a sweep begins if the container is damaged. Sweeps are never that late."""


def sweep(table: Table, now: datetime, *, most: int = 500, failures: damage.Failures | None = None) -> int:
    """Remove deals that have ended from the feeds, at most ``most``; returns how many it looked at.

    The next run takes the rest; repeating is harmless. A deal that fails doesn't stop the others: its error is added to
    ``failures`` or, without that list, raised at the end.
    """
    today = Period.DAY.start_of(now)
    settled = Period.DAY.start_of(now - SETTLING)
    progress = table.get(keys.endings(), consistent=True)
    if progress is None:
        raise NotSeeded
    day = damage.read_or(
        progress,
        lambda item: date.fromisoformat(damage.attribute(item, "SweptBefore", str)).isoformat(),
        otherwise=Period.DAY.start_of(now - BACK),
    )
    swept, failed = 0, [] if failures is None else failures
    while day <= today:
        due = keys.ending(day, now, "~")
        notes = list(table.query(due["PK"], until=due["SK"], limit=most - swept, consistent=True))
        list(damage.each(notes, partial(_record_ended, table, now=now), failures=failed))
        swept += len(notes)
        if swept >= most:
            break
        day = (date.fromisoformat(day) + timedelta(days=1)).isoformat()
        if day <= settled and not failed:
            progress = {**keys.endings(), "Type": keys.ENDINGS, "SweptBefore": day}
            table.write(put(progress, because="sweeps only move forward, and one too early is only repeated work"))
    if failures is None:
        damage.raise_last(failed)
    return swept


_ENDING = "ending"
"""The scope of cursors of the deals that end next."""


def upcoming(table: Table, now: datetime, *, days: int, most: int, cursor: str | None = None) -> Page[Deal]:
    """A page of the active deals that end within ``days`` times 24 hours, the next to end first.

    A Query for each day, all at once, then a BatchGetItem for each hundred deals; before them, a GetItem of the
    cursor's deal. Raises InvalidCursor, NoSuchDeal.
    """
    until = now + timedelta(days=days)
    after = keys.ending("", now, "~")["SK"]
    if cursor is not None:
        last = deals.get(table, identifiers.read_cursor(_ENDING, cursor))
        after = keys.ending("", last.ends_at or now, last.deal_id)["SK"]
    bounds = [keys.ending(Period.DAY.start_of(now + timedelta(days=number)), until, "~") for number in range(days + 1)]
    notes = table.gather([partial(_notes, table, bound["PK"], after, most + 1) for bound in bounds])
    within = (note for note in chain.from_iterable(notes) if note["SK"] <= bounds[0]["SK"])
    nearest = damage.readable(within, _deal_of)[: most + 1]
    found = (deal for deal in deals.get_many(table, nearest[:most]) if deal.status(now) is Status.ACTIVE)
    by_end = sorted(found, key=lambda deal: (deal.ends_at or until, deal.deal_id))
    return Page(tuple(by_end), identifiers.next_cursor(_ENDING, nearest, most))


def within_a_day(table: Table, now: datetime, *, but: timedelta) -> list[str]:
    """The ids of the deals that end within 24 hours, the next to end first, except those of the first ``but``.

    Two Queries at once: notes are filed under the day (UTC) of the end.
    """
    after = keys.ending("", now + but, "~")["SK"]
    bounds = [
        keys.ending(Period.DAY.start_of(at), now + timedelta(days=1), "~") for at in (now, now + timedelta(days=1))
    ]
    notes = table.gather([partial(_notes, table, bound["PK"], after, MOST_WAITING) for bound in bounds])
    return damage.readable((note for note in chain(*notes) if note["SK"] <= bounds[0]["SK"]), _deal_of)


MOST_WAITING = 2000
"""The most ended deals of a day that a reader allows for: more than half an hour's, at 500 a sweep."""

_NOTE = Projection.of("PK", "SK", "Brand", "Category")


def _notes(table: Table, partition: str, after: str, most: int) -> list[Item]:
    return list(table.query(partition, after=after, limit=most))


def _due(table: Table, day: str, now: datetime) -> list[Item]:
    due = keys.ending(day, now, "~")
    return list(table.query(due["PK"], until=due["SK"], limit=MOST_WAITING, projection=_NOTE))


def _period_in(feed: Feed, note: Item) -> str | None:
    """The period of a feed in which a note's deal is listed; None if the deal isn't in the feed."""
    if feed.topic is not None and note[feed.topic.kind.attribute] != feed.topic.slug:
        return None
    return feed.period.start_of(identifiers.time_of(_deal_of(note)))


def _deal_of(note: Item) -> str:
    """The id of a note's deal. Raises ValueError."""
    deal_id = keys.id_in(note["SK"])
    if not identifiers.is_ksuid(deal_id):
        raise ValueError("the note names no deal")
    return deal_id


def _record_ended(table: Table, note: Item, now: datetime) -> None:
    """Remove a note's deal from the feeds. If that fails, the note stays for the rest of the day: the deal may be
    repaired."""
    deal_id = _deal_of(note)
    try:
        with suppress(NoSuchDeal):  # a note outlives a deal that was deleted by hand
            deals.edit(table, deal_id, {}, now)  # an edit without changes updates the places in feeds
    except (Impossible, TooLarge, NotFound) as error:
        raise Damaged(deal_id, str(error)) from error
    table.write(forget(keys.primary(note), because="relisting usually removed it; this removes a stale one"))
