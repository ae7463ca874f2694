"""Patterns 14-17 and 25: brands and categories are liked, unliked, watched and unwatched alike."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from shared.data import keys
from shared.data.catalog import deal_items
from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import GSI1, Key
from shared.dynamodb.table import Projection, Table
from shared.dynamodb.writes import Write, delete, put_new, update
from shared.errors import AlreadyLiked, AlreadyWatching, DealsError, NoSuchTopic, NotLiked, NotSeeded, NotWatching
from shared.models import BRAND, CATEGORY, Feed, Topic, TopicPage
from shared.values.times import to_iso

TYPE_LIKE = {BRAND: "BrandLike", CATEGORY: "CategoryLike"}
TYPE_WATCH = {BRAND: "BrandWatch", CATEGORY: "CategoryWatch"}


def no_such(topic: Topic) -> NoSuchTopic:
    """The error that a topic does not exist."""
    return NoSuchTopic(topic.kind.label, topic.slug)


def container(feed: Feed) -> tuple[Key, DealsError]:
    """The item that counts a feed's listed deals by period, and what it means if that is missing."""
    return (keys.topic(feed.topic), no_such(feed.topic)) if feed.topic else (keys.deals(), NotSeeded())


def get(table: Table, topic: Topic, *, consistent: bool = False) -> TopicPage:
    """A brand or category with its counts and featured deals. Raises NoSuchTopic."""
    item = table.get(keys.topic(topic), consistent=consistent)
    if item is None:
        raise no_such(topic)
    return from_item(topic, item)


def from_item(topic: Topic, item: Item) -> TopicPage:
    """The page that a Brand or Category item holds."""
    return TopicPage(
        topic=topic,
        name=item["Name"],
        likes=item["LikesCount"],
        watchers=item["WatchCount"],
        periods=item.get("Periods", {}),
        featured=tuple(deal_items.from_item(copy) for copy in item.get("Featured", ())),
    )


def new_item(topic: Topic, name: str, item_type: str, now: datetime) -> Item:
    """A Brand or Category item that nobody likes or watches yet."""
    return {
        **keys.topic(topic),
        "Type": item_type,
        "Name": name,
        "LikesCount": 0,
        "WatchCount": 0,
        "Periods": {},
        "CreatedAt": to_iso(now),
    }


def like(table: Table, topic: Topic, username: str, now: datetime) -> None:
    """Record that a user likes a topic and count it, once per user. Raises AlreadyLiked, NoSuchTopic."""
    item = {
        **keys.like(topic, username),
        "Type": TYPE_LIKE[topic.kind],
        "Username": username,
        "LikedAt": to_iso(now),
    }
    table.transact(
        put_new(item, refused=AlreadyLiked()),
        _count(topic, "LikesCount", 1),
    )


def unlike(table: Table, topic: Topic, username: str) -> None:
    """Forget that a user likes a topic and count it. Raises NotLiked; NoSuchTopic."""
    _uncount(table, topic, keys.like(topic, username), "LikesCount", NotLiked())


def watch(table: Table, topic: Topic, username: str, now: datetime) -> None:
    """Record that a user watches a topic and count it, once per user. Raises AlreadyWatching, NoSuchTopic."""
    item = {
        **keys.watch(topic, username),
        **keys.watch_in_watches(topic, username),
        "Type": TYPE_WATCH[topic.kind],
        "Username": username,
        "WatchedAt": to_iso(now),
    }
    table.transact(
        put_new(item, refused=AlreadyWatching()),
        _count(topic, "WatchCount", 1),
    )


def unwatch(table: Table, topic: Topic, username: str) -> None:
    """Forget that a user watches a topic and count it. Raises NotWatching; NoSuchTopic."""
    _uncount(table, topic, keys.watch(topic, username), "WatchCount", NotWatching())


def _count(topic: Topic, counter: str, by: int) -> Write:
    return update(keys.topic(topic), f"ADD {counter} :by", values={":by": by}, refused=no_such(topic))


def _uncount(table: Table, topic: Topic, key: Key, counter: str, absent: DealsError) -> None:
    """Delete a like or a watch and count it. Of an unknown topic nothing is liked or watched: that is said first."""
    try:
        table.transact(delete(key, refused=absent), _count(topic, counter, -1))
    except type(absent):
        if table.get(keys.topic(topic), projection=_EXISTENCE) is None:
            raise no_such(topic) from None
        raise


def likes(table: Table, username: str, topics: Iterable[Topic]) -> list[Topic]:
    """Those of some topics that a user likes (pattern 25). BatchGetItem, 100 topics a request."""
    by_key = {keys.like(topic, username)["PK"]: topic for topic in topics}
    found = table.get_many([{"PK": key, "SK": key} for key in by_key], projection=_EXISTENCE)
    return [by_key[item["PK"]] for item in found]


def watches(table: Table, username: str) -> list[Topic]:
    """Everything a user watches, brands first, each kind by slug (pattern 25). A Query of GSI1."""
    items = table.query(keys.watches(username), index=GSI1, projection=_WATCHED)
    return [keys.topic_named(item["GSI1SK"], (BRAND, CATEGORY)) for item in items]


_EXISTENCE = Projection.of("PK", "SK")
_WATCHED = Projection.of("GSI1SK")
