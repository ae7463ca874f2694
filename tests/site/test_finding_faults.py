"""The checks that pages are held to see what is wrong with a page."""

from __future__ import annotations

import pytest

from tests.support.quality import violations
from tests.support.windows import Visit

PAGE = "<!doctype html><html lang=en><title>A page</title><style>{style}</style><main><h1>A page</h1><p>Text</p></main>"


def test_a_page_with_nothing_wrong_has_no_faults(visit: Visit) -> None:
    page = visit("about:blank")
    page.set_content(PAGE.format(style=""))

    assert violations(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_text_that_is_hard_to_read_in_one_scheme_is_found(visit: Visit, scheme: str) -> None:
    page = visit("about:blank")
    page.set_content(
        PAGE.format(style=f"@media (prefers-color-scheme: {scheme}) {{ p {{ color: #ccc; background: #fff }} }}")
    )

    found = violations(page)

    assert {(each[1], each[2], each[3]) for each in found} == {
        (scheme, 320, "color-contrast"),
        (scheme, 1280, "color-contrast"),
    }


@pytest.mark.parametrize(("direction", "side"), [("ltr", "right"), ("rtl", "left")])
def test_a_page_that_is_too_wide_in_one_direction_of_writing_is_found(visit: Visit, direction: str, side: str) -> None:
    page = visit("about:blank")
    page.set_content(PAGE.format(style=f"p {{ position: absolute; {side}: -50px; margin: 0 }}"))

    found = violations(page)

    assert {(each[1], each[2]) for each in found} == {(direction, 320), (direction, 1280)}
    assert {each[3] for each in found} == {"is wider than the screen"}
