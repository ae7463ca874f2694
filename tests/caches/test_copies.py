"""Copies of lists, in the table and for a second in memory: how they are built, and when they are served."""

from __future__ import annotations

import base64
import zlib
from datetime import timedelta
from itertools import islice
from typing import Any

import pytest

from shared import settings
from shared.data import keys
from shared.data.catalog import deals, page_cache, picks
from shared.data.catalog.deals import to_item_listed
from shared.data.catalog.page_cache import FRONT_PAGE_PICKS, HTML, JSON, NEWEST, PARTS, PICKED, Cached, Copy, CopyCache
from shared.data.members import follows
from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import INDEX_KEYS, USER_INDEX
from shared.dynamodb.table import Table
from shared.dynamodb.writes import put, update
from shared.errors import NoSuchTopic
from shared.models.catalog import ALL_DEALS, CATEGORY, EDITORS_CHOICE, FRONT_PAGE, Deal, Topic, feed_of
from shared.values import times
from tests.caches.conftest import Get, Refresh
from tests.support.engines import on_servers, put_all
from tests.support.factories import HOME, NOW, SHOES, a_deal, ahead, ids, join, post
from tests.support.real_deals import create, lines
from tests.support.surroundings import by_ttl, damaged, of_category_picks, of_deal, of_picks
from tests.support.wire import Request, watched

SHARDS = range(1, settings.CACHE_SHARDS + 1)
TODAY = times.now()
"""The functions' clock is the real one, so these tests' is, too."""


def post_now(table: Table, count: int = 1, **fields: Any) -> list[Deal]:
    """Create deals a second apart, the newest a minute ago; newest first."""
    posted = [a_deal(TODAY - timedelta(seconds=60 + number), **fields) for number in range(count)]
    return post(table, posted, TODAY)


def copies(table: Table, part: Cached) -> list[Item | None]:
    return [table.get(part.key(shard), consistent=True) for shard in SHARDS]


def text(copy: Item | None) -> str:
    assert copy is not None
    return page_cache.decompress(copy["Body"])


def shown(page: Any) -> list[str]:
    """The ids of the deals of a list."""
    return [deal["dealId"] for deal in (page["items"] if isinstance(page, dict) else page)]


def spoil(table: Table, part: Cached, **attributes: Any) -> None:
    """Change what all copies of a part hold."""
    for copy in copies(table, part):
        table.write(put({**(copy or {}), **attributes}, because="a test"))


def test_every_shard_of_every_part_is_written_also_where_nothing_is_found(
    table: Table, refresh: Refresh, get: Get
) -> None:
    refresh()

    assert get("/front-page") == {"featured": [], "latest": {"items": [], "next": None}}
    for part in PARTS:
        written = copies(table, part)
        assert [copy["PK"].rpartition("#")[2] for copy in written if copy] == [str(shard) for shard in SHARDS]
        assert len({text(copy) for copy in written}) == 1


def test_a_newer_build_overwrites_an_older_or_damaged_one_and_never_the_reverse(table: Table) -> None:
    table.write(put({**NEWEST.key(1), "Type": NEWEST.type}, because="a test"))  # when it was built is lost
    for milliseconds in (1, 2, 0):
        began, copy = TODAY + timedelta(milliseconds=milliseconds), Copy(latest=f'{{"items":[{milliseconds}]}}')
        page_cache.write(table, NEWEST, copy, began=began, expires=TODAY + timedelta(minutes=1))

    assert [text(copy) for copy in copies(table, NEWEST)] == ['{"items":[2]}'] * settings.CACHE_SHARDS


def test_a_usable_copy_is_what_is_served(table: Table, refresh: Refresh, get: Get) -> None:
    (deal,) = post_now(table)
    refresh(of_deal(None, deal))
    (kept,) = page_cache.read(table, [NEWEST], shard=2, now=TODAY)

    # Behind the functions' back, so that only the copies still know the deal.
    table.write(put({**keys.deal(deal.deal_id), "Type": "None"}, because="a test"))

    assert kept is not None
    assert shown(get("/front-page")["latest"]) == [deal.deal_id]
    assert shown(get("/deals")) == [deal.deal_id]
    assert shown(get("/categories/shoes")["latest"]) == [deal.deal_id]


