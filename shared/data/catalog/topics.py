"""Brands and categories: names and counts. Who likes and watches them is kept in ``members.follows``.

Their items hold nothing that grows, because counting one more writes the whole item: a like always costs the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from shared.data import item_types, keys
from shared.dynamodb import damage
from shared.dynamodb.attributes import Item
from shared.dynamodb.table import Projection, Table
from shared.errors import NoSuchTopic
from shared.models.catalog import CountedTopic, Topic
from shared.values.times import to_iso

_SHOWN = Projection.of("PK", "SK", "Name", "LikesCount", "WatchCount")


def no_such(topic: Topic) -> NoSuchTopic:
    """The error that a topic does not exist."""
    return NoSuchTopic(topic.kind.label, topic.slug)


def get(table: Table, topic: Topic, *, consistent: bool = False) -> CountedTopic:
    """A brand or category with its counts. Raises NoSuchTopic."""
    item = table.get(keys.topic(topic), consistent=consistent, projection=_SHOWN)
    if item is None:
        raise no_such(topic)
    return from_item(topic, item)


def get_many(table: Table, topics: Sequence[Topic]) -> list[CountedTopic]:
    """Those of some brands and categories that exist, in that order. BatchGetItem, 100 a request."""
    by_key = {keys.topic(topic)["PK"]: topic for topic in topics}
    items = table.get_many([keys.topic(topic) for topic in topics])
    return [from_item(by_key[item["PK"]], item) for item in items]


def from_item(topic: Topic, item: Item) -> CountedTopic:
    """The page that a Brand or Category item holds: a name or a count that is damaged is left out."""
    return CountedTopic(
        topic=topic,
        name=damage.attribute_or(item, "Name", str, topic.slug),
        likes=damage.attribute_or(item, "LikesCount", int, 0),
        watchers=damage.attribute_or(item, "WatchCount", int, 0),
    )


def new_item(topic: Topic, name: str, now: datetime) -> Item:
    """A Brand or Category item that nobody likes or watches yet."""
    return {
        **keys.topic(topic),
        "Type": item_types.TOPIC[topic.kind],
        "Name": name,
        "LikesCount": 0,
        "WatchCount": 0,
        "CreatedAt": to_iso(now),
    }
