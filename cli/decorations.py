"""Growing the model: giving existing items what a new release would write.

An item is rewritten only where it differs, and only if nobody changed it meanwhile, so a run that is repeated does no
harm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress

from cli.segments import Step, scan
from shared.data import item_types
from shared.data.catalog.deal_items import from_item, is_listed, ours, to_item_listed
from shared.dynamodb.attributes import Item
from shared.dynamodb.table import Table
from shared.dynamodb.writes import change
from shared.errors import DealsError


class _Changed(DealsError):
    """Somebody changed the item meanwhile, with this release: it has what is new."""


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


def _rewrite(table: Table, old: Item, new: Item) -> bool:
    if old == new:
        return False
    with suppress(_Changed):
        table.write(change(old, {**new, "Version": old["Version"] + 1}, version="Version", refused=_Changed()))
        return True
    return False
