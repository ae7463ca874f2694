"""Cohorts: groups of readers to notify of a deal, their markers, and the progress of a hot deal's fan-out.

A cohort is a run of a topic's watchers or of all users. Its marker fixes who is in it at the first read, and how far
the work has got, so a unit that is delivered twice repeats the same work. Progress is counted per segment of all users.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import Any, Literal, get_args

from shared import settings
from shared.data import keys
from shared.data.catalog import words
from shared.data.members import limits
from shared.dynamodb import damage
from shared.dynamodb.attributes import Entity, Item
from shared.dynamodb.schema import TTL_ATTRIBUTE, USER_INDEX, Key
from shared.dynamodb.table import Projection, Table
from shared.dynamodb.writes import Write, put_new, update, upsert
from shared.errors import AlreadyExists, Unavailable
from shared.models.catalog import BRAND, CATEGORY, Deal, Status, Topic
from shared.models.members import Pace
from shared.models.messages import DealNews
from shared.values import times
from shared.values.stored import stored

_READER = Projection.of("Username", "HotPace")
_WATCHER = Projection.of("PK", "SK", *limits.ATTRIBUTES)
_ACCOUNT = Projection.of("PK", "SK", "Username", "CreatedAt")


@dataclass(frozen=True, slots=True)
class Unit:
    """One cohort of readers to notify of a deal: those after ``start`` in a watch partition or in a segment of all
    users.

    ``topic`` and ``topic_name`` are the slug and name that the watchers watch, as announced: an editor may move the
    deal later. ``number`` counts a segment's cohorts from 0. ``correlation_id`` names the request that caused the work,
    and ``written_at`` is when that request wrote the deal, in epoch seconds. Kind ``words`` notifies owners of matching
    word alerts, ``price`` owners of alerts on the product. ``others`` are more deals with the same news, from
    one batch of the stream.
    """

    deal_id: str
    kind: DealNews
    segment: int = 0
    segments: int = 1
    number: int = 0
    start: Mapping[str, Any] | None = None
    correlation_id: str | None = None
    written_at: float | None = None
    topic: str = ""
    topic_name: str = ""
    others: tuple[str, ...] = ()

    @property
    def deal_ids(self) -> tuple[str, ...]:
        """All deals that the unit is about."""
        return self.deal_id, *self.others

    def of_each(self) -> list[Unit]:
        """A unit for each of the deals."""
        return [replace(self, deal_id=deal_id, others=()) for deal_id in self.deal_ids]

    def to_json(self) -> str:
        """Write the unit as a queue message's body."""
        return json.dumps({_in_json(field.name): getattr(self, field.name) for field in fields(self)})

    @classmethod
    def from_json(cls, body: str) -> Unit:
        """Read a unit from a queue message's body. Raises ValueError for any other body."""
        try:
            given = json.loads(body)
            given = {"others": (), **given}  # 1.1.0's units have one deal
            unit = cls(**{field.name: given[_in_json(field.name)] for field in fields(cls)})
            unit = replace(unit, others=tuple(unit.others))
        except (KeyError, TypeError) as error:
            raise ValueError(f"not a unit of work: {body[:200]}") from error
        if unit.kind not in get_args(DealNews):
            raise ValueError(f"no kind of work: {unit.kind!r}")
        return unit


def _in_json(field: str) -> str:
    """A field's name in camelCase."""
    first, *others = field.split("_")
    return first + "".join(map(str.title, others))


@dataclass(frozen=True, slots=True)
class Readers:
    """A cohort: its readers, the daily ones among them, where the next cohort starts, and the work already done."""

    usernames: Sequence[str]
    following: Mapping[str, Any] | None
    daily: Collection[str] = ()
    marked: bool = True
    continued: bool = False
    done: bool = False


def has_readers(table: Table, unit: Unit) -> bool:
    """Whether anyone watches a unit's topic. One Query."""
    return bool(list(table.query(keys.watchers(_topic(unit)), limit=1, projection=_WATCHER)))


def _topic(unit: Unit) -> Topic:
    return Topic(BRAND if unit.kind == "brand" else CATEGORY, unit.topic)


def readers_of(table: Table, unit: Unit, deal: Deal, size: int, now: datetime) -> Readers:
    """The cohort that an earlier delivery of the unit claimed, or else one read and claimed now."""
    return _claimed(table, unit) or _claim(table, unit, deal, size, now)


def _claimed(table: Table, unit: Unit) -> Readers | None:
    """The cohort in the unit's marker, without readers who have left; None if there is no marker."""
    marker = table.get(_marker(unit), consistent=True)
    if marker is None:
        return None
    done, continued = "Done" in marker, "Continued" in marker
    there = [] if done else _still_there(table, marker)
    return Readers(there, marker.get("Following"), marker.get("Daily", ()), continued=continued, done=done)


