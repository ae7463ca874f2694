"""Patterns 21-23: telling readers of a deal - a brand's watchers, a category's watchers, or every user.

A unit of work is one page of readers. Its continuation is queued before its messages are written, so pages are written
side by side and nothing depends on how long one function may run. Everything is done in an order that a crash, or the
queue delivering a unit twice, can only repeat and never lose or double:

1. the page is read, and its continuation queued; then a marker remembers that it was queued
2. the page's messages are inserted, 25 at a time; those that exist are refused by the table and left as they are
3. for a hot deal, the page is counted, in one transaction with the marker, so it is counted once
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

from shared import settings
from shared.data import keys
from shared.data.catalog import deals
from shared.data.members import messages
from shared.dynamodb.schema import USER_INDEX, Key
from shared.dynamodb.table import MAX_ATTEMPTS, Projection, Table
from shared.dynamodb.writes import Write, update
from shared.errors import AlreadyExists, Busy, DealsError, NoSuchDeal, Unavailable
from shared.models import BRAND, CATEGORY, Deal, DealNews, Message, Status, Topic
from shared.sqs import Queue

BATCH = 25
"""Statements one BatchExecuteStatement takes."""

_READER = Projection.of("Username")
_WATCHER = Projection.of("Username", "SK")
_RETRIED = {
    "ThrottlingError", "ProvisionedThroughputExceeded", "RequestLimitExceeded", "InternalServerError",
    "TransactionConflict",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Unit:
    """One page of readers to tell of a deal: those after ``start`` in a watch partition or in a segment of all users.

    ``number`` counts the pages of a segment from 0. ``correlation_id`` names the request that all this follows from;
    ``written_at`` is when that wrote the deal, in epoch seconds.
    """

    deal_id: str
    kind: DealNews
    segment: int = 0
    segments: int = 1
    number: int = 0
    start: Mapping[str, Any] | None = None
    correlation_id: str | None = None
    written_at: float | None = None

    def to_json(self) -> str:
        """The unit as the body of a queue's message."""
        return json.dumps(
            {
                "dealId": self.deal_id,
                "kind": self.kind,
                "segment": self.segment,
                "segments": self.segments,
                "number": self.number,
                "start": self.start,
                "correlationId": self.correlation_id,
                "writtenAt": self.written_at,
            }
        )

    @classmethod
    def from_json(cls, body: str) -> Unit:
        """The unit that a queue's message asks for. Raises ValueError for a body that is none."""
        try:
            fields = json.loads(body)
            kind = fields["kind"]
            if kind not in ("brand", "category", "hot"):
                raise ValueError(f"no kind of message: {kind!r}")
            return cls(
                deal_id=str(fields["dealId"]),
                kind=kind,
                segment=int(fields["segment"]),
                segments=int(fields["segments"]),
                number=int(fields["number"]),
                start=fields["start"],
                # A unit that an earlier release queued has neither.
                correlation_id=fields.get("correlationId"),
                written_at=fields.get("writtenAt"),
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"not a unit of work: {body[:200]}") from error


