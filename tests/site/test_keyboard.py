"""Each kind of page with the keyboard alone, and at a zoom of 200 percent: 640 of 1280 pixels are left then.

Tab walks over a page once, from its first link to its last, and on from there.
"""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, ViewportSize

from tests.site.conftest import Windows
from tests.support.browser import Visit
from tests.support.states import State

pytestmark = pytest.mark.thorough

WHOLE, ZOOMED = ViewportSize(width=1280, height=900), ViewportSize(width=640, height=450)

STOPS = """() => {
    const takes = "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']";
    const all = [...document.querySelectorAll(takes)].filter(each =>
        each.checkVisibility({visibilityProperty: true}) && !each.matches(":disabled, [tabindex='-1']"));
    all.forEach((each, n) => each.dataset.stop = n);
    document.body.tabIndex = -1;
    document.body.focus({preventScroll: true});
    document.body.removeAttribute("tabindex");
    scrollTo(0, 0);
    return all.map(each => each.outerHTML.slice(0, 100).replaceAll("\\n", " "));
}"""
"""Numbers what Tab should stop at, and names it."""

STOPPED = """() => {
    const each = document.activeElement;
    if (each === document.body || each === document.documentElement) return null;
    const ringed = at => {
        for (; at && at !== document.body; at = at.parentElement)
            for (const part of ["", "::before", "::after"]) {
                const style = getComputedStyle(at, part || undefined);
                if (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2) return true;
            }
        return false;
    };
    const box = [...each.getClientRects()].find(line => line.width && line.height) ?? new DOMRect();
    const top = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
    const own = each.labels ? [...each.labels] : [];
    const seen = top && [each, ...own].some(of => of.contains(top) || top.contains(of));
    const hidden = !seen && !each.matches(".skip, .vh");
    return {
        number: each.dataset.stop === undefined ? null : +each.dataset.stop,
        name: each.outerHTML.slice(0, 100).replaceAll("\\n", " "),
        ringed: ringed(each),
        hidden,
        at: [box.left, box.top + scrollY, box.right, box.bottom + scrollY].map(Math.round),
    };
}"""
"""Where the focus is: its number, whether a ring shows it, whether something lies over it, and its place."""

PARTS = 8
"""A field of a date and a time has a stop for each of its parts, and one for its calendar."""


def walked(page: Page) -> list[str]:
    """What is wrong with a page for whoever has no mouse."""
    stops, wrong = page.evaluate(STOPS), []
    before: dict[str, Any] | None = None
    expected = caught = 0
    while expected < len(stops):
        page.keyboard.press("Tab")
        here = page.evaluate(STOPPED)
        if here is None:
            wrong.append(f"the focus is lost after {before and before['name']}")
            break
        if here["number"] is not None and before and here["number"] == before["number"]:
            caught += 1
            if caught > PARTS:
                wrong.append(f"the focus is caught in {here['name']}")
                break
            continue
        caught = 0
        if here["number"] != expected and not is_of_a_group(here["name"]):
            wrong.append(f"{here['name']} comes instead of {stops[expected]}")
        if not here["ringed"]:
            wrong.append(f"no ring around {here['name']}")
        if here["hidden"]:
            wrong.append(f"something lies over {here['name']}")
        if before and goes_back(before["at"], here["at"]):
            wrong.append(f"{here['name']} is before {before['name']}")
        before, expected = here, (here["number"] if here["number"] is not None else expected) + 1
    return wrong


def is_of_a_group(name: str) -> bool:
    """Whether an element is one of several radio buttons, of which Tab takes one."""
    return 'type="radio"' in name


def goes_back(before: list[int], here: list[int]) -> bool:
    """Whether a stop lies above the one before it, in the same column, so that the eye has to search."""
    left, _, right, _ = before
    return here[3] <= before[1] - 8 and here[0] < right and here[2] > left


def test_the_keyboard_reaches_all_in_order_and_shows_where_it_is(windows: Windows, pages: dict[str, State]) -> None:
    wrong: list[str] = []

    for name, state in pages.items():
        page = windows.show(state)
        page.wait_for_load_state("networkidle")
        for window in (WHOLE, ZOOMED):
            page.set_viewport_size(window)
            wrong += [f"{name} at {window['width']}: {each}" for each in walked(page)]
            if (needed := page.evaluate("document.documentElement.scrollWidth")) > window["width"]:
                wrong.append(f"{name} at {window['width']}: it is {needed} pixels wide")

    assert not wrong, "\n".join(wrong)


FAULTY = """<style>#bare:focus-visible { outline: 0 }</style><a href="/1">One</a><br><a href="/2" id="bare">Two</a>
<p style="position: absolute; inset: 100px auto auto 0; margin: 0; width: 300px; height: 50px; background: red"></p>
<a href="/3" style="position: absolute; top: 110px; z-index: -1">Three</a>
<a href="/4" style="position: absolute; top: 60px">Four</a><a href="/5" tabindex="2">Five</a>
<input id="trap" onkeydown="event.preventDefault()"><a href="/6">Six</a>"""


def test_each_fault_is_noticed(visit: Visit) -> None:
    page = visit("about:blank")
    page.set_content(FAULTY)

    found = walked(page)

    for fault, where in (
        ("comes instead of", "Five"),
        ("no ring around", "Two"),
        ("something lies over", "Three"),
        ("is before", "Four"),
        ("the focus is caught in", "trap"),
    ):
        assert any(fault in each and where in each for each in found), (fault, found)