WRONG = {
    "missing": None,
    "stale": {"ExpiresAt": int(TODAY.timestamp()) - 1},
    "garbage": {"Body": b"garbage"},
    "cut": {"Body": page_cache.compress('{"items":[],"next":null}')[:-3]},
    "half": {"Body": page_cache.compress('{"items":[],"next":null}')[:12]},
    "compressed bytes that are no text": {"Body": zlib.compress(b"\xff\xfe\x00")},
    "compressed nonsense": {"Body": page_cache.compress("nonsense")},
    "another part's": {"Body": page_cache.compress(Copy('{"items":[]}', "[]").text + "\x1e{}")},
    "text": {"Body": base64.b64encode(page_cache.compress("{}")).decode()},
    "nothing": {"Body": None},
}


@on_servers
def test_an_unusable_copy_falls_back_to_the_indexes(table: Table, refresh: Refresh, get: Get) -> None:
    older, newer = reversed(post_now(table, 2))
    picks.set_featured(table, FRONT_PAGE, [older.deal_id], TODAY)
    picks.set_featured(table, EDITORS_CHOICE, [newer.deal_id], TODAY)
    good: list[Item] = []

    for name, wrong in WRONG.items():
        if wrong is not None:
            if not good:
                refresh()
                good = [copy for part in PARTS for copy in copies(table, part) if copy]
            put_all(table, [{**copy, **wrong} for copy in good])

        read = [page_cache.read(table, PARTS, shard=shard, now=TODAY) for shard in SHARDS]

        assert read == [[None] * len(PARTS)] * settings.CACHE_SHARDS, name
        assert shown(get("/front-page")["latest"]) == ids([newer, older]), name
        assert shown(get("/front-page")["featured"]) == [older.deal_id], name
        assert shown(get("/editors-choice")["featured"]) == [newer.deal_id], name
        assert shown(get("/deals")) == ids([newer, older]), name
        assert shown(get("/categories/shoes")["latest"]) == ids([newer, older]), name
        assert shown(get("/categories/shoes/deals")) == ids([newer, older]), name
    assert len(good) == len(PARTS) * settings.CACHE_SHARDS
    refresh(of_deal(None, newer))
    assert page_cache.read(table, [NEWEST], shard=1, now=TODAY) != [None]


def test_a_copy_is_believed_until_the_earliest_end_of_its_deals(table: Table, refresh: Refresh, get: Get) -> None:
    started = times.now()  # these deals must not end before the test does, however late in a run it comes
    soon, later = started + timedelta(seconds=90), started + timedelta(seconds=120)
    ending = post(table, [a_deal(started - timedelta(minutes=1), ends_at=end) for end in (later, soon)], started)
    refresh(*(of_deal(None, deal) for deal in ending))

    before, after = (
        page_cache.read(table, [NEWEST, PICKED[SHOES]], shard=1, now=when)
        for when in (soon - timedelta(seconds=1), soon)
    )

    assert None not in before
    assert after == [None, None]


def test_a_copy_of_deals_without_an_end_is_believed_for_its_lifetime(table: Table, refresh: Refresh) -> None:
    refresh(of_deal(None, post_now(table)[0]))

    (copy, *_) = copies(table, NEWEST)

    assert copy is not None
    assert copy["ExpiresAt"] == int(copy["BuiltAt"] / 1000 + settings.CACHE_LIFETIME.total_seconds())


def test_the_picks_of_a_page_count_among_its_deals_ends(table: Table, refresh: Refresh) -> None:
    started = times.now()
    end = started + timedelta(seconds=90)
    (deal,) = post(table, [a_deal(started - timedelta(minutes=1), ends_at=end)], started)
    picks.set_featured(table, FRONT_PAGE, [deal.deal_id], started)
    refresh(of_picks(FRONT_PAGE))

    (copy, *_) = copies(table, FRONT_PAGE_PICKS)

    assert copy is not None
    assert copy["ExpiresAt"] == int(end.timestamp())


