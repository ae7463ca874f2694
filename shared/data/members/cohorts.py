"""Cohorts: the units of work in which readers are notified of a deal, the memory of each, and how far a hot deal has
got.

A cohort is some readers in a row, of a topic's watchers or of all users. Its marker fixes who is in it when it is first
read, and remembers how far the work has got: so a unit that comes twice does the same work, and no other. The progress
of a hot deal is counters, one for each segment of all users.
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
from shared.dynamodb.writes import Write, put_new, update
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

    ``topic`` and ``topic_name`` are the slug and the name of what the watchers watch, as the deal was announced: an
    editor may move it meanwhile. ``number`` counts the cohorts of a segment from 0. ``correlation_id`` names the
    request that all this follows from; ``written_at`` is when that wrote the deal, in epoch seconds. The
    kind ``words`` notifies owners of matching word alerts, ``price`` owners of alerts on the product.
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

    def to_json(self) -> str:
        """The unit as the body of a queue's message."""
        return json.dumps({_in_json(field.name): getattr(self, field.name) for field in fields(self)})

    @classmethod
    def from_json(cls, body: str) -> Unit:
        """The unit that a queue's message asks for. Raises ValueError for any other body."""
        try:
            given = json.loads(body)
            unit = cls(**{field.name: given[_in_json(field.name)] for field in fields(cls)})
        except (KeyError, TypeError) as error:
            raise ValueError(f"not a unit of work: {body[:200]}") from error
        if unit.kind not in get_args(DealNews):
            raise ValueError(f"no kind of work: {unit.kind!r}")
        return unit


def _in_json(field: str) -> str:
    """The name of a field in camelCase."""
    first, *others = field.split("_")
    return first + "".join(map(str.title, others))


@dataclass(frozen=True, slots=True)
class Readers:
    """The readers of a cohort, those of them with daily messages, where the next one starts, and what has been done."""

    usernames: Sequence[str]
    following: Mapping[str, Any] | None
    daily: Collection[str] = ()
    marked: bool = True
    continued: bool = False
    done: bool = False


def readers_of(table: Table, unit: Unit, deal: Deal, size: int, now: datetime) -> Readers:
    """The cohort of a unit: as an earlier delivery claimed it, else read and claimed now."""
    return _claimed(table, unit) or _claim(table, unit, deal, size, now)


def _claimed(table: Table, unit: Unit) -> Readers | None:
    """The cohort as an earlier delivery recorded it, without those who have left; None if no delivery did."""
    marker = table.get(_marker(unit), consistent=True)
    if marker is None:
        return None
    done, continued = "Done" in marker, "Continued" in marker
    there = [] if done else _still_there(table, marker)
    return Readers(there, marker.get("Following"), marker.get("Daily", ()), continued=continued, done=done)


def _claim(table: Table, unit: Unit, deal: Deal, size: int, now: datetime) -> Readers:
    """Read a cohort, and fix who is in it. Of two deliveries at once, both use what the first one found."""
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
    """The write that records the state of a cohort. Refused with Unavailable if it is claimed no more.

    With ``once`` refused with AlreadyExists, also if that is remembered already.
    """
    return update(
        _marker(unit),
        f"SET {what} = :true" + (" REMOVE Readers, Daily" if what == "Done" else ""),  # the names are not needed then
        condition="attribute_exists(PK)" + (f" AND attribute_not_exists({what})" if once else ""),
        values={":true": True},
        refused=AlreadyExists() if once else Unavailable("A cohort's marker is gone."),
    )


def _still_there(table: Table, marker: Item) -> list[str]:
    """The readers of a cohort whose accounts are as old as its claim. BatchGetItem, 100 a request.

    One that is being removed has no such time. A younger account is another owner's of the same name, or of a user
    who signed up in the second of the claim: that is no harm, as the news is older than the account.
    """
    accounts = table.get_many([keys.user(name) for name in marker["Readers"]], consistent=True, projection=_ACCOUNT)
    return [each["Username"] for each in accounts if each.get("CreatedAt", "~") <= marker["ClaimedAt"]]


def _read(table: Table, unit: Unit, deal: Deal, size: int) -> tuple[dict[str, Pace], Mapping[str, Any] | None]:
    """The readers of one cohort who want the deal, when to notify each, and where the next cohort starts, or None."""
    if unit.kind == "hot":
        part, parts = unit.segment, unit.segments
        items, following = table.scan(
            index=USER_INDEX, segment=part, segments=parts, start=unit.start, limit=size, projection=_READER
        )
        paces = damage.readable(items, _reader)
        return {name: pace for name, pace in paces if pace is not Pace.NEVER}, following
    topic = Topic(BRAND if unit.kind == "brand" else CATEGORY, unit.topic)
    after = unit.start["SK"] if unit.start else None
    items = list(table.query(keys.watchers(topic), after=after, limit=size, projection=_WATCHER))
    found_by = words.of_deal(deal)
    watching = damage.readable(items, lambda item: (keys.id_in(item["SK"]), limits.in_item(item)))
    wanted = {name: within.pace for name, within in watching if limits.wants(within, deal, found_by)}
    return wanted, {"SK": items[-1]["SK"]} if len(items) == size else None


def _reader(item: Item) -> tuple[str, Pace]:
    """A user, and when the user is notified of hot deals."""
    return damage.attribute(item, "Username", str), Pace(item.get("HotPace", Pace.AT_ONCE))


def _marker(unit: Unit) -> Key:
    start = json.dumps(unit.start, sort_keys=True) if unit.start else ""
    return keys.fan_out_page(unit.deal_id, unit.kind, unit.segment, start)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the fan-out of a hot deal has got: users notified so far, whether that is all, and when the last were.

    ``at``, None before the first is notified, is when the work on a segment's last cohort began. ``segments`` is in how
    many parts all users are read, 0 before the first is known, and ``segments_finished`` how many of these are done.
    """

    notified: int
    finished: bool
    at: datetime | None = field(default=None, compare=False)
    segments: int = field(default=0, compare=False)
    segments_finished: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class _Segment:
    """The counts of a FanOut item: the cohorts and readers of one segment that were notified, and when the last of
    them."""

    cohorts: int = field(metadata=stored("Pages", int))
    notified: int = field(metadata=stored("Told", int))
    segments: int = field(metadata=stored("Segments", int))
    last_at: datetime = field(metadata=stored("LastAt", datetime))
    last_cohort: int | None = field(default=None, metadata=stored("LastPage", int))


_SEGMENT = Entity(_Segment)


def progress_of(table: Table, deal_id: str) -> Progress:
    """How far the fan-out of a hot deal has got. A Query of one small partition."""
    segments = damage.readable(table.query(keys.fan_out(deal_id)), _SEGMENT.read)
    # A segment's last cohort knows how many there are; cohorts are written side by side, so it may be the first to end.
    complete = sum(segment.cohorts == segment.last_cohort for segment in segments)
    parts = segments[0].segments if segments else 0
    finished = bool(segments) and complete == parts
    last = max((segment.last_at for segment in segments), default=None)
    return Progress(sum(segment.notified for segment in segments), finished, last, parts, complete)


def count_told(unit: Unit, readers: Readers, now: datetime) -> Write:
    """The write that counts a cohort's readers as notified."""
    expression = "ADD Told :told, Pages :one SET #segments = :segments, #type = :type, LastAt = :now"
    values = {":told": len(readers.usernames), ":one": 1, ":segments": unit.segments, ":now": times.to_iso(now)}
    values |= {":type": keys.FAN_OUT}
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
