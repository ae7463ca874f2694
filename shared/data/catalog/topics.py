"""Brands and categories: names and counts, the list of brands, and the first items of a new table.

Topic items hold nothing that grows, because each count rewrites the whole item. ``members.follows`` stores who likes
and watches them. A deployment adds the first items; repeating it changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime

from shared.data import keys
from shared.dynamodb import damage
from shared.dynamodb.attributes import Item
from shared.dynamodb.table import Projection, Table
from shared.dynamodb.writes import MOST_TOGETHER, put_new, update
from shared.errors import AlreadyExists, BrandExists, BrandsAreFull, NoSuchTopic, NotSeeded, TooLarge
from shared.models.catalog import BRAND, CATEGORIES, CATEGORY, CountedTopic, Period, Topic
from shared.values import naming
from shared.values.times import to_iso

_SHOWN = Projection.of("PK", "SK", "Name", "LikesCount", "WatchCount")

MOST_BRANDS = MOST_TOGETHER - 1
"""Brands that one transaction can create."""


def no_such(topic: Topic) -> NoSuchTopic:
    """The error for a topic that doesn't exist."""
    return NoSuchTopic(topic.kind.label, topic.slug)


def get(table: Table, topic: Topic, *, consistent: bool = False) -> CountedTopic:
    """A brand or category with its counts. Raises NoSuchTopic."""
    item = table.get(keys.topic(topic), consistent=consistent, projection=_SHOWN)
    if item is None:
        raise no_such(topic)
    return from_item(topic, item)


def named(table: Table, name: str) -> CountedTopic:
    """The brand with this name or slug, as it is stored: 1.1.0 spelled no signs in slugs. Consistent.

    One GetItem; up to two more for a name with a sign if no brand has its slug. Raises NoSuchTopic, InvalidName.
    """
    slug = naming.slug(name)
    for stored in (slug, *naming.without_signs(slug)):
        with suppress(NoSuchTopic):
            found = get(table, Topic(BRAND, stored), consistent=True)
            if stored == slug or naming.has_slug(found.name, slug):
                return found
    raise no_such(Topic(BRAND, slug))


def stored_slug(slug: str, names: Mapping[str, str]) -> str:
    """The slug under which a brand is stored among ``names``, as ``named`` finds it; else the slug itself."""
    earlier = (each for each in naming.without_signs(slug) if naming.has_slug(names.get(each, ""), slug))
    return slug if slug in names else next(earlier, slug)


def get_many(table: Table, topics: Sequence[Topic]) -> list[CountedTopic]:
    """The existing topics among some, in their order. BatchGetItem, 100 a request."""
    by_key = {keys.topic(topic)["PK"]: topic for topic in topics}
    items = table.get_many([keys.topic(topic) for topic in topics])
    return [from_item(by_key[item["PK"]], item) for item in items]


def from_item(topic: Topic, item: Item) -> CountedTopic:
    """Read a Brand or Category item; a damaged name or count is left out."""
    return CountedTopic(
        topic=topic,
        name=damage.attribute_or(item, "Name", str, topic.slug),
        likes=damage.attribute_or(item, "LikesCount", int, 0),
        watchers=damage.attribute_or(item, "WatchCount", int, 0),
    )


def new_item(topic: Topic, name: str, now: datetime) -> Item:
    """A Brand or Category item without likes or watches."""
    return {
        **keys.topic(topic),
        "Type": keys.TOPIC[topic.kind],
        "Name": name,
        "LikesCount": 0,
        "WatchCount": 0,
        "CreatedAt": to_iso(now),
    }


def create_brand(table: Table, slug: str, name: str, now: datetime) -> None:
    """Create a brand and add it to the list of brands. Raises BrandsAreFull, and BrandExists even if only the case
    differs."""
    if naming.without_signs(slug):
        with suppress(NoSuchTopic):
            raise BrandExists(named(table, slug).topic.slug)
    create_brands(table, {slug: name}, now)


def create_brands(table: Table, names: Mapping[str, str], now: datetime) -> None:
    """Create up to ``MOST_BRANDS`` brands (slug to name) in one transaction: all, or none if one is refused.

    The list of brands is written once for all. Raises as ``create_brand`` does.
    """
    numbers = dict(enumerate(names.items()))
    try:
        table.transact(
            *(
                put_new(new_item(Topic(BRAND, slug), name, now), refused=BrandExists(slug))
                for slug, name in names.items()
            ),
            update(
                keys.brands(),
                f"SET {', '.join(f'Brands.#s{n} = :n{n}' for n in numbers)}",
                names={f"#s{n}": slug for n, (slug, _) in numbers.items()},
                values={f":n{n}": name for n, (_, name) in numbers.items()},
                refused=NotSeeded(),
            ),
        )
    except TooLarge as error:
        raise BrandsAreFull from error


def brand_names(table: Table, *, consistent: bool = False) -> dict[str, str]:
    """All brands, slug to name, sorted by slug. One GetItem; 400 KB hold about 9,000 brands."""
    container = table.get(keys.brands(), consistent=consistent)
    return damage.read_or(container, _brand_names, otherwise={}) if container else {}


def _brand_names(container: Item) -> dict[str, str]:
    named = damage.attribute(container, "Brands", dict)
    if not all(isinstance(name, str) for name in named.values()):
        damage.note(damage.named(container))
    return {slug: name for slug, name in sorted(named.items()) if isinstance(name, str)}


def plant_seeds(table: Table, now: datetime) -> int:
    """Create missing categories, list of brands and counters; returns how many items were created."""
    created = 0
    for item in _seeds(now):
        with suppress(AlreadyExists):
            table.write(put_new(item, refused=AlreadyExists()))
            created += 1
    return created


def _seeds(now: datetime) -> Iterator[Item]:
    yield {**keys.brands(), "Type": keys.BRANDS, "Brands": {}}
    yield {**keys.deal_numbers(), "Type": keys.SEQUENCE, "LastNumber": 0}
    yield {**keys.endings(), "Type": keys.ENDINGS, "SweptBefore": Period.DAY.start_of(now)}
    for slug, name in CATEGORIES.items():
        yield new_item(Topic(CATEGORY, slug), name, now)
