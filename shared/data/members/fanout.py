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

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial

from shared import settings
from shared.data import item_types, keys
from shared.data.catalog import deals
from shared.data.members import cohorts, messages
from shared.data.members.cohorts import Readers, Unit
from shared.dynamodb.table import Table
from shared.dynamodb.writes import update
from shared.errors import AlreadyExists, Busy, NoSuchDeal, TooManyCohorts, Unavailable
from shared.models.catalog import Deal
from shared.models.messages import Message
from shared.sqs import Queue
from shared.values import times

BATCH = 25
"""Statements one BatchExecuteStatement takes."""

_RETRIED = {
    "ThrottlingError", "ProvisionedThroughputExceeded", "RequestLimitExceeded", "InternalServerError",
    "TransactionConflict",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Delivered:
    """The result of one unit of work: its cohort's readers, and how many of them had no message of the deal yet."""

    readers: int = 0
    written: int = 0


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the telling of a hot deal has got: users told so far, whether that is all, and about when the last were.

    ``at`` is when the work on a segment's last cohort began, so it is a little early. It is None before anybody is
    told. ``segments`` is in how many parts all users are read, 0 before the first of them is known, and
    ``segments_finished`` how many of these are told.
    """

    told: int
    finished: bool
    at: datetime | None = field(default=None, compare=False)
    segments: int = field(default=0, compare=False)
    segments_finished: int = field(default=0, compare=False)


def news_of(deal: Deal, written_at: datetime | None = None) -> list[Unit]:
    """The work that a new deal makes: its brand's watchers and its category's."""
    brand = Unit(deal.deal_id, "brand", correlation_id=deal.correlation_id, written_at=_seconds(written_at))
    return [brand, replace(brand, kind="category")]


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
    readers = cohorts.readers_of(table, unit, deal, size, now)
    if readers.done:
        return Delivered()
    if readers.following is not None and not readers.continued:
        queue.send([replace(unit, start=readers.following, number=unit.number + 1).to_json()])
        table.write(cohorts.remember(unit, "Continued"))  # a crash before this queues the next cohort twice, at worst
    announcement = messages.of_deal(deal, unit.kind, unit.correlation_id)
    written = insert(table, [messages.compose(announcement, username, now) for username in readers.usernames])
    if readers.marked:
        _finish(table, unit, readers, now)
    return Delivered(len(readers.usernames), written)


def progress(table: Table, deal_id: str) -> Progress:
    """How far the telling of a hot deal has got. A Query of one small partition."""
    segments = list(table.query(keys.fan_out(deal_id)))
    # A segment's last cohort knows how many there are; cohorts are written side by side, so it may be the first to end.
    complete = sum(segment["Pages"] == segment.get("LastPage") for segment in segments)
    parts = segments[0]["Segments"] if segments else 0
    finished = bool(segments) and complete == parts
    times_told = [times.from_iso(segment["LastAt"]) for segment in segments]
    told = sum(segment["Told"] for segment in segments)
    return Progress(told, finished, max(times_told, default=None), parts, complete)


def _finish(table: Table, unit: Unit, readers: Readers, now: datetime) -> None:
    """Remember that a cohort is done; of a hot deal's, count its readers with it, once however often it comes."""
    if unit.kind != "hot":
        table.write(cohorts.remember(unit, "Done"))
        return
    last = readers.following is None
    tally = update(
        keys.fan_out_segment(unit.deal_id, unit.segment),
        "ADD Told :told, Pages :one SET #segments = :segments, #type = :type, LastAt = :now"
        + (", LastPage = :last" if last else ""),
        condition=None,  # the segment's first cohort makes the counter
        names={"#type": "Type", "#segments": "Segments"},
        values={
            ":told": len(readers.usernames),
            ":one": 1,
            ":segments": unit.segments,
            ":type": item_types.FAN_OUT,
            ":now": times.to_iso(now),
        }
        | ({":last": unit.number + 1} if last else {}),
        refused=None,
    )
    with suppress(AlreadyExists):  # another delivery counted it meanwhile
        once = "attribute_exists(PK) AND attribute_not_exists(Done)"
        table.transact(cohorts.remember(unit, "Done", once, refused=AlreadyExists()), tally)


class _Throttled(Exception):  # it is no error, but a reason to try again
    """Some messages of requests that succeeded are to be tried again."""


def insert(table: Table, composed: Sequence[Message]) -> int:
    """Insert messages, and leave those that exist as they are; returns how many were new.

    Raises Busy where messages, or whole requests, were throttled for too long: then some were not inserted.
    """
    pending = list(composed)
    written = 0

    def once() -> None:
        nonlocal pending, written
        batches = [pending[start : start + BATCH] for start in range(0, len(pending), BATCH)]
        throttled: list[Message] = []
        for start in range(0, len(batches), settings.PARALLEL_BATCHES):
            together = batches[start : start + settings.PARALLEL_BATCHES]
            for new, left in table.gather([partial(_insert_batch, table, batch) for batch in together]):
                written += new
                throttled += left
        pending = throttled
        if pending:
            raise _Throttled

    table.retry(once, when=_Throttled, gave_up=Busy("Writing messages was throttled for too long."))
    return written


def _insert_batch(table: Table, batch: Sequence[Message]) -> tuple[int, list[Message]]:
    """Insert up to 25 messages in one request; returns how many were new, and those to be tried again.

    What exists is refused, rightly.
    """
    refusals = table.insert_batch([messages.to_item(message) for message in batch])
    left = []
    for message, refusal in zip(batch, refusals, strict=True):
        if refusal in _RETRIED:
            left.append(message)
        elif refusal not in (None, "DuplicateItem"):
            raise Unavailable(f"A message was refused: {refusal}")
    return refusals.count(None), left


def _seconds(when: datetime | None) -> float | None:
    return None if when is None else when.timestamp()
