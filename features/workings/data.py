"""Items of stages that show their work: traces of forms, and counts of the items of each type.

A trace is the cost of a form and of the work that followed, kept for ten minutes under its own id. Functions of the
stream and the queue don't know traces: they file their work under the key of the item that caused it, and a trace finds
it by the keys that the form wrote. So nothing is lost if the stream is faster than the trace.

A Scan that stops early counts the items.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from features.workings.items import TRACE, TRACE_STEP, trace, trace_step, trace_steps
from shared.data import keys
from shared.data.entity import SCRATCH
from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import INDEXES, KEYS, PARTITION_KEY, TTL_ATTRIBUTE
from shared.dynamodb.table import Projection, Table
from shared.dynamodb.writes import ABSENT, put, put_over
from shared.errors import AlreadyExists

KEPT = timedelta(minutes=10)

Drawing = Mapping[str, Any]
"""A drawing of a form's cost, as JSON values."""


def keep(table: Table, trace_id: str, drawing: Drawing, now: datetime) -> None:
    """Store a form's drawing. One write."""
    item = _item(trace(trace_id), TRACE, drawing, now)
    table.write(put(item, because="the id is new and unguessable"))


def find(table: Table, trace_id: str, now: datetime) -> Drawing | None:
    """The drawing stored under an id, or None. One Query."""
    return next(iter(_drawings(table, trace(trace_id)[PARTITION_KEY], now)), None)


def file_step(
    table: Table, partition: str, function: str, record: str, drawing: Drawing, now: datetime, *, failed: bool
) -> None:
    """File a function's work on a record about a partition; ``record`` is the id of the record or message.

    A repeated record replaces its step only if that ``failed``.
    """
    item = _item(trace_step(partition, function, record), TRACE_STEP, drawing, now) | {"Failed": failed}
    with suppress(AlreadyExists):
        table.write(put_over(item, f"{ABSENT} OR Failed = :yes", {":yes": True}, refused=AlreadyExists()))


def steps(table: Table, partition: str, now: datetime) -> list[Drawing]:
    """The steps filed about a partition in the last ten minutes. One Query."""
    return _drawings(table, trace_steps(partition), now)


def _item(key: Mapping[str, str], type_: str, drawing: Drawing, now: datetime) -> Item:
    expires = int((now + KEPT).timestamp())
    return {**key, "Type": type_, "Drawing": json.dumps(drawing, ensure_ascii=False), TTL_ATTRIBUTE: expires}


def _drawings(table: Table, partition: str, now: datetime) -> list[Drawing]:
    items = table.query(partition, consistent=True)
    return [json.loads(item["Drawing"]) for item in items if item[TTL_ATTRIBUTE] > now.timestamp()]


MOST = 4
"""Pages of the Scan. Each reads 1 MB, which takes 128 read units, however few items it returns.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Scan.html"""

COUNTED = ("Type", *KEYS)
"""The attributes that counting reads."""

_COUNTED = Projection.of(*COUNTED)


@dataclass(slots=True)
class ItemCounts:
    """A Scan's counts: the items of each type in the table (None) and in each index, with an example of each.

    ``is_whole`` is false if it stopped early. Its first items are no fair sample: it reads partition after partition,
    and types of the rest may be missing. Items of scratch partitions count as ``SCRATCH``, whatever their ``Type``.
    """

    counts: Counter[tuple[str, str | None]] = field(default_factory=Counter)
    examples: dict[tuple[str, str | None], Item] = field(default_factory=dict)
    is_whole: bool = False


def count(table: Table) -> ItemCounts:
    """Count the items on the first ``MOST`` pages of a Scan."""
    met, start = ItemCounts(), None
    for _ in range(MOST):
        items, start = table.scan(start=start, projection=_COUNTED)
        for item in items:
            is_scratch = str(item[PARTITION_KEY]).startswith(keys.scratches())
            for index in (None, *INDEXES):
                if index is None or index.partition_key in item:
                    type_ = SCRATCH if is_scratch else str(item.get("Type", ""))
                    place = (type_, index.name if index else None)
                    met.counts[place] += 1
                    met.examples.setdefault(place, item)
        if start is None:
            met.is_whole = True
            break
    return met
