"""Feeds: full pages, three round trips, nothing repeated or skipped; and editors' picks."""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from shared.data import keys
from shared.data.catalog import deals, feed_counts, feeds, picks, topics
from shared.data.members import follows
from shared.dynamodb.table import Table
from shared.errors import InvalidCursor, NoSuchDeals, NoSuchTopic, WrongFeaturedCount
from shared.models.catalog import (
    ALL_DEALS,
    BRAND,
    CATEGORY,
    EDITORS_CHOICE,
    FRONT_PAGE,
    CuratedPage,
    Deal,
    Feed,
    Period,
    Topic,
    feed_of,
)
from shared.values import identifiers
from tests.support.engines import on_servers
from tests.support.factories import (
    APPLE,
    ASICS,
    FEEDS,
    HOME,
    NOW,
    SHOES,
    a_deal,
    ago,
    ahead,
    as_large_as_allowed,
    ids,
    join,
    listed,
    newest_first,
    post,
    three_feeds,
    walk,
)
from tests.support.wire import hooked, watched

COUNTS = Counter(Query=3, GetItem=1)
"""The requests, in one round trip, that tell which periods hold deals and how many of those have ended."""


def test_counts_up_to_a_day_are_read_from_there_and_say_nothing_of_later_ones(table: Table) -> None:
    post(table, [a_deal(datetime(2050, month, day, tzinfo=UTC)) for month in (1, 3, 4, 5) for day in (1, 2)])

    assert feed_counts.counts(table, ALL_DEALS, most=1, until="2050-03-01") == {
        f"2050-{day}": 1 for day in ("03-01", "01-02", "01-01")
    }


def test_the_newest_of_each_of_some_periods_are_read_at_once(table: Table) -> None:
    posted = post(table, [a_deal(ago(days=day)) for day in (0, 0, 0, 40, 40, 80)])
    days = [Period.DAY.start_of(ago(days=day)) for day in (0, 40)]

    with watched(table) as wire:
        found = feeds.of_periods(table, ALL_DEALS, days, most=2)

    assert ids(found) == ids([*newest_first(posted[:3])[:2], *newest_first(posted[3:5])])
    assert wire.round_trips == 1


def test_a_page_reads_of_its_last_day_only_what_the_days_before_it_leave(table: Table) -> None:
    post(table, [a_deal(ago(days=n % 4, minutes=n)) for n in range(3)])
    post(table, [a_deal(ago(days=4, minutes=n)) for n in range(9)])

    with watched(table) as wire:
        page = feeds.read(table, ALL_DEALS, limit=5, now=NOW)

    limits = [each.body["Limit"] for each in wire.requests if str(each.partition).startswith("DEALS#")]
    assert (len(page.items), limits) == (5, [6, 5, 4, 3])


@three_feeds
def test_a_feed_without_deals_is_an_empty_page_after_one_round_trip(table: Table, feed: Feed) -> None:
    with watched(table) as wire:
        page = feeds.read(table, feed, limit=25, now=NOW)

    assert page.items == ()
    assert page.next is None
    assert wire.operations == COUNTS
    assert wire.round_trips == 1


def test_an_older_deal_imported_between_two_pages_is_listed_in_its_place(table: Table) -> None:
    posted = post(table, [a_deal(ago(days=10 * number)) for number in range(4)])
    firsts = {feed: feeds.read(table, feed, limit=2, now=NOW) for feed in FEEDS}
    (imported,) = post(table, [a_deal(ago(days=25))])

    for feed, first in firsts.items():
        second = feeds.read(table, feed, limit=25, now=NOW, cursor=first.next)
        assert ids(second.items) == ids([posted[2], imported, posted[3]])


