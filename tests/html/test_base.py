"""The frame of every page."""

from __future__ import annotations

from typing import Any

import pytest

from shared.html import pages
from shared.html.pages import Answer
from tests.support.pages import parsed


def count_of(name: str, answer: Answer) -> Any:
    """A count in the head of a page."""
    return next(each for each in parsed({"body": answer.body}).iter("span") if each.get("id") == name)


@pytest.mark.parametrize(
    ("name", "number", "shown"), [("unread", 3, "3 unread"), ("unread", "99+", "99+ unread"), ("cart", 2, "2 to buy")]
)
def test_a_page_that_knows_a_count_shows_it_without_script(name: str, number: int | str, shown: str) -> None:
    known: dict[str, Any] = {name: number}
    count = count_of(name, pages.page("about.html", **known))

    assert count.get("hidden") is None
    assert "".join(count.itertext()) == shown


@pytest.mark.parametrize("name", ["unread", "cart"])
@pytest.mark.parametrize("number", [None, 0])
def test_a_page_without_a_count_shows_none(name: str, number: int | None) -> None:
    known: dict[str, Any] = {} if number is None else {name: number}
    count = count_of(name, pages.page("about.html", **known))

    assert count.get("hidden") is not None
    assert "".join(count.itertext()) == ""
