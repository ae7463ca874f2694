"""A search costs what it shows: requests, read units and round trips are as many however many deals there are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks import search as measured
from shared.data.catalog import search
from shared.dynamodb.table import Table
from tests.support.engines import DYNOXIDE, DYNOXIDE_ENGINE, on
from tests.support.factories import a_deal, ago, ids
from tests.support.wire import watched

FEW, MANY = 800, 2000


@pytest.fixture(scope="module")
def taken() -> tuple[dict[str, measured.Taken], dict[str, measured.Taken]]:
    """What each search takes of few deals, and of many more."""
    if not DYNOXIDE.exists():
        pytest.skip("dynoxide is not installed: npm has it for Linux on x86-64 only (npm ci)")
    found = []
    for size in (FEW, MANY):
        with measured.filled(size) as table:
            found.append(measured.measure(table))
    return found[0], found[1]


def test_a_search_takes_as_much_of_many_deals_as_of_few(
    taken: tuple[dict[str, measured.Taken], dict[str, measured.Taken]],
) -> None:
    few, many = taken
    full = {name for name, page in few.items() if page.found == many[name].found == 60}

    assert full >= {"a word", "the beginning of words", "two words", "a word, the page after it"}
    for name in full:
        assert (few[name].requests, few[name].round_trips) == (many[name].requests, many[name].round_trips), name
        assert abs(few[name].reads - many[name].reads) <= 0.1 * few[name].reads, name


def test_a_common_word_beside_a_rare_one_costs_nothing(
    taken: tuple[dict[str, measured.Taken], dict[str, measured.Taken]],
) -> None:
    for each in taken:
        page = each["a common word and a rare one"]

        assert (page.found, page.requests, page.round_trips) == (measured.RARE, 4, 3)
        assert page.reads < 10


def test_every_search_is_bounded(taken: tuple[dict[str, measured.Taken], dict[str, measured.Taken]]) -> None:
    for page in (page for each in taken for page in each.values()):
        assert page.requests <= 2 + 5 + 1
        assert page.round_trips <= 5
        assert page.reads <= 75


def walked(table: Table, typed: str, limit: int) -> list[tuple[str, ...]]:
    """The ids on each page of a search."""
    pages = [search.find(table, search.asked(typed), limit=limit)]
    while pages[-1].next is not None:
        pages.append(search.find(table, search.asked(typed), limit=limit, cursor=pages[-1].next))
    return [page.deal_ids for page in pages]


def test_a_search_walked_page_by_page_repeats_and_skips_nothing(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    made = [a_deal(ago(minutes=minute), title="Blue boot" if minute % 4 else "Boot") for minute in range(12)]
    for deal in [*made, a_deal(title="Red hat")]:
        search.file(table, None, deal)
    blue = [deal for deal in made if deal.title == "Blue boot"]

    for limit in (1, 5, 8, 9, 11, 12, 13):
        full_pages = [tuple(ids(made[start : start + limit])) for start in range(0, 12, limit)]
        assert walked(table, "boot", limit) == walked(table, "bo", limit) == full_pages
        for strides in ((4, 3, 2), (250,)):
            monkeypatch.setattr(search, "STRIDES", strides)
            assert [deal_id for page in walked(table, "blue boot", limit) for deal_id in page] == ids(blue)


@on(DYNOXIDE_ENGINE)
def test_a_search_of_words_that_never_meet_reads_so_many_and_offers_to_read_on(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "STRIDES", (2, 1))
    made = [a_deal(ago(minutes=n), title="Blue boot" if n == 6 else "Blue hat" if n % 2 else "Boot") for n in range(9)]
    for deal in made:
        search.file(table, None, deal)

    first = search.find(table, search.asked("blue boot"), limit=10)
    second = search.find(table, search.asked("blue boot"), limit=10, cursor=first.next)

    assert first.deal_ids == ()
    assert first.next is not None
    assert second.deal_ids == (made[6].deal_id,)


@on(DYNOXIDE_ENGINE)
def test_a_deal_that_was_renamed_is_found_by_its_new_words_together(table: Table) -> None:
    deal = a_deal(title="Blue boot")
    search.file(table, None, deal)

    search.file(table, deal, replace(deal, title="Green boot"))

    assert search.find(table, search.asked("boot green"), limit=10).deal_ids == (deal.deal_id,)
    assert search.find(table, search.asked("boot blue"), limit=10).deal_ids == ()


@on(DYNOXIDE_ENGINE)
def test_a_record_that_comes_again_after_a_later_one_takes_no_name_back(table: Table) -> None:
    deal = a_deal(title="Blue boot")
    renamed = replace(deal, title="Green boot", version=2)
    search.file(table, None, deal)
    search.file(table, deal, renamed)

    search.file(table, None, deal)  # out of the dead-letter queue

    assert search.find(table, search.asked("boot green"), limit=10).deal_ids == (deal.deal_id,)


@on(DYNOXIDE_ENGINE)
def test_a_change_that_renames_nothing_writes_no_word_again(table: Table) -> None:
    deal = a_deal(title="Blue boot")
    search.file(table, None, deal)

    with watched(table) as wire:
        search.file(table, deal, replace(deal, price="1.00", version=2))

    assert "UpdateItem" not in wire.operations


@on(DYNOXIDE_ENGINE)
def test_a_word_that_nobody_has_asks_for_no_deal(table: Table) -> None:
    search.file(table, None, a_deal(title="Blue boot"))

    with watched(table) as wire:
        found = search.find(table, search.asked("boot bleu"), limit=10)

    assert (found.deal_ids, found.near) == ((), ("blue",))
    assert not [request for request in wire.requests if str(request.partition).startswith("WORD#")]