def test_a_deal_of_the_build_before_stays_though_the_index_does_not_show_it_yet(table: Table, refresh: Refresh) -> None:
    first, second = post_now(table, 2)
    refresh(of_deal(None, first), of_deal(None, second))
    for deal in (first, second):
        lag(table, deal)
    (previous,) = page_cache.read(table, [NEWEST], shard=1, now=TODAY)

    page = page_cache.newest(table, ALL_DEALS, TODAY, also=[], previous=previous)

    assert ids(page.items) == ids([first, second])


@on_servers
def test_a_build_reads_on_past_deals_that_the_index_shows_wrongly_also_while_old_ones_are_imported(
    table: Table,
) -> None:
    posted = post_now(table, 60)
    old = post(table, [a_deal(TODAY - timedelta(days=400, seconds=number)) for number in range(30)], TODAY)
    for deal in posted[:30]:
        # Withdrawn behind the index's back: what it projects says that they are active.
        withdrawn = deals.withdraw(table, deal.deal_id, TODAY)
        table.write(put(to_item_listed(withdrawn, listed=True), because="the index lags behind"))

    page = page_cache.newest(table, ALL_DEALS, TODAY, also=ids(old), previous=Copy(latest="{}"))

    assert ids(page.items) == ids(posted[30:55])
    assert page.next is not None


def test_a_build_holds_a_categorys_own_deals_only(table: Table) -> None:
    (shoe,) = post_now(table)
    (lamp,) = post_now(table, category="home")

    built = {
        topic: page_cache.newest(table, feed_of(topic), TODAY, also=[shoe.deal_id, lamp.deal_id], previous=None)
        for topic in (SHOES, HOME)
    }

    assert {topic: ids(page.items) for topic, page in built.items()} == {SHOES: ids([shoe]), HOME: ids([lamp])}


def test_a_batch_of_the_stream_is_one_build_and_not_one_for_each_deal(
    table: Table, functions_of: Table, refresh: Refresh
) -> None:
    posted = post_now(table, 12)

    with watched(functions_of) as wire:
        refresh(*(of_deal(None, deal) for deal in posted))

    # The newest deals and the one category, each as JSON and as HTML.
    assert wire.operations["PutItem"] == 2 * 2 * settings.CACHE_SHARDS
    assert wire.operations["UpdateItem"] == 0


def test_a_record_that_cannot_be_read_does_not_keep_the_others_from_the_build(table: Table, refresh: Refresh) -> None:
    first, second = post_now(table, 2)
    poison = damaged(to_item_listed(a_deal(TODAY), listed=True))

    answer = refresh(of_deal(None, first), poison, of_deal(None, second))

    assert answer == {"batchItemFailures": []}
    (cached,) = page_cache.read(table, [NEWEST], shard=1, now=TODAY)
    assert cached is not None
    assert first.deal_id in cached.text
    assert second.deal_id in cached.text


def test_a_removal_by_ttl_builds_nothing(table: Table, functions_of: Table, refresh: Refresh) -> None:
    item = to_item_listed(a_deal(TODAY), listed=True)

    with watched(functions_of) as wire:
        answer = refresh(by_ttl(item), by_ttl({**keys.session("hash"), "Type": "Session"}))

    assert answer == {"batchItemFailures": []}
    assert not wire.requests


def test_the_clock_rebuilds_what_is_half_way_to_being_stale_and_nothing_else(
    table: Table, functions_of: Table, refresh: Refresh
) -> None:
    refresh()
    half = settings.CACHE_LIFETIME.total_seconds() * 1000 / 2
    aged = PICKED[HOME]
    spoil(table, aged, BuiltAt=int(TODAY.timestamp() * 1000 - half - 1000))

    with watched(functions_of) as wire:
        refresh()

    written = {each.body["Item"]["PK"]["S"] for each in wire.requests if each.operation == "PutItem"}
    assert written == {aged.key(shard)["PK"] for shard in SHARDS}
    assert wire.operations["PutItem"] == 2 * settings.CACHE_SHARDS  # as JSON and as HTML