def test_a_full_partition_is_one_round_trip_behind_the_counts(table: Table) -> None:
    post(table, [a_deal() for _ in range(12)])

    for feed in FEEDS:
        with watched(table) as first_wire:
            first = feeds.read(table, feed, limit=5, now=NOW)
        with watched(table) as second_wire:
            feeds.read(table, feed, limit=5, now=NOW, cursor=first.next)
        assert first_wire.operations == COUNTS + Counter(Query=1)
        assert first_wire.round_trips == 2
        assert second_wire.operations == {"Query": 1}


HISTORIES = {
    "one burst": [0] * 60,
    "each day": list(range(60)),
    "each year": [365 * year for year in range(30)],
    "a burst and then each year": [0] * 27 + [365 * year for year in range(30)],
    "a burst long ago": [0, 1, 2, *[9_000] * 40],
    "pairs": [day for number in range(30) for day in (31 * number, 31 * number)],
}


def read_in_three_round_trips(table: Table, feed: Feed, *, limit: int, now: datetime, pages: int = 1000) -> list[str]:
    """The ids on the first pages of a feed, each of which must take three round trips at most."""
    found: list[str] = []
    cursor = None
    for _ in range(pages):
        with watched(table) as wire:
            page = feeds.read(table, feed, limit=limit, now=now, cursor=cursor)
        assert wire.round_trips <= 3
        found += ids(page.items)
        cursor = page.next
        if cursor is None:
            break
    return found


@pytest.mark.parametrize("history", HISTORIES.values(), ids=HISTORIES)
@on_servers
def test_no_page_of_any_history_takes_more_than_three_round_trips(table: Table, history: list[int]) -> None:
    posted = post(table, [a_deal(ago(days=day)) for day in history])

    for feed, limit in itertools.product(FEEDS, [7, 25]):
        assert read_in_three_round_trips(table, feed, limit=limit, now=NOW) == ids(posted)


@pytest.mark.parametrize("newer", [0, 5], ids=["before the first page", "before the second page"])
@on_servers
def test_a_page_among_ended_deals_is_full_after_three_round_trips(table: Table, newer: int) -> None:
    first_page = [a_deal() for _ in range(newer)]
    days = [ago(days=31 * number + 1) for number in range(30)]
    staying = post(table, [*first_page, *map(a_deal, days)])
    post(table, [a_deal(when, ends_at=ahead(minutes=1)) for when in days[: feeds.SPARE]])

    for feed in FEEDS:
        found = read_in_three_round_trips(table, feed, limit=5, now=ahead(hours=1), pages=2)
        assert found == ids(staying[:10])


@on_servers
def test_a_page_of_the_largest_deals_takes_three_round_trips(table: Table) -> None:
    # A page of 100 that begins where a day has none left, with the longest of keys: no round trip can be larger.
    topics.create_brand(table, "x" * 100, "X", NOW)
    largest = [as_large_as_allowed(a_deal(ago(days=day), brand="x" * 100)) for day in (0, 1) for _ in range(130)]
    posted = post(table, largest[30:])

    assert read_in_three_round_trips(table, ALL_DEALS, limit=100, now=NOW, pages=2) == ids(posted[:200])


@on_servers
def test_the_partitions_of_a_page_are_asked_all_at_once(table: Table) -> None:
    post(table, [a_deal(ago(days=number)) for number in range(26)])
    all_under_way = threading.Barrier(26)

    def wait_for_the_others(params: dict[str, Any], **_: Any) -> None:
        if b"GSI1" in params["body"]:  # the counts are asked before
            all_under_way.wait(timeout=120)

    with hooked(table, "before-call.dynamodb.Query", wait_for_the_others):
        page = feeds.read(table, ALL_DEALS, limit=25, now=NOW)

    assert len(page.items) == 25


@on_servers
def test_a_page_is_full_also_where_more_deals_have_ended_than_it_makes_room_for(table: Table) -> None:
    post(table, [a_deal(ago(minutes=number), ends_at=ahead(minutes=1)) for number in range(3 * feeds.SPARE)])
    staying = post(table, [a_deal(ago(days=50 + number)) for number in range(10)])

    for feed in FEEDS:
        page = feeds.read(table, feed, limit=5, now=ahead(hours=1))
        assert ids(page.items) == ids(staying[:5])
        assert page.next is not None


