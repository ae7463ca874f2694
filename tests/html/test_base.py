"""The frame of every page."""

from __future__ import annotations

from typing import Any

import pytest

from shared.html import pages
from shared.html.pages import Answer
from tests.support.pages import parsed


def unread_of(answer: Answer) -> Any:
    """The unread count in the head of a page."""
    return next(each for each in parsed({"body": answer.body}).iter("span") if each.get("id") == "unread")


@pytest.mark.parametrize("unread", [3, "99+"])
def test_a_page_that_knows_the_unread_count_shows_it_without_script(unread: int | str) -> None:
    count = unread_of(pages.page("about.html", unread=unread))

    assert count.get("hidden") is None
    assert "".join(count.itertext()) == f"{unread} unread"


@pytest.mark.parametrize("known", [{}, {"unread": None}, {"unread": 0}], ids=["not given", "none", "nothing unread"])
def test_a_page_without_an_unread_count_shows_none(known: dict[str, Any]) -> None:
    count = unread_of(pages.page("about.html", **known))

    assert count.get("hidden") is not None
    assert "".join(count.itertext()) == ""