def _claim(table: Table, unit: Unit, deal: Deal, size: int, now: datetime) -> Readers:
    """Read a cohort and write its marker. If another delivery was first, use the other's marker."""
    paces, following = _read(table, unit, deal, size) if deal.status(now) is Status.ACTIVE else ({}, None)
    readers = Readers(list(paces), following, [name for name, pace in paces.items() if pace is Pace.DAILY])
    if following is None and unit.kind != "hot":
        return replace(readers, marked=False)
    marker = {
        **_marker(unit),
        "Type": keys.FAN_OUT_PAGE,
        "Readers": readers.usernames,
        "Daily": readers.daily,
        "Following": following,
        "ClaimedAt": times.to_iso(now),
        TTL_ATTRIBUTE: int((now + settings.MARKER_LIFETIME).timestamp()),
    }
    try:
        table.write(put_new(marker, refused=AlreadyExists()))
    except AlreadyExists:
        claimed = _claimed(table, unit)
        assert claimed is not None  # noqa: S101  # it is there, and stays for weeks
        return claimed
    return readers


def remember(unit: Unit, what: Literal["Continued", "Done"], *, once: bool = False) -> Write:
    """The write that records a cohort's state. Refused with Unavailable if its marker is gone.

    With ``once`` it is refused with AlreadyExists, also if the state is recorded already.
    """
    return update(
        _marker(unit),
        f"SET {what} = :true" + (" REMOVE Readers, Daily" if what == "Done" else ""),  # the names are not needed then
        condition="attribute_exists(PK)" + (f" AND attribute_not_exists({what})" if once else ""),
        values={":true": True},
        refused=AlreadyExists() if once else Unavailable("A cohort's marker is gone."),
    )


def _still_there(table: Table, marker: Item) -> list[str]:
    """The cohort's readers whose accounts are at least as old as its claim. BatchGetItem, 100 a request.

    A user who is being removed has no such time. A younger account belongs to someone who took a freed name, or who
    signed up in the second of the claim. Skipping the latter is harmless: the news is older than the account.
    """
    accounts = table.get_many([keys.user(name) for name in marker["Readers"]], consistent=True, projection=_ACCOUNT)
    return [each["Username"] for each in accounts if each.get("CreatedAt", "~") <= marker["ClaimedAt"]]


def _read(table: Table, unit: Unit, deal: Deal, size: int) -> tuple[dict[str, Pace], Mapping[str, Any] | None]:
    """The readers of one cohort who want the deal, each with a pace, and where the next cohort starts, or None."""
    if unit.kind == "hot":
        part, parts = unit.segment, unit.segments
        items, following = table.scan(
            index=USER_INDEX, segment=part, segments=parts, start=unit.start, limit=size, projection=_READER
        )
        paces = damage.readable(items, _reader)
        return {name: pace for name, pace in paces if pace is not Pace.NEVER}, following
    after = unit.start["SK"] if unit.start else None
    items = list(table.query(keys.watchers(_topic(unit)), after=after, limit=size, projection=_WATCHER))
    found_by = words.of_deal(deal)
    watching = damage.readable(items, lambda item: (keys.id_in(item["SK"]), limits.in_item(item)))
    wanted = {name: within.pace for name, within in watching if limits.wants(within, deal, found_by)}
    return wanted, {"SK": items[-1]["SK"]} if len(items) == size else None


def _reader(item: Item) -> tuple[str, Pace]:
    """A user's name, and the pace of notifications of hot deals."""
    return damage.attribute(item, "Username", str), Pace(item.get("HotPace", Pace.AT_ONCE))


def _marker(unit: Unit) -> Key:
    start = json.dumps(unit.start, sort_keys=True) if unit.start else ""
    return keys.fan_out_page(unit.deal_id, unit.kind, unit.segment, start)


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a hot deal's fan-out: users notified so far, whether it is finished, and when it last moved.

    ``at`` is when the work on a segment's last cohort began, None before the first. ``segments`` is how many segments
    all users are read in (0 before the first cohort), ``segments_finished`` how many of them are done.
    """

    notified: int
    finished: bool
    at: datetime | None = field(default=None, compare=False)
    segments: int = field(default=0, compare=False)
    segments_finished: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class _Segment:
    """A FanOut item's counts: a segment's cohorts and readers notified so far, and the time of the last."""

    cohorts: int = field(metadata=stored("Pages", int))
    notified: int = field(metadata=stored("Told", int))
    segments: int = field(metadata=stored("Segments", int))
    last_at: datetime = field(metadata=stored("LastAt", datetime))
    last_cohort: int | None = field(default=None, metadata=stored("LastPage", int))


_SEGMENT = Entity(_Segment)


def progress_of(table: Table, deal_id: str) -> Progress:
    """The progress of a hot deal's fan-out. One Query of a small partition."""
    segments = damage.readable(table.query(keys.fan_out(deal_id)), _SEGMENT.read)
    # Cohorts are written in parallel, so the last one, which knows how many there are, may be the first to end.
    complete = sum(segment.cohorts == segment.last_cohort for segment in segments)
    parts = segments[0].segments if segments else 0
    finished = bool(segments) and complete == parts
    last = max((segment.last_at for segment in segments), default=None)
    return Progress(sum(segment.notified for segment in segments), finished, last, parts, complete)


def count_told(unit: Unit, readers: Readers, now: datetime) -> Write:
    """The write that counts a cohort's readers as notified."""
    left = {"Type": keys.FAN_OUT, "Segments": unit.segments, "LastAt": times.to_iso(now)}
    if readers.following is None:
        left |= {"LastPage": unit.number + 1}
    added = {"Told": len(readers.usernames), "Pages": 1}
    key = keys.fan_out_segment(unit.deal_id, unit.segment)
    return upsert(key, left, added, because="the segment's first cohort creates the counter")
