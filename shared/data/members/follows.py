"""Likes and watches of brands and categories."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime

from shared.data import account_checks, keys
from shared.data.catalog import topics
from shared.data.members import limits
from shared.dynamodb import damage
from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import GSI1, Key
from shared.dynamodb.table import KEYS_ONLY, Projection, Table
from shared.dynamodb.writes import Write, assign, delete, put_new, update
from shared.errors import AlreadyLiked, AlreadyWatching, DealsError, NotLiked, NotWatching
from shared.models.catalog import BRAND, CATEGORIES, CATEGORY, Topic
from shared.models.members import NO_LIMITS, Limits
from shared.values.times import to_iso

_FOLLOWED = Projection.of("GSI1SK", *limits.ATTRIBUTES)


def like(table: Table, topic: Topic, username: str, now: datetime, account_id: str | None = None) -> None:
    """Like a topic, and count it once for each user. Raises AlreadyLiked, NoSuchTopic, NotSignedIn, NoSuchUser."""
    item = {
        **keys.like(topic, username),
        **keys.like_in_likes(topic, username),
        "Type": keys.LIKE[topic.kind],
        "Username": username,
        "LikedAt": to_iso(now),
    }
    table.transact(
        put_new(item, refused=AlreadyLiked()),
        _count(topic, "LikesCount", 1),
        account_checks.required(username, account_id),
    )


def unlike(table: Table, topic: Topic, username: str, account_id: str | None = None) -> None:
    """Remove a like, and count it off. Raises NotLiked, NoSuchTopic, NotSignedIn, NoSuchUser."""
    required = account_checks.required(username, account_id)
    table.transact(required, *_taking_back(topic, keys.like(topic, username), "LikesCount", NotLiked()))


def watch(
    table: Table, topic: Topic, username: str, now: datetime, account_id: str | None = None, within: Limits = NO_LIMITS
) -> None:
    """Watch a topic within limits, and count it. Raises AlreadyWatching, NoSuchTopic, NotSignedIn, NoSuchUser."""
    item = {
        **keys.watch(topic, username),
        **keys.watch_in_watches(topic, username),
        "Type": keys.WATCH[topic.kind],
        "Username": username,
        "WatchedAt": to_iso(now),
        **limits.attributes_of(within),
    }
    table.transact(
        put_new(item, refused=AlreadyWatching()),
        _count(topic, "WatchCount", 1),
        account_checks.required(username, account_id),
    )


def limit(table: Table, topic: Topic, username: str, within: Limits, account_id: str | None = None) -> None:
    """Replace the limits of a watch. Raises NotWatching, NotSignedIn, NoSuchUser."""
    kept = limits.attributes_of(within)
    left = {name: kept.get(name) for name in limits.ATTRIBUTES}
    table.transact(
        assign(keys.watch(topic, username), left, refused=NotWatching()),
        account_checks.required(username, account_id),
    )


def unwatch(table: Table, topic: Topic, username: str, account_id: str | None = None) -> None:
    """Stop watching a topic, and count it off. Raises NotWatching, NoSuchTopic, NotSignedIn, NoSuchUser."""
    required = account_checks.required(username, account_id)
    table.transact(required, *_taking_back(topic, keys.watch(topic, username), "WatchCount", NotWatching()))


def likes(table: Table, username: str) -> list[Topic]:
    """All topics that a user likes: brands, then categories, each by slug. One Query of GSI1."""
    return list(_followed(table, keys.likes(username)))


def watches(table: Table, username: str) -> list[Topic]:
    """All topics that a user watches: brands, then categories, each by slug. One Query of GSI1."""
    return list(watching(table, username))


def watching(table: Table, username: str) -> dict[Topic, Limits]:
    """The topics of ``watches``, each with the limits of its watch."""
    return _followed(table, keys.watches(username))


def _followed(table: Table, partition: str) -> dict[Topic, Limits]:
    def read(item: Item) -> tuple[Topic, Limits]:
        return keys.topic_named(item["GSI1SK"]), limits.in_item(item)

    return dict(damage.readable(table.query(partition, index=GSI1, projection=_FOLLOWED), read))


def _count(topic: Topic, counter: str, by: int) -> Write:
    return update(keys.topic(topic), f"ADD {counter} :by", values={":by": by}, refused=topics.no_such(topic))


def _taking_back(topic: Topic, key: Key, counter: str, absent: DealsError) -> tuple[Write, Write]:
    """The writes that remove a like or a watch. The count comes first, so that a missing topic is reported as such."""
    return _count(topic, counter, -1), delete(key, refused=absent)


def is_liked(table: Table, topic: Topic, username: str) -> bool:
    """Whether a user likes a topic. One GetItem."""
    return table.get(keys.like(topic, username), projection=KEYS_ONLY) is not None


def is_watched(table: Table, topic: Topic, username: str) -> bool:
    """Whether a user watches a topic. One GetItem."""
    return table.get(keys.watch(topic, username), projection=KEYS_ONLY) is not None


def remove_some(table: Table, username: str, most: int, *, required: Write) -> int:
    """Remove at most ``most`` of a user's likes and watches; returns how many. Reads no index, all reads are
    consistent."""
    slugs = topics.brand_names(table, consistent=True)  # consistent: a user may like a brand a moment after it is made
    all_topics = [*(Topic(BRAND, slug) for slug in slugs), *(Topic(CATEGORY, slug) for slug in CATEGORIES)]
    followed = [(topic, keys.like(topic, username), "LikesCount") for topic in all_topics]
    followed += [(topic, keys.watch(topic, username), "WatchCount") for topic in all_topics]
    there = table.get_many([key for _, key, _ in followed], consistent=True, projection=KEYS_ONLY)
    removed = [(topic, key, counter) for topic, key, counter in followed if key in there][:most]
    for topic, key, counter in removed:
        with suppress(NotLiked):  # removed since it was read
            table.transact(required, *_taking_back(topic, key, counter, NotLiked()))
    return len(removed)
