"""A table as the first release left it: what has items of its own by now is put back where it was then."""

from __future__ import annotations

from collections.abc import Iterator

from shared.data import keys
from shared.data.catalog import feed_counts
from shared.data.members import credentials
from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import PARTITION_KEY, SORT_KEY
from shared.dynamodb.table import Table
from shared.dynamodb.writes import Write, forget, put
from shared.models.catalog import ALL_DEALS, BRAND, CATEGORY, Feed, feed_of

_TEST = "a test's own"


def everything(table: Table) -> list[Item]:
    """All items of a table."""
    found: list[Item] = []
    start = None
    while True:
        items, start = table.scan(start=start)
        found += items
        if start is None:
            return found


def take_back(table: Table) -> None:
    """Make of a table one of the first release, with the same deals, picks, users and sessions."""
    items = {(item[PARTITION_KEY], item[SORT_KEY]): item for item in everything(table)}
    for item in list(items.values()):
        for write in _old_forms(items, item):
            table.write(write)
    container = {**keys.deals(), "Type": "Deals", "Periods": _counts(items, ALL_DEALS)}
    table.write(put(container, because=_TEST))


def _old_forms(items: dict[tuple[str, str], Item], item: Item) -> Iterator[Write]:
    key = keys.primary(item)
    match item["Type"]:
        case "Periods" | "CategoryFeatured" | "Password":
            yield forget(key, because=_TEST)
        case "User":
            password = items[_pair(keys.password(item["Username"]))]
            yield put({**item, credentials.OLD: password["PasswordHash"]}, because=_TEST)
        case "Brand" | "Category":
            topic = keys.topic_named(item[PARTITION_KEY], (BRAND, CATEGORY))
            picks = items.get(_pair(keys.featured(topic)), {})
            kept: Item = {n: picks[n] for n in ("Featured", "FeaturedVersion", "UpdatedAt") if n in picks}
            yield put({**item, **kept, "Periods": _counts(items, feed_of(topic))}, because=_TEST)
            if picks:
                note = {**keys.category_picks(topic.slug), "Type": "CategoryPicks", "Category": topic.slug}
                yield put({**note, "Changes": 1}, because=_TEST)


def _counts(items: dict[tuple[str, str], Item], feed: Feed) -> dict[str, int]:
    partition, beginning, _ = keys.periods_between(feed, None)
    books = [item for (pk, sk), item in items.items() if pk == partition and sk.startswith(beginning)]
    return {period: count for book in books for period, count in feed_counts.contents(feed, book).items()}


def _pair(key: dict[str, str]) -> tuple[str, str]:
    return key[PARTITION_KEY], key[SORT_KEY]
