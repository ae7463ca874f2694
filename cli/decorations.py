"""Growing the model: giving existing items what a new release would write.

A parallel scan by ``Type``, segment by segment, page by page. How far each segment has got is kept in the table, so a
run that was interrupted continues where it stopped; an item is rewritten only where it differs, and only if nobody
changed it meanwhile, so a run that is repeated does no harm.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from shared.data import item_types, keys
from shared.data.catalog.deal_items import from_item, is_listed, ours, to_item_listed
from shared.dynamodb.attributes import Item
from shared.dynamodb.table import Table
from shared.dynamodb.writes import change, forget, put
from shared.errors import DealsError

PAGE = 200


class _Changed(DealsError):
    """Somebody changed the item meanwhile, with this release: it has what is new."""


@dataclass(frozen=True, slots=True)
class Step:
    """One page of a segment: how many items were looked at, and how many of them were rewritten."""

    segment: int
    seen: int
    rewritten: int


def _deal(item: Item) -> Item:
    """A deal as this release writes it. It stays listed or not: the feeds' counts say so too."""
    return to_item_listed(from_item(item), listed=is_listed(item))


REWRITES: Mapping[str, Callable[[Item], Item]] = {item_types.DEAL: _deal}
"""The types that can be decorated, each with what this release makes of an item. Items need a ``Version``."""


def run(table: Table, item_type: str, segment: int, segments: int) -> Iterator[Step]:
    """Bring one segment's items of a type up to this release, one page at a step, from where the last run stopped."""
    rewrite = REWRITES[item_type]

    def work(items: list[Item]) -> int:
        found = [ours(item) for item in items if item["Type"] == item_type]
        return sum(_rewrite(table, item, rewrite(item)) for item in found)

    return scan(table, item_type, segment, segments, work)


def scan(table: Table, name: str, segment: int, segments: int, work: Callable[[list[Item]], int]) -> Iterator[Step]:
    """Do some work, which says how much it did, on one segment of the table, from where the last run stopped.

    ``name`` is what the place is remembered under.
    """
    place = keys.decoration(name, segment, segments)
    remembered = table.get(place, consistent=True)
    start: Mapping[str, Any] | None = json.loads(remembered["Start"]) if remembered else None
    while True:
        items, start = table.scan(segment=segment, segments=segments, start=start, limit=PAGE)
        yield Step(segment, len(items), work(items))
        if start is None:
            table.write(forget(place, because="the segment is done; another run starts over"))
            return
        progress = {**place, "Type": item_types.DECORATION, "Start": json.dumps(start)}
        table.write(put(progress, because="one run at a time works on a segment"))


def _rewrite(table: Table, old: Item, new: Item) -> bool:
    if old == new:
        return False
    with suppress(_Changed):
        table.write(change(old, {**new, "Version": old["Version"] + 1}, version="Version", refused=_Changed()))
        return True
    return False
