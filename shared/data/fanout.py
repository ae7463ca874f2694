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
from shared.data import deals, keys, messages
from shared.data.queues import Queue
from shared.data.schema import USER_INDEX
from shared.data.table import MAX_ATTEMPTS, Projection, Table, update
from shared.errors import AlreadyExists, Busy, NoSuchDeal, Unavailable
from shared.models import BRAND, CATEGORIES, CATEGORY, Deal, Message, MessageKind, Status, Topic

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

    ``number`` counts the pages of a segment from 0.
    """

    deal_id: str
    kind: MessageKind
    segment: int = 0
    segments: int = 1
    number: int = 0
    start: Mapping[str, Any] | None = None

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
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"not a unit of work: {body[:200]}") from error


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the telling of a hot deal has got: users told so far, and whether that is all."""

    told: int
    finished: bool


def news_of(deal: Deal) -> list[Unit]:
    """The work that a new deal makes: its brand's watchers and its category's."""
    return [Unit(deal.deal_id, "brand"), Unit(deal.deal_id, "category")]


def alarm_of(deal: Deal, segments: int = settings.SCAN_SEGMENTS) -> list[Unit]:
    """The work that a hot deal makes: every user, in parallel segments."""
    return [Unit(deal.deal_id, "hot", segment, segments) for segment in range(segments)]


def deliver(table: Table, queue: Queue, unit: Unit, now: datetime, page: int = settings.READERS_PER_PAGE) -> int:
    """Do one unit of work; returns how many readers its page has. Raises Busy: then the queue tries it again.

    A deal that is gone or over by now is told to nobody.
    """
    try:
        # The stream may be ahead of eventually consistent reads, and a deal that is missed is never told of again.
        deal = deals.get(table, unit.deal_id, consistent=True)
    except NoSuchDeal:
        return 0
    if deal.status(now) is not Status.ACTIVE:
        _record(table, unit, told=0, last=not _is_continued(table, unit), now=now)
        return 0
    readers, following = _readers(table, deal, unit, page)
    if following is not None:
        _continue_once(table, queue, unit, following, now)
    subject = _subject(deal, unit.kind)
    insert(table, [messages.compose(deal, reader, unit.kind, subject, now) for reader in readers])
    _record(table, unit, told=len(readers), last=following is None, now=now)
    return len(readers)


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
    marker = _marker(unit)
    if _is_continued(table, unit):
        return
    queue.send([replace(unit, start=following, number=unit.number + 1).to_json()])
    table.write(
        update(
            marker,
            "SET Continued = :true, #type = :type, ExpiresAt = :expires",
            condition=None,  # the page's first delivery makes the marker; a repeat says the same again
            names={"#type": "Type"},
            values={":true": True, ":type": "FanOutPage", ":expires": _marker_expiry(now)},
            refused=None,
        )
    )


def _is_continued(table: Table, unit: Unit) -> bool:
    remembered = table.get(_marker(unit), consistent=True)
    return bool(remembered and remembered.get("Continued"))


def _record(table: Table, unit: Unit, *, told: int, last: bool, now: datetime) -> None:
    """Count a page of a hot deal's readers, once however often it is delivered."""
    if unit.kind != "hot":
        return
    counted = update(
        _marker(unit),
        "SET Counted = :true, #type = :type, ExpiresAt = :expires",
        condition="attribute_not_exists(Counted)",
        names={"#type": "Type"},
        values={":true": True, ":type": "FanOutPage", ":expires": _marker_expiry(now)},
        refused=AlreadyExists(),
    )
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
        table.transact(counted, tally)


def insert(table: Table, composed: Sequence[Message]) -> None:
    """Insert messages, and leave those that exist as they are. Raises Busy."""
    pending = list(composed)
    for attempt in range(MAX_ATTEMPTS):
        batches = [pending[start : start + BATCH] for start in range(0, len(pending), BATCH)]
        pending = []
        for start in range(0, len(batches), settings.PARALLEL_BATCHES):
            together = batches[start : start + settings.PARALLEL_BATCHES]
            for left in table.gather([partial(_insert_batch, table, batch) for batch in together]):
                pending += left
        if not pending:
            return
        table.wait(attempt)
    raise Busy("Writing messages was throttled for too long.")


def _insert_batch(table: Table, batch: Sequence[Message]) -> list[Message]:
    """Insert up to 25 messages in one request; returns those to be tried again. What exists is refused, rightly."""
    refusals = table.insert_batch([messages.to_item(message) for message in batch])
    left = []
    for message, refusal in zip(batch, refusals, strict=True):
        if refusal in _RETRIED:
            left.append(message)
        elif refusal not in (None, "DuplicateItem"):
            raise Unavailable(f"A message was refused: {refusal}")
    return left


def _marker(unit: Unit) -> keys.Key:
    start = json.dumps(unit.start, sort_keys=True) if unit.start else ""
    return keys.fan_out_page(unit.deal_id, unit.kind, unit.segment, start)


def _marker_expiry(now: datetime) -> int:
    return int((now + settings.MARKER_LIFETIME).timestamp())


def _subject(deal: Deal, kind: MessageKind) -> str:
    match kind:
        case "brand":
            return f"New from {deal.brand_name}: {deal.title}"
        case "category":
            return f"New in {CATEGORIES[deal.category]}: {deal.title}"
        case "hot":
            return f"Hot: {deal.title}"
