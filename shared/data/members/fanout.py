"""The fan-out: notify a brand's watchers, a category's watchers, or every user of a deal, one cohort a unit of work.

A crash or a second delivery can repeat a step, but never lose or double a message:

1. read the cohort, and write a marker with its members and the start of the next cohort. From then on the marker
   decides: users who sign up or leave move neither. A unit may be redelivered weeks later and usernames are reused, so
   users who have left since are skipped
2. queue the next cohort, so that cohorts are written in parallel, and record that in the marker
3. insert the messages, 25 at a time; the table refuses those that exist
4. record in the marker that the cohort is done, and in the same transaction count a hot deal's readers once

The last cohort of a topic's watchers has no next cohort and isn't counted, so it needs no marker: a second delivery
notifies those who watch then.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

from shared import settings
from shared.data.catalog import deals
from shared.data.members import cohorts, limits, messages, several
from shared.data.members.cohorts import Readers, Unit
from shared.dynamodb.table import Table
from shared.errors import AlreadyExists, NoSuchDeal, TooManyCohorts
from shared.models.catalog import CATEGORIES, Deal
from shared.models.members import Pace
from shared.models.messages import DealNews
from shared.services import Queue


@dataclass(frozen=True, slots=True)
class Delivered:
    """The result of one unit of work: its readers, and how many of them got a new message."""

    readers: int = 0
    written: int = 0


def news_of(deal: Deal, written_at: datetime | None = None) -> list[Unit]:
    """The units of a new deal: its brand's watchers and its category's watchers."""
    first = _first(deal, "brand", written_at)
    return [
        replace(first, topic=deal.brand, topic_name=deal.brand_name),
        replace(first, kind="category", topic=deal.category, topic_name=CATEGORIES[deal.category]),
    ]


def alerts_of(deal: Deal, kind: DealNews, written_at: datetime | None = None) -> list[Unit]:
    """The units of a deal for owners of alerts, of kind ``words`` or ``price``."""
    return [_first(deal, kind, written_at)]


def alarm_of(deal: Deal, segments: int = settings.SCAN_SEGMENTS, written_at: datetime | None = None) -> list[Unit]:
    """The units of a hot deal: every user, in parallel segments."""
    first = replace(_first(deal, "hot", written_at), segments=segments)
    return [replace(first, segment=segment) for segment in range(segments)]


def _first(deal: Deal, kind: DealNews, written_at: datetime | None) -> Unit:
    seconds = None if written_at is None else written_at.timestamp()
    return Unit(deal.deal_id, kind, correlation_id=deal.correlation_id, written_at=seconds)


def deliver(
    table: Table, queue: Queue, unit: Unit, now: datetime, size: int = settings.READERS_PER_COHORT
) -> Delivered:
    """Do one unit of work. Raises Busy, upon which the queue retries it.

    A deal that has ended goes only to the readers of a cohort that has its marker. Raises TooManyCohorts: Lambda allows
    this function to invoke itself (``RecursiveLoop``), so this is what ends a runaway loop.
    https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html
    """
    if unit.number >= settings.MOST_COHORTS:
        raise TooManyCohorts(unit.number)
    if unit.others or unit.kind in ("words", "price"):
        return Delivered(*several.deliver(table, queue, unit, now, size))
    try:
        # The stream may be ahead of eventually consistent reads, and a deal missed here is never announced again.
        deal = deals.get(table, unit.deal_id, consistent=True)
    except NoSuchDeal:
        return Delivered()
    readers = cohorts.readers_of(table, unit, deal, size, now)
    if readers.done:
        return Delivered()
    if readers.following is not None and not readers.continued:
        queue.send([replace(unit, start=readers.following, number=unit.number + 1).to_json()])
        table.write(cohorts.remember(unit, "Continued"))  # a crash before this only queues the next cohort twice
    news = messages.of_deal(deal, unit.kind, unit.correlation_id, unit.topic_name or None)
    later = dict.fromkeys(readers.daily, limits.shown_at(Pace.DAILY, now))
    composed = [messages.compose(news, name, later.get(name)) for name in readers.usernames]
    written = messages.insert(table, composed)
    if readers.marked:
        _finish(table, unit, readers, now)
    return Delivered(len(composed), written)


def _finish(table: Table, unit: Unit, readers: Readers, now: datetime) -> None:
    """Record that a cohort is done. For a hot deal, count its readers in the same transaction, once."""
    if unit.kind != "hot":
        table.write(cohorts.remember(unit, "Done"))
        return
    with suppress(AlreadyExists):  # another delivery was first
        table.transact(cohorts.remember(unit, "Done", once=True), cohorts.count_told(unit, readers, now))
