"""Deals whose offer has ended leave the feeds, by the clock.

A listed deal that will end has a note under the day it ends (written with the deal, by ``feed_counts.py``). The sweep
follows the notes that are due, so its cost grows with the deals that end and not with those that exist.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import date, datetime, timedelta
from functools import partial
from itertools import chain

from shared.data import item_types, keys
from shared.data.catalog import deals
from shared.dynamodb import cursors, damage
from shared.dynamodb.attributes import Item
from shared.dynamodb.table import Projection, Table
from shared.dynamodb.writes import forget, put
from shared.errors import Damaged, Impossible, NoSuchDeal, NotFound, NotSeeded, TooLarge
from shared.models.catalog import Deal, Feed, Page, Period, Status
from shared.values import identifiers

SETTLING = timedelta(hours=1)
"""How long after a day a sweep still looks at it: a note that was begun before midnight may be written after it."""

MOST_WAITING = 2000
"""How many of a day's ended deals a reader allows for: more than half an hour's, where a sweep looks at 500."""

BACK = timedelta(days=7)
"""How far back a sweep begins where the container cannot be read: sweeps are never that late."""

_SCOPE = "ending"
_NOTE = Projection.of("PK", "SK", "Brand", "Category")


def sweep(table: Table, now: datetime, *, most: int = 500, failures: damage.Failures | None = None) -> int:
    """Take the deals that have ended by a time out of the feeds, ``most`` of them; returns how many it looked at.

    The next sweep takes those beyond ``most``; an interrupted sweep is repeated without harm. One that fails keeps no
    other from being swept, and is added to ``failures``, or else raised in the end.
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
            progress = {**keys.endings(), "Type": item_types.ENDINGS, "SweptBefore": day}
            table.write(put(progress, because="sweeps only move forward, and one too early is only repeated work"))
    if failures is None:
        damage.raise_last(failed)
    return swept


def upcoming(table: Table, now: datetime, *, days: int, most: int, cursor: str | None = None) -> Page[Deal]:
    """A page of the active deals that end within so many times 24 hours, the next to end first, ``most`` at most.

    A Query for each day, all at once, then a BatchGetItem for each hundred deals; before them a GetItem of the deal
    that a cursor names. Raises InvalidCursor, NoSuchDeal.
    """
    until = now + timedelta(days=days)
    after = keys.ending("", now, "~")["SK"]
    if cursor is not None:
        last = deals.get(table, cursors.decode(_SCOPE, cursor))
        after = keys.ending("", last.ends_at or now, last.deal_id)["SK"]
    bounds = [keys.ending(Period.DAY.start_of(now + timedelta(days=number)), until, "~") for number in range(days + 1)]
    notes = table.gather([partial(_notes, table, bound["PK"], after, most + 1) for bound in bounds])
    within = (note for note in chain.from_iterable(notes) if note["SK"] <= bounds[0]["SK"])
    nearest = damage.readable(within, _deal_of)[: most + 1]
    found = (deal for deal in deals.get_many(table, nearest[:most]) if deal.status(now) is Status.ACTIVE)
    by_end = sorted(found, key=lambda deal: (deal.ends_at or until, deal.deal_id))
    return Page(tuple(by_end), cursors.encode(_SCOPE, nearest[most - 1]) if len(nearest) > most else None)


def within_a_day(table: Table, now: datetime, *, but: timedelta) -> list[str]:
    """The ids of the deals that end within 24 hours, the next to end first, ``but`` those of the first minutes.

    Two Queries at once: notes stand under the day (UTC) of the end.
    """
    after = keys.ending("", now + but, "~")["SK"]
    bounds = [
        keys.ending(Period.DAY.start_of(at), now + timedelta(days=1), "~") for at in (now, now + timedelta(days=1))
    ]
    notes = table.gather([partial(_notes, table, bound["PK"], after, MOST_WAITING) for bound in bounds])
    return damage.readable((note for note in chain(*notes) if note["SK"] <= bounds[0]["SK"]), _deal_of)


def _notes(table: Table, partition: str, after: str, most: int) -> list[Item]:
    return list(table.query(partition, after=after, limit=most))


def requests(table: Table, now: datetime) -> list[Callable[[], list[Item]]]:
    """The requests that ask for deals that have ended and wait for the sweep, to be gathered.

    They read the notes of this day and the one before. Sweeps run each minute, so there are few.
    """
    return [partial(_due, table, Period.DAY.start_of(now - timedelta(days=back)), now) for back in (0, 1)]


def waiting(feed: Feed, answers: Iterable[list[Item]]) -> Counter[str]:
    """From the answers to ``requests``: how many ended deals each period of a feed's index still holds."""
    due = damage.readable((note for of_day in answers for note in of_day), partial(_period_in, feed))
    return Counter(period for period in due if period is not None)


def _due(table: Table, day: str, now: datetime) -> list[Item]:
    due = keys.ending(day, now, "~")
    return list(table.query(due["PK"], until=due["SK"], limit=MOST_WAITING, projection=_NOTE))


def _period_in(feed: Feed, note: Item) -> str | None:
    """The period of a feed that the deal of a note is listed in; None for a deal of other feeds."""
    if feed.topic is not None and note[feed.topic.kind.attribute] != feed.topic.slug:
        return None
    return feed.period.start_of(identifiers.time_of(_deal_of(note)))


def _deal_of(note: Item) -> str:
    """The deal that a note is of. Raises ValueError."""
    deal_id = keys.id_in(note["SK"])
    if not identifiers.is_ksuid(deal_id):
        raise ValueError("the note names no deal")
    return deal_id


def _record_ended(table: Table, note: Item, now: datetime) -> None:
    """Take the deal of a note out of the feeds. Where that fails, the note stays for the rest of the day, in case the
    deal is repaired."""
    deal_id = _deal_of(note)
    try:
        with suppress(NoSuchDeal):  # a note outlives a deal that was removed by hand
            deals.edit(table, deal_id, {}, now)  # it leaves the feeds, as its status calls for
    except (Impossible, TooLarge, NotFound) as error:
        raise Damaged(deal_id, str(error)) from error
    table.write(forget(keys.primary(note), because="relisting mostly removed it; a stale note goes here"))
