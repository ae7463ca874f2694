"""What the sample takes in the table and in its indexes. ``python -m benchmarks storage`` writes it to docs/cost.md."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass
from datetime import timedelta

from benchmarks.harness import DOCS, markdown, record
from demo import packing
from demo.site import Site
from shared.data import keys
from shared.dynamodb.attributes import Item, marshal_item
from shared.dynamodb.capacity import size_of
from shared.dynamodb.schema import INDEXES, TTL_ATTRIBUTE
from shared.models.catalog import BRAND, CATEGORY
from shared.runtime import environment
from shared.values.prices import RECOVERY, STORAGE

OVERHEAD = 100
"""Bytes that storage adds to an item, and to each of its entries in indexes.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html"""

DEAL, ACCOUNT, FOLLOWED, MESSAGE = "a deal", "an account", "a like or a watch", "a message"
PARTS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    DEAL: ((keys.DEAL,), (keys.DEAL_NUMBER, keys.DEAL_SOURCE, keys.PRODUCT_OFFER, keys.WORD, keys.ENDING)),
    ACCOUNT: ((keys.USER,), (keys.ACCOUNT, keys.PASSWORD, keys.USER_EMAIL)),
    FOLLOWED: ((keys.LIKE[BRAND], keys.LIKE[CATEGORY], keys.WATCH[BRAND], keys.WATCH[CATEGORY]), ()),
    MESSAGE: ((keys.MESSAGE,), ()),
}
"""The item types of what there is one more of, and those that come with it."""


A_DAY = timedelta(days=1)
"""Items that are kept for less aren't counted, such as the traces of stages that show their work. Copies of pages are:
they are always written again."""


@dataclass(slots=True)
class Stored:
    """Items of a kind, and their bytes in the table and in all indexes."""

    items: int = 0
    table: int = 0
    indexes: int = 0


def main() -> None:
    """Fill a table with the sample, measure, print and record."""
    record("storage", listed(measure()), DOCS / "cost.md")


def measure() -> dict[str, Stored]:
    """The sample's bytes by item type. A process of its own: the demo's site takes the place of SQS and S3."""
    done = subprocess.run([sys.executable, "-m", __name__], stdout=subprocess.PIPE, check=True, cwd=DOCS.parent)
    return {type_: Stored(*figures) for type_, figures in json.loads(done.stdout.splitlines()[-1]).items()}


def _measure() -> dict[str, Stored]:
    """The sample's bytes by item type, after all functions that follow writes have run, as in the demo."""
    now = packing.plant(Site(packing.rows(), "http://127.0.0.1", "/site"))
    lasts = (now + A_DAY).timestamp()
    items = environment.table().everything()
    return by_type(each for each in items if each.get(TTL_ATTRIBUTE, lasts) >= lasts or each["Type"].endswith("Cache"))


def by_type(items: Iterable[Item]) -> dict[str, Stored]:
    """Bytes by item type."""
    found: dict[str, Stored] = {}
    for item in items:
        stored = found.setdefault(item["Type"], Stored())
        size = size_of(marshal_item(item)) + OVERHEAD
        entries = sum(all(name in item for name in (each.partition_key, each.sort_key) if name) for each in INDEXES)
        stored.items += 1
        stored.table += size
        stored.indexes += size * entries
    return found


def listed(found: Mapping[str, Stored]) -> str:
    """The table of the page, and what a GB of the table costs with its indexes."""
    rows = []
    for name, (counted, others) in PARTS.items():
        many = sum(found[each].items for each in counted)
        items, table, indexes = _sum(found[each] for each in (*counted, *others) if each in found)
        rows.append([name, f"{items / many:.1f}", f"{table / many:,.0f}", f"{indexes / many:,.0f}"])
    items, table, indexes = _sum(found.values())
    rows.append(["the whole sample", f"{items:,}", f"{table:,}", f"{indexes:,}"])
    share = round(indexes / table, 2)
    stored = STORAGE.dollars * (1 + share)
    return f"""{markdown(["In the sample", "Items", "Bytes in the table", "Bytes in indexes"], rows)}

Indexes take {share} times the bytes of their table. So each GB in the table costs ${stored:.2f} a month to store \
(${STORAGE.dollars:.2f}, and ${STORAGE.dollars * share:.2f} for its indexes), and ${RECOVERY.dollars:.2f} for \
point-in-time recovery, which bills no \
[global index](https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/PointInTimeRecovery_Howitworks.html). \
The first {STORAGE.free:.0f} GB, indexes included, are free to store."""


def _sum(found: Iterable[Stored]) -> tuple[int, int, int]:
    of = [*found]
    return sum(each.items for each in of), sum(each.table for each in of), sum(each.indexes for each in of)


if __name__ == "__main__":
    print(json.dumps({type_: astuple(stored) for type_, stored in _measure().items()}))
