"""Likes and watches: the same behaviour for brands and categories."""

from __future__ import annotations

import pytest

from shared.data import keys
from shared.data.catalog import brands, topics
from shared.dynamodb.table import Table
from shared.errors import AlreadyLiked, AlreadyWatching, NoSuchTopic, NotLiked, NotSeeded, NotWatching
from shared.models import BRAND, Topic
from shared.values import slugs
from tests.support.making import APPLE, HOME, NOW, SHOES, both_kinds


def nobodys(topic: Topic) -> Topic:
    return Topic(topic.kind, "nobodys")


@both_kinds
def test_liking_twice_counts_once(table: Table, topic: Topic) -> None:
    topics.like(table, topic, "ana", NOW)

    with pytest.raises(AlreadyLiked):
        topics.like(table, topic, "ana", NOW)

    assert topics.get(table, topic).likes == 1


@both_kinds
def test_watching_twice_counts_once(table: Table, topic: Topic) -> None:
    topics.watch(table, topic, "ana", NOW)

    with pytest.raises(AlreadyWatching):
        topics.watch(table, topic, "ana", NOW)

    assert topics.get(table, topic).watchers == 1


@both_kinds
def test_unliking_what_one_does_not_like_counts_nothing(table: Table, topic: Topic) -> None:
    topics.like(table, topic, "bo", NOW)

    with pytest.raises(NotLiked):
        topics.unlike(table, topic, "ana")

    assert topics.get(table, topic).likes == 1


@both_kinds
def test_unwatching_what_one_does_not_watch_counts_nothing(table: Table, topic: Topic) -> None:
    topics.watch(table, topic, "bo", NOW)

    with pytest.raises(NotWatching):
        topics.unwatch(table, topic, "ana")

    assert topics.get(table, topic).watchers == 1


@both_kinds
def test_nothing_can_be_done_with_a_topic_that_does_not_exist(table: Table, topic: Topic) -> None:
    absent = nobodys(topic)

    for attempt in (
        lambda: topics.like(table, absent, "ana", NOW),
        lambda: topics.watch(table, absent, "ana", NOW),
        lambda: topics.unlike(table, absent, "ana"),
        lambda: topics.unwatch(table, absent, "ana"),
        lambda: topics.get(table, absent),
    ):
        with pytest.raises(NoSuchTopic) as refusal:
            attempt()
        assert refusal.value.field == topic.kind.label

    assert table.get(keys.topic(absent)) is None
    assert table.get(keys.like(absent, "ana")) is None
    assert topics.watches(table, "ana") == []


@both_kinds
def test_a_like_can_be_taken_back_and_given_again(table: Table, topic: Topic) -> None:
    topics.like(table, topic, "ana", NOW)
    topics.unlike(table, topic, "ana")

    topics.like(table, topic, "ana", NOW)

    assert topics.get(table, topic).likes == 1
    assert topics.likes(table, "ana", [topic]) == [topic]


def test_a_brand_and_a_category_of_one_name_are_liked_apart(table: Table) -> None:
    brands.create(table, "shoes", "Shoes", NOW)
    brand = Topic(BRAND, "shoes")

    topics.like(table, brand, "ana", NOW)
    topics.watch(table, SHOES, "ana", NOW)

    assert topics.likes(table, "ana", [brand, SHOES]) == [brand]
    assert topics.watches(table, "ana") == [SHOES]
    assert (topics.get(table, brand).likes, topics.get(table, SHOES).likes) == (1, 0)


def test_watches_are_brands_first_and_each_kind_by_slug(table: Table) -> None:
    brands.create(table, "zara", "Zara", NOW)
    zara = Topic(BRAND, "zara")
    for topic in (SHOES, zara, HOME, APPLE):
        topics.watch(table, topic, "ana", NOW)
    topics.unwatch(table, HOME, "ana")

    watching = topics.watches(table, "ana")

    assert watching == [APPLE, zara, SHOES]


def test_of_users_with_names_that_begin_alike_each_has_their_own(table: Table) -> None:
    topics.like(table, APPLE, "ana", NOW)
    topics.watch(table, APPLE, "ana", NOW)

    assert topics.likes(table, "an", [APPLE]) == topics.likes(table, "anabel", [APPLE]) == []
    assert topics.watches(table, "an") == topics.watches(table, "anabel") == []


def test_one_who_likes_nothing_is_asked_about_nothing(table: Table) -> None:
    assert topics.likes(table, "ana", []) == []


def test_more_topics_than_one_batch_holds_are_asked_about(table: Table) -> None:
    topics.like(table, APPLE, "ana", NOW)
    many = [*(Topic(BRAND, f"brand-{number}") for number in range(230)), APPLE]

    liked = topics.likes(table, "ana", many)

    assert liked == [APPLE]


def test_brands_are_listed_by_slug_with_the_names_editors_wrote(table: Table) -> None:
    for name in ("Nicoló", "G/Fore", "04651 / A Trip In A Bag"):
        brands.create(table, slugs.slug(name), name, NOW)

    named = brands.names(table)

    assert list(named.items()) == [
        ("04651-a-trip-in-a-bag", "04651 / A Trip In A Bag"),
        ("apple", "Apple"),
        ("asics", "ASICS"),
        ("g-fore", "G/Fore"),
        ("nicolo", "Nicoló"),
    ]


def test_a_table_that_was_not_seeded_has_no_brands(bare_table: Table) -> None:
    with pytest.raises(NotSeeded):
        brands.create(bare_table, "apple", "Apple", NOW)

    assert brands.names(bare_table) == {}
    assert bare_table.get(keys.topic(APPLE)) is None