@dataclass(frozen=True, slots=True)
class Delivered:
    """What has come of one unit of work: its page's readers, and how many of them had no message of the deal yet."""

    readers: int = 0
    written: int = 0


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the telling of a hot deal has got: users told so far, and whether that is all."""

    told: int
    finished: bool


def news_of(deal: Deal, written_at: datetime | None = None) -> list[Unit]:
    """The work that a new deal makes: its brand's watchers and its category's."""
    brand = Unit(deal.deal_id, "brand", correlation_id=deal.correlation_id, written_at=_seconds(written_at))
    return [brand, replace(brand, kind="category")]


def alarm_of(deal: Deal, segments: int = settings.SCAN_SEGMENTS, written_at: datetime | None = None) -> list[Unit]:
    """The work that a hot deal makes: every user, in parallel segments."""
    first = Unit(deal.deal_id, "hot", 0, segments, correlation_id=deal.correlation_id, written_at=_seconds(written_at))
    return [replace(first, segment=segment) for segment in range(segments)]


def deliver(table: Table, queue: Queue, unit: Unit, now: datetime, page: int = settings.READERS_PER_PAGE) -> Delivered:
    """Do one unit of work. Raises Busy: then the queue tries it again.

    A deal that is gone or over by now is told to nobody.
    """
    try:
        # The stream may be ahead of eventually consistent reads, and a deal that is missed is never told of again.
        deal = deals.get(table, unit.deal_id, consistent=True)
    except NoSuchDeal:
        return Delivered()
    if deal.status(now) is not Status.ACTIVE:
        _record(table, unit, told=0, last=not _is_continued(table, unit), now=now)
        return Delivered()
    readers, following = _readers(table, deal, unit, page)
    if following is not None:
        _continue_once(table, queue, unit, following, now)
    announcement = messages.of_deal(deal, unit.kind, unit.correlation_id)
    composed = [messages.compose(announcement, reader, now) for reader in readers]
    written = insert(table, composed)
    _record(table, unit, told=len(readers), last=following is None, now=now)
    return Delivered(len(readers), written)


def progress(table: Table, deal_id: str) -> Progress:
    """How far the telling of a hot deal has got. A Query of one small partition."""
    segments = list(table.query(keys.fan_out(deal_id)))
    # A segment's last page knows how many there are; pages are written side by side, so it may be the first to end.
    complete = [segment for segment in segments if segment["Pages"] == segment.get("LastPage")]
    finished = bool(segments) and len(complete) == segments[0]["Segments"]
    return Progress(sum(segment["Told"] for segment in segments), finished)


def _readers(table: Table, deal: Deal, unit: Unit, page: int) -> tuple[list[str], Mapping[str, Any] | None]:
    """One page of usernames, and where the next page starts, or None."""
    if unit.kind == "hot":
        items, following = table.scan(
            index=USER_INDEX,
            segment=unit.segment,
            segments=unit.segments,
            start=unit.start,
            limit=page,
            projection=_READER,
        )
        return [item["Username"] for item in items], following
    topic = Topic(BRAND, deal.brand) if unit.kind == "brand" else Topic(CATEGORY, deal.category)
    after = unit.start["SK"] if unit.start else None
    items = list(table.query(keys.watchers(topic), after=after, limit=page, projection=_WATCHER))
    return [item["Username"] for item in items], {"SK": items[-1]["SK"]} if len(items) == page else None


def _continue_once(table: Table, queue: Queue, unit: Unit, following: Mapping[str, Any], now: datetime) -> None:
    """Queue the next page, unless an earlier delivery of this unit did. A crash in between queues it twice at worst."""
    if _is_continued(table, unit):
        return
    queue.send([replace(unit, start=following, number=unit.number + 1).to_json()])
    table.write(_mark(unit, "Continued", now))


def _is_continued(table: Table, unit: Unit) -> bool:
    remembered = table.get(_marker(unit), consistent=True)
    return bool(remembered and remembered.get("Continued"))


def _record(table: Table, unit: Unit, *, told: int, last: bool, now: datetime) -> None:
    """Count a page of a hot deal's readers, once however often it is delivered."""
    if unit.kind != "hot":
        return
    tally = update(
        keys.fan_out_segment(unit.deal_id, unit.segment),
        "ADD Told :told, Pages :one SET #segments = :segments, #type = :type" + (", LastPage = :last" if last else ""),
        condition=None,  # the segment's first page makes the counter
        names={"#type": "Type", "#segments": "Segments"},
        values={":told": told, ":one": 1, ":segments": unit.segments, ":type": "FanOut"}
        | ({":last": unit.number + 1} if last else {}),
        refused=None,
    )
    with suppress(AlreadyExists):  # an earlier delivery counted it
        counted = _mark(unit, "Counted", now, condition="attribute_not_exists(Counted)", refused=AlreadyExists())
        table.transact(counted, tally)


def insert(table: Table, composed: Sequence[Message]) -> int:
    """Insert messages, and leave those that exist as they are; returns how many were new. Raises Busy."""
    pending = list(composed)
    written = 0
    for attempt in range(MAX_ATTEMPTS):
        batches = [pending[start : start + BATCH] for start in range(0, len(pending), BATCH)]
        pending = []
        for start in range(0, len(batches), settings.PARALLEL_BATCHES):
            together = batches[start : start + settings.PARALLEL_BATCHES]
            for new, left in table.gather([partial(_insert_batch, table, batch) for batch in together]):
                written += new
                pending += left
        if not pending:
            return written
        table.wait(attempt)
    raise Busy("Writing messages was throttled for too long.")


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


def _mark(
    unit: Unit, done: str, now: datetime, condition: str | None = None, refused: DealsError | None = None
) -> Write:
    """Remember what has been done of a page: that it is continued, or counted."""
    return update(
        _marker(unit),
        f"SET {done} = :true, #type = :type, ExpiresAt = :expires",
        condition=condition,  # without one, the page's first delivery makes the marker; a repeat says the same again
        names={"#type": "Type"},
        values={":true": True, ":type": "FanOutPage", ":expires": int((now + settings.MARKER_LIFETIME).timestamp())},
        refused=refused,
    )


def _marker(unit: Unit) -> Key:
    start = json.dumps(unit.start, sort_keys=True) if unit.start else ""
    return keys.fan_out_page(unit.deal_id, unit.kind, unit.segment, start)


def _seconds(when: datetime | None) -> float | None:
    return None if when is None else when.timestamp()
