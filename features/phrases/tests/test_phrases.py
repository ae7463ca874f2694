"""What a shopper types: the limits in it, the words left to search, and readings that are only offered."""

from __future__ import annotations

from pathlib import Path

import pytest

from shared.data.catalog.phrases import Phrases, read_phrases
from shared.models.catalog import Selection
from shared.values.money import normal

TABLE = Path(__file__).with_name("phrases.txt").read_text(encoding="utf-8")
PHRASES = [
    tuple(map(str.strip, line.split("|"))) for line in TABLE.splitlines() if line.strip() and not line.startswith("#")
]


def said(selection: Selection) -> str:
    """A selection as the table writes it."""
    least, most = (amount and normal(amount).removesuffix(".00") for amount in (selection.least, selection.most))
    bounds = f"{least} to {most}" if least and most else f"at least {least}" if least else most and f"at most {most}"
    price = f"{bounds} {selection.currency or ''}".strip() if bounds else ""
    return ", ".join(filter(None, [price, f"{selection.discount}% off or more" if selection.discount else ""]))


def meaning(read: Phrases) -> str:
    """A whole reading as the table writes it."""
    offered = [f"? {said(offer.selection)}".strip() for offer in read.offered]
    return " ".join([said(read.selection) or "words", *offered])


@pytest.mark.parametrize(("typed", "means", "rest"), PHRASES, ids=[typed for typed, *_ in PHRASES])
def test_a_phrase_means_what_the_table_says(typed: str, means: str, rest: str) -> None:
    read = read_phrases(typed)

    assert (meaning(read), read.rest) == (means, rest)
    assert bool(read.typed) == (read.selection != Selection())


def test_the_table_has_each_phrase_once() -> None:
    assert len({typed for typed, *_ in PHRASES}) == len(PHRASES) >= 200


def test_a_limit_is_removed_and_an_offered_one_taken() -> None:
    read = read_phrases("up to 50% off shoes under $80 half price")

    assert read.around("boots", but="half price") == "boots under $80"
    assert [(offer.typed, offer.rest) for offer in read.offered] == [("up to 50% off", "shoes")]


def test_a_selections_own_limits_come_before_those_that_are_typed() -> None:
    typed = read_phrases("shoes under $80 half price")

    assert typed.within(Selection(most="40.00")) == Selection(most="40.00", currency="USD", discount=50)


@pytest.mark.parametrize("typed", ["", "\0" * 2000, "$" * 2000, "1 " * 1000, "not a cost of " * 200, "under $" * 300])
def test_any_text_is_read(typed: str) -> None:
    assert read_phrases(typed).selection == Selection()