def test_a_second_page_reads_past_ended_deals_to_the_active_ones_behind_them(table: Table) -> None:
    newest, _, oldest = (
        post(table, [a_deal(ago(minutes=minute), ends_at=ends) for minute in range(*span)])
        for span, ends in [((0, 5), None), ((5, 20), ahead(minutes=1)), ((20, 40), None)]
    )

    for feed in FEEDS:
        pages = walk(table, feed, limit=5, now=ahead(hours=1))
        assert [ids(page.items) for page in pages[:2]] == [ids(newest), ids(oldest[:5])]
        assert ids(deal for page in pages for deal in page.items) == ids([*newest, *oldest])


def test_a_last_page_reads_past_as_many_ended_deals_as_it_has_read_the_counts_of(table: Table) -> None:
    months = [ago(days=31 * number) for number in range(feeds.SPARE + 3)]
    newest = post(table, [a_deal(), a_deal()])
    post(table, [a_deal(when, ends_at=ahead(minutes=1)) for when in months[1:-1]])
    (oldest,) = post(table, [a_deal(months[-1])])

    for feed in FEEDS:
        pages = walk(table, feed, limit=1, now=ahead(hours=1))
        assert [ids(page.items) for page in pages] == [[deal.deal_id] for deal in (*newest, oldest)]


def test_periods_behind_one_that_is_read_in_parts_are_not_passed_over(table: Table) -> None:
    """Nothing is known of ended deals where a page of a topic begins, so it reads among them by and by."""
    post(table, [a_deal(ago(minutes=minute), ends_at=ahead(minutes=1)) for minute in range(18)])
    staying = post(table, [a_deal(ago(days=40 * part, minutes=minute)) for part in (1, 2, 3) for minute in range(3)])

    for topic in (APPLE, SHOES):
        _, held = feeds.open_feed(table, topic)
        page = feeds.read(table, feed_of(topic), limit=5, now=ahead(hours=1), held=held)
        assert ids(page.items) == ids(staying[:5])


def test_a_deal_that_has_ended_is_not_listed_from_that_second_on(table: Table) -> None:
    ends = ahead(hours=1)
    (deal,) = post(table, [a_deal(ends_at=ends)])

    for feed in FEEDS:
        assert listed(table, feed, now=ends - timedelta(seconds=1)) == [deal.deal_id]
        assert listed(table, feed, now=ends) == []


def test_the_feed_of_an_unknown_brand_is_refused(table: Table) -> None:
    with pytest.raises(NoSuchTopic):
        feeds.read(table, feed_of(Topic(BRAND, "nobodys")), limit=25, now=NOW)


def a_cursor(table: Table, feed: Feed) -> str:
    post(table, [a_deal(ago(days=number)) for number in range(3)])
    cursor = feeds.read(table, feed, limit=1, now=NOW).next
    assert cursor is not None
    return cursor


def tampered(cursor: str) -> list[str]:
    """A cursor cut, lengthened, mistyped, and texts that never were one."""
    return [
        "", " ", "=", "x", "null", "0", "🙂", "\0", "../..", "DEAL", "a" * 5000,
        cursor[:-1], cursor[1:], cursor + "A", cursor + "=", cursor + "\n", " " + cursor,
        cursor.swapcase(), cursor[::-1], cursor[:10] + ("B" if cursor[10] == "A" else "A") + cursor[11:],
    ]  # fmt: skip


def test_a_cursor_that_was_tampered_with_is_refused(table: Table) -> None:
    for feed in FEEDS:
        for text in tampered(a_cursor(table, feed)):
            with pytest.raises(InvalidCursor):
                feeds.read(table, feed, limit=1, now=NOW, cursor=text)


