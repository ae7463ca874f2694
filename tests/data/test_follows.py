"""Likes and watches of brands and categories."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from shared.data import account_checks, keys
from shared.data.catalog import deals, feeds, topics
from shared.data.members import follows
from shared.dynamodb.table import Table
from shared.dynamodb.writes import update
from shared.errors import (
    AlreadyLiked,
    AlreadyWatching,
    BrandExists,
    BrandsAreFull,
    NoSuchTopic,
    NotLiked,
    NotSeeded,
    NotSignedIn,
    NotWatching,
)
from shared.models.catalog import ALL_DEALS, BRAND, Topic
from shared.models.members import Limits
from shared.values import naming
from shared.values.times import to_iso
from tests.support.engines import DYNOXIDE_ENGINE, on
from tests.support.factories import APPLE, HOME, NOW, SHOES, a_deal, both_kinds, join
from tests.support.wire import before, watched

pytestmark = pytest.mark.usefixtures("counted_as_told")


@pytest.fixture
def table(table: Table) -> Table:
    """A table with the accounts of those who like and watch."""
    join(table, "ana", "bo")
    return table


LATE = "account-of-an-earlier-owner"
"""An account that once had the name of one that is there."""


@both_kinds
def test_what_an_earlier_owner_of_a_name_asked_for_late_changes_nothing(table: Table, topic: Topic) -> None:
    follows.like(table, topic, "ana", NOW)
    follows.watch(table, topic, "ana", NOW)
    late = [
        partial(follows.unlike, table, topic, "ana", LATE),
        partial(follows.unwatch, table, topic, "ana", LATE),
        partial(follows.like, table, topic, "bo", NOW, LATE),
        partial(follows.watch, table, topic, "bo", NOW, LATE),
        partial(follows.limit, table, topic, "ana", Limits(ceiling="1.00", currency="USD"), LATE),
    ]

    for request in late:
        with pytest.raises(NotSignedIn):
            request()

    assert counts(table, topic) == (1, 1)


@both_kinds
def test_what_was_not_given_is_not_taken_back_nor_limited(table: Table, topic: Topic) -> None:
    with pytest.raises(NotLiked):
        follows.unlike(table, topic, "ana")
    with pytest.raises(NotWatching):
        follows.unwatch(table, topic, "ana")
    with pytest.raises(NotWatching):
        follows.limit(table, topic, "ana", Limits(ceiling="1.00", currency="USD"))

    assert counts(table, topic) == (0, 0)
    assert follows.watches(table, "ana") == []


def counts(table: Table, topic: Topic) -> tuple[int, int]:
    """How many like a topic, and how many watch it."""
    found = topics.get(table, topic)
    return found.likes, found.watchers


@both_kinds
def test_liking_and_watching_twice_count_once(table: Table, topic: Topic) -> None:
    follows.like(table, topic, "ana", NOW)
    for name in ("ana", "bo"):
        follows.watch(table, topic, name, NOW)

    with pytest.raises(AlreadyLiked):
        follows.like(table, topic, "ana", NOW)
    with pytest.raises(AlreadyWatching):
        follows.watch(table, topic, "ana", NOW)

    assert counts(table, topic) == (1, 2)
    assert [follows.is_liked(table, topic, name) for name in ("ana", "bo", "cy")] == [True, False, False]
    assert [follows.is_watched(table, topic, name) for name in ("ana", "bo", "cy")] == [True, True, False]
    assert table.get(keys.like(topic, "ana")) == {
        **keys.like(topic, "ana"),
        **keys.like_in_likes(topic, "ana"),
        "Type": f"{topic.kind.label.title()}Like",
        "Username": "ana",
        "LikedAt": to_iso(NOW),
    }
    assert table.get(keys.watch(topic, "ana")) == {
        **keys.watch(topic, "ana"),
        **keys.watch_in_watches(topic, "ana"),
        "Type": f"{topic.kind.label.title()}Watch",
        "Username": "ana",
        "WatchedAt": to_iso(NOW),
    }


def test_all_likes_and_watches_of_one_user_go_and_are_uncounted(table: Table) -> None:
    many = [Topic(BRAND, f"brand-{number}") for number in range(5)]
    for topic in many:
        topics.create_brand(table, topic.slug, topic.slug, NOW)
    for topic in (*many, SHOES):
        for username in ("ana", "bo"):
            follows.watch(table, topic, username, NOW)
        follows.like(table, topic, "bo", NOW)
    follows.like(table, SHOES, "ana", NOW)

    removed = [follows.remove_some(table, "ana", 4, required=account_checks.required("ana")) for _ in range(3)]

    assert follows.watches(table, "ana") == follows.likes(table, "ana") == []
    assert {counts(table, topic) for topic in (*many, SHOES)} == {(1, 1)}
    assert counts(table, HOME) == (0, 0)
    assert removed == [4, 3, 0]


def test_what_goes_while_all_goes_is_uncounted_once(table: Table) -> None:
    follows.like(table, APPLE, "ana", NOW)
    follows.watch(table, SHOES, "ana", NOW)

    with before(table, "TransactWriteItems", lambda: follows.unlike(table, APPLE, "ana")):
        follows.remove_some(table, "ana", 9, required=account_checks.required("ana"))

    assert counts(table, APPLE) == counts(table, SHOES) == (0, 0)


def test_removing_all_stops_where_the_account_is_another(table: Table) -> None:
    follows.like(table, APPLE, "ana", NOW)

    with pytest.raises(NotSignedIn):
        follows.remove_some(table, "ana", 9, required=account_checks.required("ana", LATE))

    assert counts(table, APPLE) == (1, 0)


@both_kinds
def test_nothing_can_be_done_with_a_topic_that_does_not_exist(table: Table, topic: Topic) -> None:
    absent = Topic(topic.kind, "nobodys")

    for attempt in (
        lambda: follows.like(table, absent, "ana", NOW),
        lambda: follows.watch(table, absent, "ana", NOW),
        lambda: follows.unlike(table, absent, "ana"),
        lambda: follows.unwatch(table, absent, "ana"),
        lambda: topics.get(table, absent),
    ):
        with pytest.raises(NoSuchTopic) as refusal:
            attempt()
        assert refusal.value.field == topic.kind.label

    assert table.get(keys.topic(absent)) is None
    assert table.get(keys.like(absent, "ana")) is None
    assert follows.watches(table, "ana") == []


def test_likes_and_watches_are_brands_first_and_each_kind_by_slug(table: Table) -> None:
    topics.create_brand(table, "zara", "Zara", NOW)
    zara = Topic(BRAND, "zara")
    for topic in (SHOES, zara, HOME, APPLE):
        follows.like(table, topic, "ana", NOW)
        follows.watch(table, topic, "ana", NOW)
    follows.unlike(table, SHOES, "ana")
    follows.unwatch(table, HOME, "ana")

    with watched(table) as wire:
        liking, watching = follows.likes(table, "ana"), follows.watches(table, "ana")

    assert (liking, watching) == ([APPLE, zara, HOME], [APPLE, zara, SHOES])
    assert wire.operations == {"Query": 2}


def test_brands_are_listed_by_slug_with_the_names_editors_wrote(table: Table) -> None:
    for name in ("Nicoló", "G/Fore", "04651 / A Trip In A Bag"):
        topics.create_brand(table, naming.slug(name), name, NOW)

    named = topics.brand_names(table)

    assert list(named.items()) == [
        ("04651-a-trip-in-a-bag", "04651 / A Trip In A Bag"),
        ("apple", "Apple"),
        ("asics", "ASICS"),
        ("g-fore", "G/Fore"),
        ("nicolo", "Nicoló"),
    ]


def test_brands_created_together_write_the_list_once_and_are_all_there_or_none(table: Table) -> None:
    names = {f"brand-{number}": f"Brand {number}" for number in range(topics.MOST_BRANDS)}
    known = topics.brand_names(table)

    with watched(table) as wire, pytest.raises(BrandExists, match="apple"):
        topics.create_brands(table, {"new": "New", "apple": "APPLE"}, NOW)
    refused = topics.brand_names(table)
    topics.create_brands(table, names, NOW)

    assert wire.operations == {"TransactWriteItems": 1}
    assert refused == known
    assert topics.brand_names(table) == known | names
    assert topics.get(table, Topic(BRAND, "brand-98")).name == "Brand 98"


@pytest.mark.parametrize(
    "ask",
    [
        lambda table: topics.create_brand(table, "apple", "Apple", NOW),
        lambda table: deals.create_many(table, [a_deal()], NOW),
        lambda table: feeds.read(table, ALL_DEALS, limit=25, now=NOW),
        lambda table: feeds.sweep(table, NOW),
    ],
    ids=["brands", "deals", "feeds", "endings"],
)
def test_a_table_that_was_not_seeded_says_so(bare_table: Table, ask: Callable[[Table], object]) -> None:
    with pytest.raises(NotSeeded):
        ask(bare_table)

    assert topics.brand_names(bare_table) == {}
    assert bare_table.get(keys.topic(APPLE)) is None


@on(DYNOXIDE_ENGINE)
def test_a_full_list_of_brands_says_so_and_takes_no_brand(table: Table) -> None:
    full = {"one": "x" * (400 * 1024 - 200)}
    table.write(update(keys.brands(), "SET Brands = :full", values={":full": full}, refused=None))

    with pytest.raises(BrandsAreFull, match="full"):
        topics.create_brand(table, "one-more", "y" * 300, NOW)

    assert table.get(keys.topic(Topic(BRAND, "one-more"))) is None
    assert topics.brand_names(table) == full
