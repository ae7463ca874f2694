"""Members like, unlike, watch and unwatch topics. Brands and categories alike."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime

from shared.data import account_checks, item_types, keys
from shared.data.catalog.topics import no_such
from shared.data.members import limit_items
from shared.dynamodb import damage
from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import GSI1, Key
from shared.dynamodb.table import KEYS_ONLY, Projection, Table
from shared.dynamodb.writes import Write, assign, delete, put_new, update
from shared.errors import AlreadyLiked, AlreadyWatching, DealsError, NotLiked, NotWatching
from shared.models.alerts import NO_LIMITS, Limits
from shared.models.catalog import Topic
from shared.values.times import to_iso

_FOLLOWED = Projection.of("GSI1SK", *limit_items.ATTRIBUTES)


def like(table: Table, topic: Topic, username: str, now: datetime, account_id: str | None = None) -> None:
    """Record that a user likes a topic and count it, once per user.

    Raises AlreadyLiked, NoSuchTopic, NotSignedIn, NoSuchUser.
    """
    item = {
        **keys.like(topic, username),
        **keys.like_in_likes(topic, username),
        "Type": item_types.LIKE[topic.kind],
        "Username": username,
        "LikedAt": to_iso(now),
    }
    table.transact(
        put_new(item, refused=AlreadyLiked()),
        _count(topic, "LikesCount", 1),
        account_checks.required(username, account_id),
    )


def unlike(table: Table, topic: Topic, username: str, account_id: str | None = None) -> None:
    """Forget that a user likes a topic and count it. Raises NotLiked; NoSuchTopic; NotSignedIn, NoSuchUser."""
    required = account_checks.required(username, account_id)
    _uncount(table, topic, keys.like(topic, username), "LikesCount", NotLiked(), required)


def watch(
    table: Table,
    topic: Topic,
    username: str,
    now: datetime,
    account_id: str | None = None,
    within: Limits = NO_LIMITS,
) -> None:
    """Record that a user watches a topic, within some limits, and count it, once per user.

    Raises AlreadyWatching, NoSuchTopic, NotSignedIn, NoSuchUser.
    """
    item = {
        **keys.watch(topic, username),
        **keys.watch_in_watches(topic, username),
        "Type": item_types.WATCH[topic.kind],
        "Username": username,
        "WatchedAt": to_iso(now),
        **limit_items.to_item(within),
    }
    table.transact(
        put_new(item, refused=AlreadyWatching()),
        _count(topic, "WatchCount", 1),
        account_checks.required(username, account_id),
    )


def limit(table: Table, topic: Topic, username: str, within: Limits, account_id: str | None = None) -> None:
    """Give a watch limits, in place of those that it had. Raises NotWatching, NotSignedIn, NoSuchUser."""
    kept = limit_items.to_item(within)
    left = {name: kept.get(name) for name in limit_items.ATTRIBUTES}
    table.transact(
        assign(keys.watch(topic, username), left, refused=NotWatching()),
        account_checks.required(username, account_id),
    )


def unwatch(table: Table, topic: Topic, username: str, account_id: str | None = None) -> None:
    """Forget that a user watches a topic and count it. Raises NotWatching; NoSuchTopic; NotSignedIn, NoSuchUser."""
    required = account_checks.required(username, account_id)
    _uncount(table, topic, keys.watch(topic, username), "WatchCount", NotWatching(), required)


def likes(table: Table, username: str) -> list[Topic]:
    """Everything a user likes, brands first, each kind by slug. A Query of GSI1."""
    return list(_followed(table, keys.likes(username)))


def watches(table: Table, username: str) -> list[Topic]:
    """Everything a user watches, brands first, each kind by slug. A Query of GSI1."""
    return list(watching(table, username))


def watching(table: Table, username: str) -> dict[Topic, Limits]:
    """As ``watches`` does, with the limits of each watch."""
    return _followed(table, keys.watches(username))


def _followed(table: Table, partition: str) -> dict[Topic, Limits]:
    items = table.query(partition, index=GSI1, projection=_FOLLOWED)
    return dict(damage.readable(items, lambda item: (_topic_in(item), limit_items.from_item(item))))


def _topic_in(item: Item) -> Topic:
    return keys.topic_named(item["GSI1SK"])


def topic_of(item: Item) -> Topic:
    """The topic that a like or a watch is of."""
    return keys.topic_named(item["PK"])


def remove_some(table: Table, username: str, topics: Sequence[Topic], most: int, *, required: Write) -> int:
    """Remove a user's likes and watches of some topics with their counts, ``most`` of them; returns how many.

    Found in the table: its indexes lag.
    """
    followed = [
        (topic, key, counter)
        for topic in topics
        for key, counter in ((keys.like(topic, username), "LikesCount"), (keys.watch(topic, username), "WatchCount"))
    ]
    there = table.get_many([key for _, key, _ in followed], consistent=True, projection=KEYS_ONLY)
    found = {item["PK"] + item["SK"] for item in there}
    removed = [each for each in followed if each[1]["PK"] + each[1]["SK"] in found][:most]
    for topic, key, counter in removed:
        with suppress(NotLiked):  # gone since it was found
            table.transact(required, delete(key, refused=NotLiked()), _count(topic, counter, -1))
    return len(removed)


def _count(topic: Topic, counter: str, by: int) -> Write:
    return update(keys.topic(topic), f"ADD {counter} :by", values={":by": by}, refused=no_such(topic))


def _uncount(table: Table, topic: Topic, key: Key, counter: str, absent: DealsError, required: Write) -> None:
    """Delete a like or a watch and count it. An unknown topic is reported before a missing like or watch."""
    try:
        table.transact(required, delete(key, refused=absent), _count(topic, counter, -1))
    except type(absent):
        if table.get(keys.topic(topic), consistent=True, projection=KEYS_ONLY) is None:
            raise no_such(topic) from None
        raise


def is_liked(table: Table, topic: Topic, username: str) -> bool:
    """Whether a user likes a topic. One GetItem."""
    return table.get(keys.like(topic, username), projection=KEYS_ONLY) is not None


def is_watched(table: Table, topic: Topic, username: str) -> bool:
    """Whether a user watches a topic. One GetItem."""
    return table.get(keys.watch(topic, username), projection=KEYS_ONLY) is not None