def test_a_page_that_is_newly_picked_is_rebuilt(table: Table, refresh: Refresh, get: Get) -> None:
    posted = post_now(table, 5)
    refresh()

    picks.set_featured(table, EDITORS_CHOICE, ids(posted[:1]), TODAY)
    picks.set_category_featured(table, "shoes", ids(posted), TODAY)
    refresh(of_picks(EDITORS_CHOICE), of_category_picks(SHOES))

    assert shown(get("/editors-choice")["featured"]) == ids(posted[:1])
    assert shown(get("/categories/shoes")["featured"]) == ids(posted)


def test_a_category_pages_likes_are_those_of_this_moment(table: Table, refresh: Refresh, get: Get) -> None:
    refresh(of_deal(None, post_now(table)[0]))
    before = get("/categories/shoes")

    join(table, "ana")
    follows.like(table, SHOES, "ana", TODAY)
    follows.watch(table, SHOES, "ana", TODAY)
    after = get("/categories/shoes")

    assert (before["likes"], before["watchers"], after["likes"], after["watchers"]) == (0, 0, 1, 1)
    assert before["latest"] == after["latest"]


@pytest.fixture
def real_deals(table: Table) -> None:
    """A page of real deals without withdrawn ones."""
    create(table, [*islice(lines(), settings.CACHED_PAGE)], TODAY)


@on_servers
def test_the_front_page_is_one_request_that_costs_twice_half_a_unit(
    table: Table, functions_of: Table, real_deals: None, refresh: Refresh, get: Get
) -> None:
    picks.set_featured(table, FRONT_PAGE, shown(get("/front-page")["latest"]), TODAY)
    refresh()

    with watched(functions_of) as wire:
        page = get("/front-page")

    (request,) = wire.requests
    assert request.operation == "BatchGetItem"
    assert len(page["featured"]) == len(page["latest"]["items"]) == settings.CACHED_PAGE
    assert units(table, request) == [0.5, 0.5]


def units(table: Table, batch: Request) -> list[float]:
    """The RRU of each key of a BatchGetItem, each read for itself: MiniStack has no figure for a batch."""
    wanted = batch.body["RequestItems"][table.name]
    assert not wanted["ConsistentRead"]
    each = [
        table.client.get_item(TableName=table.name, Key=key, ReturnConsumedCapacity="TOTAL") for key in wanted["Keys"]
    ]
    return [answer["ConsumedCapacity"]["CapacityUnits"] for answer in each]


def test_the_cached_pages_cursor_leads_to_the_next_deals_and_another_size_is_another_page(
    table: Table, refresh: Refresh, get: Get
) -> None:
    posted = post_now(table, 30)
    refresh()

    first = get("/front-page")["latest"]
    second = get("/deals", cursor=first["next"])

    assert shown(first) + shown(second) == ids(posted)
    assert shown(get("/front-page", limit="2")["latest"]) == ids(posted[:2])
    assert shown(get("/categories/shoes", limit="1")["latest"]) == ids(posted[:1])


def lag(table: Table, deal: Deal) -> None:
    """Take a deal out of the indexes but not out of the table, as if they had not heard of it yet."""
    removal = f"REMOVE {', '.join(sorted(INDEX_KEYS - {USER_INDEX.partition_key}))}"
    table.write(update(keys.deal(deal.deal_id), removal, refused=None))


NEXT = NOW + settings.COPIES_ARE_KEPT
OLD, NEW = Copy(latest='{"items":["old"]}'), Copy(latest='{"items":["new"]}')


def written(table: Table, copy: Copy, *, began: timedelta = timedelta(), lasts: timedelta = timedelta(days=1)) -> None:
    page_cache.write(table, NEWEST, copy, began=NOW + began, expires=NOW + lasts)


def latest(kept: CopyCache, table: Table, **when: object) -> str | None:
    (copy,) = kept.read(table, [NEWEST], shard=1, **when)  # type: ignore[arg-type]  # just the time
    return None if copy is None else copy.latest


