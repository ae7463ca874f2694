"""What writes, pages and searches cost, as the documents say, and after ten years."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path

import pytest

from benchmarks import search as measured
from benchmarks.growth import YEARS, live
from shared import settings
from shared.data import keys
from shared.data.catalog import changes, deals, feeds, offers, search, shops, words
from shared.data.catalog.changes import DealChange
from shared.data.members import follows
from shared.dynamodb.table import Table
from shared.models.catalog import Feed, Topic
from tests.support.engines import DYNOXIDE, DYNOXIDE_ENGINE, on
from tests.support.factories import FEEDS, NOW, a_deal, ago, ahead, both_kinds, ids, join, post
from tests.support.wire import Wire, taken_by, watched


def cost(table: Table, action: Callable[[], object]) -> float:
    """The capacity units that an action takes."""
    units = taken_by(table, {"it": action})["it"]
    return units.read + units.write


@on(DYNOXIDE_ENGINE)
@both_kinds
def test_a_like_and_a_watch_cost_the_same_after_ten_years(table: Table, topic: Topic) -> None:
    join(table, "ana", "bo")

    def costs(name: str) -> list[float]:
        return [cost(table, partial(follow, table, topic, name, NOW)) for follow in (follows.like, follows.watch)]

    new = costs("ana")
    live(table, YEARS)

    assert costs("bo") == new


@on(DYNOXIDE_ENGINE)
def test_posting_editing_and_withdrawing_a_deal_cost_the_same_after_ten_years(table: Table) -> None:
    def one_deal() -> None:
        deal = deals.create(table, a_deal(), NOW)
        deals.edit(table, deal.deal_id, {"brand": "asics"}, NOW)
        deals.withdraw(table, deal.deal_id, NOW)

    new = cost(table, one_deal)
    live(table, YEARS)

    assert cost(table, one_deal) == new


@on(DYNOXIDE_ENGINE)
def test_a_posted_deal_takes_the_write_units_that_the_document_says(table: Table) -> None:
    """Its cached pages, whose size depends on all deals, and the alerts are held where they are measured."""
    new = a_deal(edited_by="1 ana", source_id="a shop:1")
    posted = DealChange(None, new, NOW)
    steps: dict[str, Callable[[], object]] = {
        "the editor’s transaction": lambda: deals.create(table, new, NOW),
        "its words": lambda: search.file(table, None, new),
        "its offer": lambda: offers.file(table, None, new),
        "its log": lambda: changes.note(table, posted, "1"),
        "its shop": lambda: shops.remember_category(table, posted),
    }
    found_by = len(words.of_deal(new))

    page = (Path(__file__).parents[2] / "docs" / "cost.md").read_text(encoding="utf-8")
    assert [of.write for of in taken_by(table, steps).values()] == [16, 4 * found_by, 4, 1, 1]
    for line in ("16 for the editor's transaction", "4 for each word (ten words here, six in most", "4 for its offer"):
        assert f"\n- {line}" in page


@on(DYNOXIDE_ENGINE)
def test_no_item_that_is_written_often_grows(table: Table) -> None:
    live(table, YEARS)
    post(table, [a_deal()])

    items = [item for feed in FEEDS for item in table.query(keys.periods_between(feed, None)[0])]

    assert len(items) > 2 * 12 * (YEARS - 1)
    assert max(sum(len(name) + len(str(value)) for name, value in item.items()) for item in items) < 1024


@pytest.mark.parametrize(("many", "days"), [(1000, 1), (200, 100)], ids=["in one day", "over years"])
@on(DYNOXIDE_ENGINE)
def test_a_page_takes_three_round_trips_though_a_thousand_deals_wait_for_the_sweep(
    table: Table, many: int, days: int
) -> None:
    staying = post(table, [a_deal(ago(days=31 * number + 1)) for number in range(60)])
    clean = {feed: pages(table, feed, NOW) for feed in FEEDS}
    post(table, [a_deal(ago(days=9 * (n % days)), ends_at=ahead(minutes=1)) for n in range(many)])

    for feed in FEEDS:
        for (found, wire), (before, was) in zip(pages(table, feed, ahead(hours=1)), clean[feed], strict=True):
            assert found == before
            assert wire.round_trips <= 3
            if days == 1:
                assert len(wire.requests) <= 2 * len(was.requests)
        assert [deal_id for found, _ in clean[feed] for deal_id in found] == ids(staying[:50])


def pages(table: Table, feed: Feed, now: datetime) -> list[tuple[list[str], Wire]]:
    """The deals of the first two pages of a feed, and the requests for each."""
    read: list[tuple[list[str], Wire]] = []
    cursor = None
    for _ in range(2):
        with watched(table) as wire:
            page = feeds.read(table, feed, limit=25, now=now, cursor=cursor)
        read.append((ids(page.items), wire))
        cursor = page.next
    return read


FEW, MANY = 1200, 2400

Taken = dict[str, measured.Taken]
"""The cost of each search."""


@pytest.fixture(scope="module")
def taken() -> tuple[Taken, Taken]:
    """The cost of each search over few deals, and over many more."""
    if not DYNOXIDE.exists():
        pytest.skip("dynoxide is not installed: npm has it for Linux on x86-64 only (npm ci)")
    found = []
    for size in (FEW, MANY):
        with measured.filled(size) as table:
            found.append(measured.measure(table))
    return found[0], found[1]


def test_a_search_takes_as_much_of_many_deals_as_of_few(taken: tuple[Taken, Taken]) -> None:
    few, many = taken

    for name in ("a word", "the beginning of words", "two words", "a word, the page after it", "a word, as a feed"):
        assert few[name].found == many[name].found == settings.CARDS_OF_A_SEARCH, name
        assert (few[name].requests, few[name].round_trips) == (many[name].requests, many[name].round_trips), name
        assert abs(few[name].reads - many[name].reads) <= 0.1 * few[name].reads, name


def test_a_common_word_beside_a_rare_one_costs_nothing(taken: tuple[Taken, Taken]) -> None:
    for each in taken:
        page = each["a common word and a rare one"]

        # Of a page's 24 deals, twelve have both words; those with one of them take a request more, of 100 items.
        assert (page.found, page.requests, page.round_trips) == (2 * measured.RARE, 5, 4)
        assert page.reads < 18


def test_every_page_of_a_search_takes_at_most_25_read_units(taken: tuple[Taken, Taken]) -> None:
    for name, page in ((name, page) for each in taken for name, page in each.items()):
        assert page.reads <= 25, name
        assert page.requests <= 2 + 8 + 2, name
        assert page.round_trips <= 5, name


def test_deals_with_most_words_fill_a_page_of_few_with_all(taken: tuple[Taken, Taken]) -> None:
    for each in taken:
        assert each["words that few deals have all of"].found == settings.CARDS_OF_A_SEARCH
