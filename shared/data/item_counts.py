"""How many items of each type the table holds, by a Scan that stops early: nothing keeps these counts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from shared.data import keys
from shared.data.entities import OF_LESSONS
from shared.data.partitions import COUNTED
from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import INDEXES, PARTITION_KEY
from shared.dynamodb.table import Projection, Table

MOST = 4
"""Pages of the Scan. One reads 1 MB, which takes 128 read units, whatever it returns of it.

https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Scan.html"""

_COUNTED = Projection.of(*COUNTED)


@dataclass(slots=True)
class ItemCounts:
    """Counts of a Scan: how many items of each type, in the table (None) and in each index, and one of them.

    ``is_whole`` is false where it stopped before the table's end. What a Scan meets first is no fair sample: it reads
    partition after partition, and types of the rest may be missing. Items of scratch partitions are counted as
    ``OF_LESSONS``, whatever they say that they are.
    """

    counts: Counter[tuple[str, str | None]] = field(default_factory=Counter)
    examples: dict[tuple[str, str | None], Item] = field(default_factory=dict)
    is_whole: bool = False


def count(table: Table) -> ItemCounts:
    """Count the items that ``MOST`` pages of a Scan meet."""
    met, start = ItemCounts(), None
    for _ in range(MOST):
        items, start = table.scan(start=start, projection=_COUNTED)
        for item in items:
            of_lesson = str(item[PARTITION_KEY]).startswith(keys.scratches())
            for index in (None, *INDEXES):
                if index is None or index.partition_key in item:
                    type_ = OF_LESSONS.type if of_lesson else str(item.get("Type", ""))
                    place = (type_, index.name if index else None)
                    met.counts[place] += 1
                    met.examples.setdefault(place, item)
        if start is None:
            met.is_whole = True
            break
    return met