def test_a_copy_is_read_once_in_a_second_and_what_was_rebuilt_is_shown_a_second_later(table: Table) -> None:
    kept = CopyCache()
    written(table, OLD)

    with watched(table) as wire:
        shown = {latest(kept, table, now=NOW + timedelta(milliseconds=10 * number)) for number in range(100)}
    written(table, NEW, began=timedelta(milliseconds=1))

    assert (shown, wire.operations) == ({OLD.latest}, {"BatchGetItem": 1})
    assert latest(kept, table, now=NEXT - timedelta(milliseconds=1)) == OLD.latest
    assert latest(kept, table, now=NEXT) == NEW.latest


def test_a_copy_is_not_shown_beyond_its_end_nor_before_it_was_read(table: Table) -> None:
    kept = CopyCache()
    written(table, OLD, lasts=timedelta(seconds=10))
    assert latest(kept, table, now=ahead(seconds=9.5)) == OLD.latest

    assert latest(kept, table, now=ahead(seconds=10)) is None
    with watched(table) as wire:
        latest(kept, table, now=ahead(seconds=9))  # a clock that was set back
    assert wire.operations == {"BatchGetItem": 1}


def test_a_copy_that_is_missing_is_looked_for_each_time(table: Table) -> None:
    kept = CopyCache()
    before = latest(kept, table, now=NOW)
    written(table, NEW)

    assert (before, latest(kept, table, now=NOW)) == (None, NEW.latest)


def test_only_what_is_not_kept_is_read(table: Table) -> None:
    kept = CopyCache()
    for part in PARTS:
        copy = Copy(picks="[]" if part.picks else None, latest="{}" if part.feed else None)
        page_cache.write(table, part, copy, began=NOW, expires=ahead(hours=1))
    latest(kept, table, now=NOW)

    with watched(table) as wire:
        found = kept.read(table, PARTS, shard=1, now=NOW)

    assert None not in found
    (request,) = wire.requests
    assert len(request.body["RequestItems"][table.name]["Keys"]) == len(PARTS) - 1


def test_a_category_is_kept_with_its_counts(table: Table) -> None:
    kept = CopyCache()
    page_cache.write(table, PICKED[SHOES], Copy(picks="[]", latest="{}"), began=NOW, expires=ahead(hours=1))
    before, _ = kept.read_category(table, SHOES, shard=1, now=NOW)
    join(table, "ana")
    follows.like(table, SHOES, "ana", NOW)

    with watched(table) as wire:
        within, _ = kept.read_category(table, SHOES, shard=1, now=NOW)
    after, _ = kept.read_category(table, SHOES, shard=1, now=NEXT)

    assert not wire.requests
    assert (before.likes, within.likes, after.likes) == (0, 0, 1)


def test_a_category_that_is_none_is_refused_without_a_read(table: Table) -> None:
    with watched(table) as wire, pytest.raises(NoSuchTopic):
        CopyCache().read_category(table, Topic(CATEGORY, "boats"), shard=1, now=NOW)

    assert not wire.requests


def test_a_parts_copies_as_json_and_as_html_are_two(table: Table) -> None:
    kept = CopyCache()
    written(table, OLD)
    page_cache.write(table, NEWEST, Copy(latest="<li>Shoe</li>\n"), began=NOW, expires=ahead(hours=1), form=HTML)

    texts = {form.name: kept.read(table, [NEWEST], shard=1, now=NOW, form=form) for form in (JSON, HTML)}

    assert [copy and copy.latest for copy in texts["JSON"]] == [OLD.latest]
    assert [copy and copy.latest for copy in texts["HTML"]] == ["<li>Shoe</li>\n"]


def test_what_is_written_of_a_part_is_what_is_read(table: Table) -> None:
    copies = [(JSON, Copy('["a\\u001e"]', "{}")), (HTML, Copy("", "<p>\n</p>")), (HTML, Copy("<b>", ""))]
    for number, (form, copy) in enumerate(copies):
        page_cache.write(table, PICKED[SHOES], copy, began=ahead(seconds=number), expires=ahead(days=1), form=form)

        (read,) = page_cache.read(table, [PICKED[SHOES]], shard=1, now=NOW, form=form)

        assert read is not None
        assert (read.picks, read.latest) == (copy.picks, copy.latest)
