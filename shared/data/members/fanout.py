"""Telling readers of a deal - a brand's watchers, a category's watchers, or every user.

A unit of work is one cohort of readers. Its continuation is queued before its messages are written, so cohorts are
written side by side and nothing depends on how long one function may run. Everything is done in an order that a crash,
or the queue delivering a unit twice, can only repeat and never lose or double:

1. the cohort is read, and its marker remembers who is in it and where the next one starts. From then on the cohort is
   what its marker says: users who sign up or leave meanwhile move neither its end nor the next one's start. A cohort
   that comes again, which may be weeks later, skips departed users; usernames are reused
2. its continuation is queued; the marker remembers that, too
3. the cohort's messages are inserted, 25 at a time; those that exist are refused by the table and left as they are
4. the marker remembers that the cohort is done. For a hot deal its readers are counted in the same transaction, once

The last cohort of a topic's watchers has no continuation and is not counted, so it needs no marker: a repeat tells the
watchers of that moment.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from shared import settings
from shared.data.catalog import deals
from shared.data.members import alerting, announcements, cohorts, fanout_progress, limits, message_batches
from shared.data.members.cohorts import Readers, Unit
from shared.dynamodb.table import Table
from shared.errors import AlreadyExists, NoSuchDeal, TooManyCohorts
from shared.models.alerts import Pace
from shared.models.catalog import CATEGORIES, Deal, Status
from shared.sqs import Queue


@dataclass(frozen=True, slots=True)
class Delivered:
    """The result of one unit of work: its cohort's readers, and how many of them had no message of the deal yet."""

    readers: int = 0
    written: int = 0


def news_of(deal: Deal, written_at: datetime | None = None) -> list[Unit]:
    """The work that a new deal makes: its brand's watchers and its category's."""
    first = Unit(deal.deal_id, "brand", correlation_id=deal.correlation_id, written_at=_seconds(written_at))
    return [
        replace(first, topic=deal.brand, topic_name=deal.brand_name),
        replace(first, kind="category", topic=deal.category, topic_name=CATEGORIES[deal.category]),
    ]


def alerts_of(deal: Deal, kind: Literal["words", "price"], written_at: datetime | None = None) -> list[Unit]:
    """The work that a deal makes for those who have alerts that it meets."""
    return [Unit(deal.deal_id, kind, correlation_id=deal.correlation_id, written_at=_seconds(written_at))]


def alarm_of(deal: Deal, segments: int = settings.SCAN_SEGMENTS, written_at: datetime | None = None) -> list[Unit]:
    """The work that a hot deal makes: every user, in parallel segments."""
    first = Unit(deal.deal_id, "hot", 0, segments, correlation_id=deal.correlation_id, written_at=_seconds(written_at))
    return [replace(first, segment=segment) for segment in range(segments)]


def deliver(
    table: Table, queue: Queue, unit: Unit, now: datetime, size: int = settings.READERS_PER_COHORT
) -> Delivered:
    """Do one unit of work. Raises Busy: then the queue tries it again.

    A deal that is gone or has ended by now is told only to the rest of a cohort that was begun. Raises TooManyCohorts
    instead of going on forever: Lambda allows this function to invoke itself (``RecursiveLoop``), so the bound is here.
    https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html
    """
    if unit.number >= settings.MOST_COHORTS:
        raise TooManyCohorts(unit.number)
    try:
        # The stream may be ahead of eventually consistent reads, and a deal that is missed is never told of again.
        deal = deals.get(table, unit.deal_id, consistent=True)
    except NoSuchDeal:
        return Delivered()
    if unit.kind in ("words", "price"):
        return _alert(table, queue, unit, deal, now, size)
    readers = cohorts.readers_of(table, unit, deal, size, now)
    if readers.done:
        return Delivered()
    if readers.following is not None and not readers.continued:
        queue.send([replace(unit, start=readers.following, number=unit.number + 1).to_json()])
        table.write(cohorts.remember(unit, "Continued"))  # a crash before this queues the next cohort twice, at worst
    announcement = announcements.of_deal(deal, unit.kind, unit.correlation_id, unit.topic_name or None)
    shown_at = limits.shown_at(Pace.DAILY, now)
    written = message_batches.insert(
        table,
        [
            announcements.compose(announcement, name, shown_at if name in readers.daily else None)
            for name in readers.usernames
        ],
    )
    if readers.marked:
        _finish(table, unit, readers, now)
    return Delivered(len(readers.usernames), written)


def _alert(table: Table, queue: Queue, unit: Unit, deal: Deal, now: datetime, size: int) -> Delivered:
    """Tell one cohort of those who have alerts that a deal meets, as long as it is offered."""
    if deal.status(now) is not Status.ACTIVE:
        return Delivered()
    met, following = alerting.cohort(table, unit, deal, size)
    if following is not None:
        queue.send([replace(unit, start=following, number=unit.number + 1).to_json()])
    return Delivered(len(met), alerting.tell(table, unit, deal, met, now))


def _finish(table: Table, unit: Unit, readers: Readers, now: datetime) -> None:
    """Remember that a cohort is done; of a hot deal's, count its readers with it, once however often it comes."""
    if unit.kind != "hot":
        table.write(cohorts.remember(unit, "Done"))
        return
    with suppress(AlreadyExists):  # another delivery counted it meanwhile
        once = "attribute_exists(PK) AND attribute_not_exists(Done)"
        table.transact(
            cohorts.remember(unit, "Done", once, refused=AlreadyExists()), fanout_progress.count(unit, readers, now)
        )


def _seconds(when: datetime | None) -> float | None:
    return None if when is None else when.timestamp()
