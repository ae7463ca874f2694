"""Indexes, and reads that are not consistent, lag: some things hold meanwhile, the others once they have caught up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest

from shared.data.catalog import deals, feeds, page_cache, topics
from shared.data.members import follows, messages, users
from shared.dynamodb.table import Table
from shared.errors import AlreadyWatching, NoSuchMessage, NotLiked
from shared.models.catalog import ALL_DEALS, BRAND, Feed, Status, Topic
from tests.support.engines import FAST_SERVER
from tests.support.factories import (
    APPLE,
    FEEDS,
    LAUNCH,
    NOW,
    SHOES,
    a_deal,
    a_message,
    a_user,
    ago,
    ids,
    leave,
    open_brands,
    post,
    send,
    three_feeds,
    walk,
)
from tests.support.wire import Lag, lagging


@pytest.fixture
def table() -> Iterator[Table]:
    with FAST_SERVER.bare_table() as table:
        yield table


@pytest.fixture
def lag(table: Table) -> Iterator[Lag]:
    """Reads that show what a deployment leaves and two users, and nothing since, unless they are consistent."""
    with lagging(table) as lag:
        topics.plant_seeds(table, LAUNCH)
        open_brands(table)
        for name in ("ana", "bo"):
            users.create(table, a_user(name))
        lag.catch_up()
        yield lag


@three_feeds
def test_a_feed_has_its_older_deals_while_the_newest_are_not_in_its_index_yet(
    table: Table, lag: Lag, feed: Feed
) -> None:
    older = post(table, [a_deal(ago(days=number)) for number in range(1, 31)])
    lag.catch_up()
    newest = deals.create(table, a_deal(), NOW)

    before = [page.items for page in walk(table, feed)]
    lag.catch_up()
    after = [page.items for page in walk(table, feed)]

    assert [ids(page) for page in before] == [ids(older[:25]), ids(older[25:])]
    assert [deal.deal_id for page in after for deal in page] == [newest.deal_id, *ids(older)]


def test_pages_neither_repeat_nor_skip_when_the_index_catches_up_between_them(table: Table, lag: Lag) -> None:
    older = post(table, [a_deal(ago(days=number)) for number in range(1, 31)])
    lag.catch_up()
    deals.create(table, a_deal(), NOW)

    first = feeds.read(table, ALL_DEALS, limit=25, now=NOW)
    lag.catch_up()
    second = feeds.read(table, ALL_DEALS, limit=25, now=NOW, cursor=first.next)

    assert ids([*first.items, *second.items]) == ids(older)


def test_a_deal_whose_withdrawal_the_index_has_not_seen_is_withdrawn_by_itself(table: Table, lag: Lag) -> None:
    (deal,) = post(table, [a_deal()])
    lag.catch_up()
    deals.withdraw(table, deal.deal_id, NOW)

    assert deals.get(table, deal.deal_id, consistent=True).status(NOW) is Status.WITHDRAWN
    lag.catch_up()
    assert all(not page.items for feed in FEEDS for page in walk(table, feed))


def test_a_copy_has_what_the_stream_brought_though_the_index_lags(table: Table, lag: Lag) -> None:
    older = post(table, [a_deal(ago(days=number)) for number in range(1, 4)])
    lag.catch_up()
    newest = deals.create(table, a_deal(), NOW)
    gone = deals.withdraw(table, older[0].deal_id, NOW)

    page = page_cache.newest(table, ALL_DEALS, NOW, [newest.deal_id, gone.deal_id], None)

    assert ids(page.items) == [newest.deal_id, *ids(older[1:])]


def test_a_message_is_read_at_once_and_leaves_the_unread_ones_when_the_index_sees_it(table: Table, lag: Lag) -> None:
    message = a_message()
    send(table, message)
    lag.catch_up()

    read = messages.mark_read(table, "ana", message.message_id, NOW)

    assert not read.unread
    assert messages.mark_all_read(table, "ana", NOW) == 0
    messages.mark_read(table, "ana", message.message_id, NOW + timedelta(minutes=1))
    lag.catch_up()
    (shown,) = messages.latest(table, "ana", limit=25, now=NOW).items
    assert not shown.unread
    assert messages.unread_count(table, "ana", NOW) == 0
    with pytest.raises(NoSuchMessage):
        messages.mark_read(table, "bo", message.message_id, NOW)


def test_a_watch_counts_at_once_and_is_not_made_twice_though_its_list_lags(table: Table, lag: Lag) -> None:
    for topic in (APPLE, SHOES):
        follows.watch(table, topic, "ana", NOW)

    assert topics.get(table, APPLE, consistent=True).watchers == 1
    with pytest.raises(AlreadyWatching):
        follows.watch(table, APPLE, "ana", NOW)
    assert follows.watches(table, "ana") == []
    lag.catch_up()
    assert follows.is_watched(table, APPLE, "ana")
    assert follows.watches(table, "ana") == [APPLE, SHOES]
    follows.unwatch(table, APPLE, "ana")
    assert topics.get(table, APPLE, consistent=True).watchers == 0


def test_reading_all_misses_no_message_that_the_index_does_not_show_yet(table: Table, lag: Lag) -> None:
    shown, hidden = a_message(a_deal(ago(days=1))), a_message(a_deal())
    send(table, shown)
    lag.catch_up()
    send(table, hidden)

    marked = messages.mark_all_read(table, "ana", NOW)

    assert marked == 2
    lag.catch_up()
    assert [message.unread for message in messages.latest(table, "ana", limit=9, now=NOW).items] == [False, False]
    assert messages.unread_count(table, "ana", NOW) == 0


def test_reading_all_misses_no_message_that_was_written_long_after_its_announcement(table: Table, lag: Lag) -> None:
    deal = a_deal(ago(hours=5))
    send(table, a_message(replace(deal, hot_at=ago(hours=4, minutes=1)), kind="hot", now=NOW))

    assert messages.mark_all_read(table, "ana", NOW) == 1
    lag.catch_up()
    assert messages.unread_count(table, "ana", NOW) == 0


def test_a_brand_that_was_made_a_moment_ago_is_known_to_who_asks_for_it_liked_and_left(table: Table, lag: Lag) -> None:
    topics.create_brand(table, "g-fore", "G/Fore", NOW)
    g_fore = Topic(BRAND, "g-fore")

    with pytest.raises(NotLiked):
        follows.unlike(table, g_fore, "ana")
    follows.like(table, g_fore, "ana", NOW)
    leave(table)

    assert "g-fore" in topics.brand_names(table, consistent=True)
    assert "g-fore" not in topics.brand_names(table)
    assert topics.get(table, g_fore, consistent=True).likes == 0
