"""How far the telling of a hot deal has got: counters, one for each segment of all users."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from shared.data import item_types, keys
from shared.data.members.cohorts import Readers, Unit
from shared.dynamodb import damage
from shared.dynamodb.entities import Entity
from shared.dynamodb.table import Table
from shared.dynamodb.writes import Write, update
from shared.values import times
from shared.values.stored import stored


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the telling of a hot deal has got: users told so far, whether that is all, and when the last were.

    ``at``, None before anybody is told, is when the work on a segment's last cohort began. ``segments`` is in how many
    parts all users are read, 0 before the first is known, and ``segments_finished`` how many of these are told.
    """

    told: int
    finished: bool
    at: datetime | None = field(default=None, compare=False)
    segments: int = field(default=0, compare=False)
    segments_finished: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class _Segment:
    """The counts of a FanOut item: the cohorts and readers of one segment that were told, and when the last of them."""

    cohorts: int = field(metadata=stored("Pages", int))
    told: int = field(metadata=stored("Told", int))
    segments: int = field(metadata=stored("Segments", int))
    last_at: datetime = field(metadata=stored("LastAt", datetime))
    last_cohort: int | None = field(default=None, metadata=stored("LastPage", int))


_SEGMENT = Entity(_Segment)


def read(table: Table, deal_id: str) -> Progress:
    """How far the telling of a hot deal has got. A Query of one small partition."""
    segments = damage.readable(table.query(keys.fan_out(deal_id)), _SEGMENT.read)
    # A segment's last cohort knows how many there are; cohorts are written side by side, so it may be the first to end.
    complete = sum(segment.cohorts == segment.last_cohort for segment in segments)
    parts = segments[0].segments if segments else 0
    finished = bool(segments) and complete == parts
    last = max((segment.last_at for segment in segments), default=None)
    return Progress(sum(segment.told for segment in segments), finished, last, parts, complete)


def count(unit: Unit, readers: Readers, now: datetime) -> Write:
    """The write that counts a cohort's readers as told."""
    expression = "ADD Told :told, Pages :one SET #segments = :segments, #type = :type, LastAt = :now"
    values = {":told": len(readers.usernames), ":one": 1, ":segments": unit.segments, ":now": times.to_iso(now)}
    values |= {":type": item_types.FAN_OUT}
    if readers.following is None:
        expression, values = f"{expression}, LastPage = :last", values | {":last": unit.number + 1}
    return update(
        keys.fan_out_segment(unit.deal_id, unit.segment),
        expression,
        condition=None,  # the segment's first cohort makes the counter
        names={"#type": "Type", "#segments": "Segments"},
        values=values,
        refused=None,
    )
