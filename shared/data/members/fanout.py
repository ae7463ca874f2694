"""Telling readers of a deal - a brand's watchers, a category's watchers, or every user.

A unit of work is one cohort of readers. Everything is done in an order that a crash, or the queue delivering a unit
twice, can only repeat and never lose or double:

1. the cohort is read, and its marker remembers who is in it and where the next one starts. From then on the cohort is
   what its marker says: users who sign up or leave meanwhile move neither its end nor the next one's start. A cohort
   that comes again, which may be weeks later, skips departed users; usernames are reused
2. its continuation is queued, so that cohorts are written side by side; the marker remembers that, too
3. the cohort's messages are inserted, 25 at a time; those that exist are refused by the table and left as they are
4. the marker remembers that the cohort is done. For a hot deal its readers are counted in the same transaction, once

The last cohort of a topic's watchers has no continuation and is not counted, so it needs no marker: a repeat notifies
the watchers of that moment.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

from shared import settings
from shared.data.catalog import deals
from shared.data.members import alerts, cohorts, limits, messages
from shared.data.members.cohorts import Readers, Unit
from shared.dynamodb.table import Table
from shared.errors import AlreadyExists, NoSuchDeal, TooManyCohorts
from shared.models.catalog import CATEGORIES, Deal
from shared.models.members import Pace
from shared.models.messages import DealNews
from shared.services import Queue


@dataclass(frozen=True, slots=True)
class Delivered:
    """The result of one unit of work: its cohort's readers, and how many of them had no message of the deal yet."""

    readers: int = 0
    written: int = 0


def news_of(deal: Deal, written_at: datetime | None = None) -> list[Unit]:
    """The work that a new deal makes: its brand's watchers and its category's."""
    first = _first(deal, "brand", written_at)
    return [
        replace(first, topic=deal.brand, topic_name=deal.brand_name),
        replace(first, kind="category", topic=deal.category, topic_name=CATEGORIES[deal.category]),
    ]


def alerts_of(deal: Deal, kind: DealNews, written_at: datetime | None = None) -> list[Unit]:
    """The work that a deal makes for those who have alerts, of the kinds ``words`` or ``price``."""
    return [_first(deal, kind, written_at)]


def alarm_of(deal: Deal, segments: int = settings.SCAN_SEGMENTS, written_at: datetime | None = None) -> list[Unit]:
    """The work that a hot deal makes: every user, in parallel segments."""
    first = replace(_first(deal, "hot", written_at), segments=segments)
    return [replace(first, segment=segment) for segment in range(segments)]


def _first(deal: Deal, kind: DealNews, written_at: datetime | None) -> Unit:
    seconds = None if written_at is None else written_at.timestamp()
    return Unit(deal.deal_id, kind, correlation_id=deal.correlation_id, written_at=seconds)


def deliver(
    table: Table, queue: Queue, unit: Unit, now: datetime, size: int = settings.READERS_PER_COHORT
) -> Delivered:
    """Do one unit of work. Raises Busy: then the queue tries it again.

    A deal that has ended by now goes only to the rest of a cohort that was begun. Raises TooManyCohorts instead of
    going on forever: Lambda allows this function to invoke itself (``RecursiveLoop``), so the bound is here.
    https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html
    """
    if unit.number >= settings.MOST_COHORTS:
        raise TooManyCohorts(unit.number)
    try:
        # The stream may be ahead of eventually consistent reads, and a missed deal is never announced again.
        deal = deals.get(table, unit.deal_id, consistent=True)
    except NoSuchDeal:
        return Delivered()
    if unit.kind in ("words", "price"):
        return Delivered(*alerts.deliver(table, queue, unit, deal, now, size))
    readers = cohorts.readers_of(table, unit, deal, size, now)
    if readers.done:
        return Delivered()
    if readers.following is not None and not readers.continued:
        queue.send([replace(unit, start=readers.following, number=unit.number + 1).to_json()])
        table.write(cohorts.remember(unit, "Continued"))  # a crash before this queues the next cohort twice, at worst
    news = messages.of_deal(deal, unit.kind, unit.correlation_id, unit.topic_name or None)
    later = dict.fromkeys(readers.daily, limits.shown_at(Pace.DAILY, now))
    composed = [messages.compose(news, name, later.get(name)) for name in readers.usernames]
    written = messages.insert(table, composed)
    if readers.marked:
        _finish(table, unit, readers, now)
    return Delivered(len(composed), written)


def _finish(table: Table, unit: Unit, readers: Readers, now: datetime) -> None:
    """Remember that a cohort is done; of a hot deal's, count its readers with it, once however often it comes."""
    if unit.kind != "hot":
        table.write(cohorts.remember(unit, "Done"))
        return
    with suppress(AlreadyExists):  # another delivery was first
        table.transact(cohorts.remember(unit, "Done", once=True), cohorts.count_told(unit, readers, now))
