"""The checks that pages are held to see what is wrong with a page."""

from __future__ import annotations

from tests.support.quality import violations
from tests.support.windows import Visit

PAGE = "<!doctype html><html lang=en><title>A page</title><main><h1>A page</h1><p>Text</p></main>"
FAULTS = {
    "light": ("color-contrast", "@media (prefers-color-scheme: light) { .light { color: #ccc; background: #fff } }"),
    "dark": ("color-contrast", "@media (prefers-color-scheme: dark) { .dark { color: #ccc; background: #fff } }"),
    "ltr": ("is wider than the screen", ".ltr { position: absolute; right: -50px }"),
    "rtl": ("is wider than the screen", ".rtl { position: absolute; left: -50px }"),
}
"""What is found in one scheme or in one direction of writing, and the style that makes it."""


def test_a_page_has_the_faults_that_it_has_and_no_others(visit: Visit) -> None:
    page = visit("about:blank")

    page.set_content(PAGE)
    assert violations(page) == []
    for where, (_, style) in FAULTS.items():
        page.add_style_tag(content=f"p {{ margin: 0 }} {style}")
        page.evaluate(
            "name => document.querySelector('p').insertAdjacentHTML('afterend', `<p class=${name}>Text`)", where
        )

    found = violations(page)

    assert {(each[1], each[2], each[3]) for each in found} == {
        (where, width, fault) for where, (fault, _) in FAULTS.items() for width in (320, 1280)
    }
    assert all(each[1] in each[4] for each in found if each[3] == "color-contrast")