def test_a_cursor_of_another_list_is_refused(table: Table) -> None:
    foreign = {feed: [feed_of(ASICS), feed_of(HOME), *(other for other in FEEDS if other != feed)] for feed in FEEDS}
    given = {feed: a_cursor(table, feed) for feed in FEEDS}

    for feed, others in foreign.items():
        for other in others:
            with pytest.raises(InvalidCursor):
                feeds.read(table, other, limit=1, now=NOW, cursor=given[feed])


def test_a_brand_and_a_category_of_one_name_do_not_share_cursors() -> None:
    of_brand, of_category = feeds.scope(feed_of(Topic(BRAND, "home"))), feeds.scope(feed_of(Topic(CATEGORY, "home")))

    cursor = identifiers.cursor_after(of_brand, a_deal().deal_id)

    with pytest.raises(InvalidCursor):
        identifiers.read_cursor(of_category, cursor)


@pytest.mark.parametrize("last_id", ["0" * 27, "aWgEPTl1tmebfsQzFP4bxwgy80V"], ids=["first", "last"])
def test_a_cursor_of_the_first_or_last_second_is_no_trouble(table: Table, last_id: str) -> None:
    posted = post(table, [a_deal(ago(days=number)) for number in range(2)])
    cursor = identifiers.cursor_after(feeds.scope(ALL_DEALS), last_id)

    page = feeds.read(table, ALL_DEALS, limit=25, now=NOW, cursor=cursor)

    older = [deal for deal in posted if deal.deal_id < last_id]
    assert ids(page.items) == ids(older)


def test_a_cursor_of_what_is_no_ksuid_is_refused() -> None:
    for last_id in ("", "z" * 27, "aWgEPTl1tmebfsQzFP4bxwgy80W", "9" * 26, "é"):
        with pytest.raises((InvalidCursor, UnicodeError)):
            identifiers.read_cursor("deals", identifiers.cursor_after("deals", last_id))


def test_a_cursor_outlives_the_deal_it_was_made_of(table: Table) -> None:
    one, two, three = post(table, [a_deal(ago(days=30 * number)) for number in range(3)])
    first = feeds.read(table, ALL_DEALS, limit=1, now=NOW)
    deals.withdraw(table, one.deal_id, NOW)

    second = feeds.read(table, ALL_DEALS, limit=25, now=NOW, cursor=first.next)

    assert ids(second.items) == ids([two, three])


both_pages = pytest.mark.parametrize("page", [FRONT_PAGE, EDITORS_CHOICE], ids=["front page", "editor's choice"])


@both_pages
def test_a_page_is_empty_before_the_first_picks_and_after_they_are_removed(table: Table, page: CuratedPage) -> None:
    before = picks.read(table, page, NOW)
    picks.set_featured(table, page, ids(post(table, [a_deal()])), NOW)

    picks.set_featured(table, page, [], NOW)

    assert before == picks.read(table, page, NOW) == []


@both_pages
def test_picks_that_do_not_exist_are_named_and_nothing_changes(table: Table, deal: Deal, page: CuratedPage) -> None:
    absent = [a_deal().deal_id, a_deal().deal_id]
    picks.set_featured(table, page, [deal.deal_id], NOW)

    with pytest.raises(NoSuchDeals) as refusal:
        picks.set_featured(table, page, [absent[0], deal.deal_id, absent[1]], NOW)

    assert refusal.value.deal_ids == tuple(absent)
    assert picks.read(table, page, NOW) == [deal]


@both_pages
def test_a_deal_is_picked_once_and_not_too_many_are(table: Table, page: CuratedPage) -> None:
    posted = post(table, [a_deal() for _ in range(2)])

    with pytest.raises(WrongFeaturedCount):
        picks.set_featured(table, page, ids([posted[0], posted[1], posted[0]]), NOW)
    with pytest.raises(WrongFeaturedCount):
        picks.set_featured(table, page, [a_deal().deal_id for _ in range(26)], NOW)


