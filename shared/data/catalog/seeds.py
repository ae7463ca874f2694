"""Items that must be in the table before any others, put there at deployment; repeating it changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime

from shared.data import item_types, keys
from shared.data.catalog import topics
from shared.dynamodb.attributes import Item
from shared.dynamodb.table import Table
from shared.dynamodb.writes import put_new
from shared.errors import AlreadyExists
from shared.models.catalog import CATEGORIES, CATEGORY, Period, Topic


def plant(table: Table, now: datetime) -> int:
    """Create the categories, the list of brands and the counters where they are missing; what exists is left.

    Returns how many items were created.
    """
    created = 0
    for item in _seeds(now):
        with suppress(AlreadyExists):
            table.write(put_new(item, refused=AlreadyExists()))
            created += 1
    return created


def _seeds(now: datetime) -> Iterator[Item]:
    yield {**keys.brands(), "Type": item_types.BRANDS, "Brands": {}}
    yield {**keys.deal_numbers(), "Type": item_types.SEQUENCE, "LastNumber": 0}
    yield {**keys.endings(), "Type": item_types.ENDINGS, "SweptBefore": Period.DAY.start_of(now)}
    for slug, name in CATEGORIES.items():
        yield topics.new_item(Topic(CATEGORY, slug), name, now)
