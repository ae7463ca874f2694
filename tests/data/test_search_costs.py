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

    for name in ("a word", "the beginning of words", "two words", "a word, the page after it"):
        assert few[name].found == many[name].found == settings.CARDS_OF_A_SEARCH, name
        assert (few[name].requests, few[name].round_trips) == (many[name].requests, many[name].round_trips), name
        assert abs(few[name].reads - many[name].reads) <= 0.1 * few[name].reads, name


def test_a_common_word_beside_a_rare_one_costs_nothing(taken: tuple[Taken, Taken]) -> None:
    for each in taken:
        page = each["a common word and a rare one"]

        assert (page.found, page.requests, page.round_trips) == (measured.RARE, 4, 3)
        assert page.reads < 10


def test_every_search_is_bounded(taken: tuple[Taken, Taken]) -> None:
    for page in (page for each in taken for page in each.values()):
        assert page.requests <= 2 + 5 + 1
        assert page.round_trips <= 5
        assert page.reads <= 75
