"""Search: each deal that has the words once, page by page, as it is named now."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shared.data.catalog import search
from shared.dynamodb.table import Table
from tests.support.factories import a_deal, ago, ids, newest_first
from tests.support.wire import watched

pytestmark = pytest.mark.usefixtures("counted_as_told")


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


def word_counts(table: Table) -> dict[str, int]:
    return {item["Word"]: item["Deals"] for item in table.scan()[0] if item["Type"] == "WordCount"}


def found(table: Table, typed: str) -> list[str]:
    return list(search.find(table, search.asked(typed), limit=100).deal_ids)


def test_a_deal_is_found_and_counted_by_the_words_it_has_now_however_often_the_stream_says_so(table: Table) -> None:
    deal, other = a_deal(title="Blue boot"), a_deal(ago(minutes=1), title="Blue hat")
    renamed = replace(deal, title="Green boot", version=2)
    search.file(table, None, other)

    for _ in range(2):
        search.file(table, None, deal)
    assert word_counts(table) == {"apple": 2, "blue": 2, "boot": 1, "hat": 1}
    assert found(table, "blue") == ids([deal, other])

    for _ in range(2):
        search.file(table, deal, renamed)
    search.file(table, None, deal)  # out of the dead-letter queue, and then what came after it once more
    search.file(table, deal, renamed)
    assert word_counts(table) == {"apple": 2, "blue": 1, "green": 1, "boot": 1, "hat": 1}
    assert found(table, "boot green") == found(table, "green") == [deal.deal_id]
    assert found(table, "boot blue") == []
    assert found(table, "blue") == [other.deal_id]

    for _ in range(2):
        search.file(table, renamed, None)
    assert word_counts(table) == {"apple": 1, "blue": 1, "green": 0, "boot": 0, "hat": 1}
    assert found(table, "boot") == found(table, "gre") == []
    assert found(table, "apple") == [other.deal_id]


def test_a_record_that_comes_again_after_a_later_one_takes_no_name_back(table: Table) -> None:
    deal = a_deal(title="Blue boot")
    renamed = replace(deal, title="Green boot", version=2)
    search.file(table, None, deal)
    search.file(table, deal, renamed)

    search.file(table, None, deal)

    assert found(table, "boot green") == [deal.deal_id]


def test_a_word_that_is_being_typed_stands_for_the_most_frequent_that_begin_so(table: Table) -> None:
    by_word = {
        word: [a_deal(ago(minutes=minute, hours=hours), title=word) for minute in range(hours)]
        for hours, word in enumerate(["boot", "boota", "bootb", "bootc", "bootd", "boote"], 1)
    }
    for deal in (deal for those in by_word.values() for deal in those):
        search.file(table, None, deal)

    def of(*words: str) -> list[str]:
        return ids(newest_first(deal for word in words for deal in by_word[word]))

    assert found(table, "boo") == of("bootb", "bootc", "bootd", "boote")
    assert found(table, "boot") == of("boot", "bootb", "bootc", "bootd", "boote")
    assert found(table, "boot apple") == of("boot")
    assert found(table, "apple boota") == of("boota")


def test_words_that_nobody_has_may_mean_three_that_are_written_almost_so_each(table: Table) -> None:
    for title in ("Blue", "Blues", "Bluer", "Bluet", "Boot"):
        search.file(table, None, a_deal(title=title))
    gone = a_deal(title="Blueu")
    search.file(table, None, gone)
    first = search.find(table, search.asked("blueu"), limit=1)
    search.file(table, gone, None)

    misspelt = search.find(table, search.asked("blueu apple bota"), limit=10)

    assert (first.deal_ids, misspelt.deal_ids, misspelt.next) == ((gone.deal_id,), (), None)
    assert misspelt.near == ("blue", "bluet", "blues", "boot")
    assert search.find(table, search.asked(""), limit=10) == search.Found((), None)


def test_a_change_that_renames_nothing_writes_no_word_again(table: Table) -> None:
    deal = a_deal(title="Blue boot")
    search.file(table, None, deal)

    with watched(table) as wire:
        search.file(table, deal, replace(deal, price="1.00", version=2))

    assert "UpdateItem" not in wire.operations


def test_a_word_that_nobody_has_asks_for_no_deal(table: Table) -> None:
    search.file(table, None, a_deal(title="Blue boot"))

    with watched(table) as wire:
        found = search.find(table, search.asked("boot bleu"), limit=10)

    assert (found.deal_ids, found.near) == ((), ("blue",))
    assert not [request for request in wire.requests if str(request.partition).startswith("WORD#")]


@pytest.mark.parametrize(
    ("typed", "cut"),
    [("one two three four five", False), ("one two three four five six", True), ("x" * 100, False), ("x" * 101, True)],
)
def test_a_search_of_more_than_is_looked_up_says_so(typed: str, cut: bool) -> None:
    assert search.asked(typed).cut is cut
