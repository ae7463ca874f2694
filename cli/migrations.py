"""Growing the model, fourth kind: what the first release kept in one item moves to items of its own.

The site runs meanwhile, on this release, which reads both forms: hashes of passwords, counts of feeds and picks of
categories are right before, during and after. Everything moves in transactions that hold what was read, so a run may be
interrupted, repeated, and run beside another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from cli.segments import Step, scan
from shared.data import item_types, keys
from shared.data.catalog import feed_counts, picks
from shared.data.members import credentials
from shared.dynamodb.attributes import Item
from shared.dynamodb.table import Table
from shared.dynamodb.writes import forget
from shared.models.catalog import ALL_DEALS, BRAND, CATEGORIES, CATEGORY, feed_of

NAME = "Migration"
"""What the places of unfinished runs are remembered under."""

SETTLED = 10
"""Seconds after which no read that missed the new picks still asks for the old ones: whole answers take two at most."""


def run(table: Table, segment: int, segments: int) -> Iterator[Step]:
    """Split the first release's items of one segment, one page at a step, from where the last run stopped."""
    return scan(table, NAME, segment, segments, lambda items: sum(_split(table, item) for item in items))


def finish(table: Table) -> int:
    """Take the old picks out of the categories, some time after all segments are done; returns of how many."""
    return sum(picks.drop_old(table, category) for category in CATEGORIES)


def _split(table: Table, item: Item) -> bool:
    """Move what an item holds that belongs elsewhere; returns whether there was anything."""
    split = _SPLITS.get(str(item.get("Type")))
    return split(table, item) if split else False


def _user(table: Table, item: Item) -> bool:
    return credentials.OLD in item and credentials.split_hash(table, item["Username"])


def _deals(table: Table, item: Item) -> bool:
    if "Periods" not in item:
        return False
    feed_counts.bring_over(table, ALL_DEALS)
    return True


def _topic(table: Table, item: Item) -> bool:
    if "Periods" not in item:
        return False
    feed_counts.bring_over(table, feed_of(keys.topic_named(item["PK"], (BRAND, CATEGORY))))
    return True


def _category(table: Table, item: Item) -> bool:
    counted = _topic(table, item)
    picked = "Featured" in item and picks.set_apart(table, keys.topic_named(item["PK"], (CATEGORY,)).slug)
    return counted or picked


def _category_picks(table: Table, item: Item) -> bool:
    table.write(forget(keys.category_picks(item["Category"]), because="nobody reads this note any more"))
    return True


_SPLITS: Mapping[str, Callable[[Table, Item], bool]] = {
    item_types.USER: _user,
    item_types.CONTAINED_DEALS: _deals,
    item_types.TOPIC[BRAND]: _topic,
    item_types.TOPIC[CATEGORY]: _category,
    item_types.CATEGORY_PICKS: _category_picks,
}
"""The types of the first release's items that are split or go."""
