"""Each kind of page with the keyboard alone, and at a zoom of 200 percent: 640 of 1280 pixels are left then.

Tab walks over a page once, from its first link to its last, and on from there.
"""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page

from tests.site.conftest import Windows
from tests.support.states import State

pytestmark = pytest.mark.thorough

ZOOMED = {"width": 640, "height": 450}

STOPS = """() => {
    const takes = "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0'], [contenteditable]";
    const all = [...document.querySelectorAll(takes)].filter(each =>
        each.checkVisibility({visibilityProperty: true}) && !each.matches(":disabled, [tabindex='-1']"));
    all.forEach((each, n) => each.dataset.stop = n);
    window.stopped = [];
    document.activeElement.blur();
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
    const box = [...each.getClientRects()].sort((one, other) => other.width - one.width)[0] ?? new DOMRect();
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

MOST = 40
"""Stops of a page that are walked one by one; of a longer one, its first and its last."""


def walked(page: Page) -> list[str]:
    """What is wrong with a page for whoever has no mouse."""
    stops, wrong = page.evaluate(STOPS), []
    before: dict[str, Any] | None = None
    expected = 0
    while expected < len(stops):
        page.keyboard.press("Tab")
        here = page.evaluate(STOPPED)
        if here is None:
            wrong.append(f"the focus is lost after {before and before['name']}")
            break
        if here["number"] is not None and before and here["number"] == before["number"]:
            wrong.append(f"the focus is caught in {here['name']}")
            break
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


@pytest.fixture
def faults(_windows: Windows, pages: dict[str, State]) -> dict[str, dict[str, list[str]]]:
    found: dict[str, dict[str, list[str]]] = {"keyboard": {}, "zoom": {}}
    for name, state in pages.items():
        page = _windows.show(state)
        page.wait_for_load_state("networkidle")
        page.set_viewport_size({"width": 1280, "height": 900})
        found["keyboard"][name] = walked(page)
        page.set_viewport_size(ZOOMED)
        sideways = page.evaluate("document.documentElement.scrollWidth")
        found["zoom"][name] = walked(page) + ([f"it is {sideways} pixels wide"] if sideways > ZOOMED["width"] else [])
    return {kind: {name: wrong for name, wrong in of.items() if wrong} for kind, of in found.items()}


def test_the_keyboard_reaches_everything_in_order_and_shows_where_it_is(faults: dict[str, Any]) -> None:
    assert faults == {"keyboard": {}, "zoom": {}}
