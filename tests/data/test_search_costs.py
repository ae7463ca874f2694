"""A search costs what it shows: requests, read units and round trips are as many however many deals there are."""

from __future__ import annotations

import pytest

from benchmarks import search as measured
from shared import settings
from tests.support.engines import DYNOXIDE

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
        assert each["words of which few deals have all"].found == settings.CARDS_OF_A_SEARCH