@pytest.mark.parametrize(("number", "allowed"), [(0, False), (4, False), (5, True), (10, True), (11, False)])
def test_a_category_features_five_to_ten(table: Table, number: int, allowed: bool) -> None:
    posted = post(table, [a_deal() for _ in range(number)])

    if allowed:
        picks.set_category_featured(table, "shoes", ids(posted), NOW)
    else:
        with pytest.raises(WrongFeaturedCount):
            picks.set_category_featured(table, "shoes", ids(posted), NOW)

    assert picks.read(table, SHOES, NOW) == (posted if allowed else [])
    assert picks.read(table, HOME, NOW) == []


def test_picks_for_an_unknown_category_are_refused(table: Table) -> None:
    posted = post(table, [a_deal() for _ in range(5)])

    with pytest.raises(NoSuchTopic):
        picks.set_category_featured(table, "toys", ids(posted), NOW)

    assert table.get(keys.topic(Topic(CATEGORY, "toys"))) is None


@both_pages
def test_a_picked_deal_that_has_ended_is_not_shown(table: Table, page: CuratedPage) -> None:
    ends, stays = post(table, [a_deal(ends_at=ahead(hours=1)), a_deal(ago(days=1))])
    picks.set_featured(table, page, [ends.deal_id, stays.deal_id], NOW)

    shown = picks.read(table, page, ahead(hours=1))

    assert shown == [stays]


@both_pages
def test_copies_follow_an_edit_and_keep_the_editors_order(table: Table, page: CuratedPage) -> None:
    posted = post(table, [a_deal() for _ in range(3)])
    picks.set_featured(table, page, ids(reversed(posted)), NOW)
    edited = deals.edit(table, posted[1].deal_id, {"title": "Road runner"}, NOW)

    followed = picks.refresh(table, page, NOW)

    assert followed == [posted[2], edited, posted[0]]
    assert picks.read(table, page, NOW) == followed


def test_a_categorys_copies_follow_and_its_counts_stay(table: Table) -> None:
    posted = post(table, [a_deal() for _ in range(5)])
    join(table, "ana")
    follows.like(table, SHOES, "ana", NOW)
    picks.set_category_featured(table, "shoes", ids(posted), NOW)
    deals.withdraw(table, posted[0].deal_id, NOW)

    shown = picks.refresh(table, SHOES, NOW)

    category = topics.get(table, SHOES)
    assert shown == posted[1:]
    assert (category.likes, feed_counts.counts(table, feed_of(SHOES))) == (1, {"2050-06-15": 4})
    assert picks.read(table, SHOES, NOW) == posted[1:]
    copies = (table.get(keys.featured(SHOES)) or {})["Featured"]
    assert ["WithdrawnAt" in copy for copy in copies] == [True, *[False] * 4]  # it is shown again once it is restored


def test_following_what_has_not_changed_writes_nothing(table: Table, deal: Deal) -> None:
    picks.set_featured(table, FRONT_PAGE, [deal.deal_id], NOW)

    with watched(table) as wire:
        picks.refresh(table, FRONT_PAGE, NOW)
        picks.refresh(table, EDITORS_CHOICE, NOW)

    assert set(wire.operations) == {"GetItem", "BatchGetItem"}


def test_an_editor_who_picks_while_copies_follow_wins(table: Table) -> None:
    one, two = post(table, [a_deal(), a_deal()])
    picks.set_featured(table, FRONT_PAGE, [one.deal_id], NOW)
    edited = deals.edit(table, two.deal_id, {"title": "Road runner"}, NOW)
    deals.edit(table, one.deal_id, {"title": "Road runner"}, NOW)
    picking = [[two.deal_id]]

    def pick_first(**_: object) -> None:
        if picking:
            picks.set_featured(table, FRONT_PAGE, picking.pop(), NOW)

    with hooked(table, "after-call.dynamodb.BatchGetItem", pick_first):
        picks.refresh(table, FRONT_PAGE, NOW)

    assert picks.read(table, FRONT_PAGE, NOW) == [edited]
