"""Boxes of pages in a browser: nothing is cut, broken, laid over or there twice, and nothing moves while it loads."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from shared.html import cookies
from shared.http.requests import LAPTOP
from tests.site.conftest import Windows
from tests.site.states import State
from tests.support.browser import patient
from tests.support.preview import Preview

WIDTHS = (320, 390, 1280, 1920)

FAULTS = """() => {
    const found = [];
    const seen = each => each.checkVisibility({visibilityProperty: true}) && each.getBoundingClientRect().width > 1;
    const name = each => each.outerHTML.slice(0, 90).replaceAll("\\n", " ");
    const all = what => [...document.querySelectorAll(what)].filter(seen);
    const scrolls = each => {
        for (let at = each.parentElement; at; at = at.parentElement)
            if (/auto|scroll/.test(getComputedStyle(at).overflowX)) return true;
        return false;
    };
    for (const each of all(".price, .tag, .off, .price s, button, .button, .kind")) {
        const box = each.getBoundingClientRect(), card = each.closest(".card, .row, .box")?.getBoundingClientRect();
        if (scrolls(each) || each.closest(".vh, .go")) continue;
        if (each.scrollWidth > each.clientWidth + 1 && each.clientWidth) found.push(["is cut", name(each)]);
        if (box.left < -1 || box.right > innerWidth + 1) found.push(["is beyond the screen", name(each)]);
        if (card && (box.right > card.right + 1 || box.bottom > card.bottom + 1))
            found.push(["leaves its card", name(each)]);
    }
    for (const each of all(".tag, .off, .price s"))
        if (each.getBoundingClientRect().height > 2.4 * parseFloat(getComputedStyle(each).fontSize))
            found.push(["is broken over lines", name(each)]);

    // Each line of text, as far as it is not cut off by a box around it.
    const lines = [], range = document.createRange();
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const of = node.parentElement;
        const left_out = ".vh, .skip, .go, svg, script, noscript, [popover], select";
        if (!node.data.trim() || !seen(of) || of.closest(left_out)) continue;
        range.selectNodeContents(node);
        for (const line of range.getClientRects()) {
            let {left, right, top, bottom} = line;
            for (let at = of; at; at = at.parentElement)
                if (getComputedStyle(at).overflow !== "visible") {
                    const box = at.getBoundingClientRect();
                    [left, right] = [Math.max(left, box.left), Math.min(right, box.right)];
                    [top, bottom] = [Math.max(top, box.top), Math.min(bottom, box.bottom)];
                }
            const text = node.data.trim().slice(0, 40);
            if (right - left > 1 && bottom - top > 1) lines.push({left, right, top, bottom, of, text});
        }
    }
    lines.sort((a, b) => a.top - b.top);
    for (const [n, a] of lines.entries())
        for (let m = n + 1; m < lines.length && lines[m].top < a.bottom; m++) {
            const b = lines[m], high = Math.min(a.bottom, b.bottom) - b.top;
            const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
            const least = .4 * Math.min(a.bottom - a.top, b.bottom - b.top);
            if (a.of !== b.of && wide > 3 && high > least) found.push(["is over other text", a.text, b.text]);
        }

    const looks = new Set(), addresses = new Set();
    for (const card of all("main .card")) {
        const link = card.querySelector(":is(h2, h3) > a[href]");
        if (!link) continue;
        const tile = card.querySelector(".tile"), text = what => card.querySelector(what)?.textContent ?? "";
        const parts = [link.textContent, text(".kind"), text(".price"), tile.className, tile.querySelector("img")?.src];
        const look = parts.join("|");
        if (looks.has(look)) found.push(["looks like another card", look]);
        if (addresses.has(link.href)) found.push(["is there twice", link.href]);
        looks.add(look);
        addresses.add(link.href);
    }
    for (const link of all("a[href^='#']"))
        if (!document.getElementById(link.hash.slice(1))) found.push(["leads nowhere", name(link)]);
    for (const each of all(".book thead th, code, .key, pre"))
        if (getComputedStyle(each).textTransform !== "none") found.push(["has other letters", name(each)]);
    return found;
}"""
"""What is wrong with a page at its width: what and where."""


@pytest.mark.thorough
def test_no_page_cuts_breaks_or_repeats_anything_at_any_width(windows: Windows, every_page: dict[str, State]) -> None:
    found: list[tuple[Any, ...]] = []
    for name, state in every_page.items():
        page = windows.show(state)
        # Cards below the window are laid out only when they are scrolled to.
        page.evaluate("document.querySelectorAll('.card').forEach(card => card.style.contentVisibility = 'visible')")
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            for scheme in ("light", "dark") if width in (320, 1280) else ("light",):
                page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
                found += [(name, width, scheme, *each) for each in page.evaluate(FAULTS)]

    assert found == []


SHIFTS = """() => {
    window.shifts = 0;
    new PerformanceObserver(list => {
        for (const each of list.getEntries()) if (!each.hadRecentInput) window.shifts += each.value;
    }).observe({type: "layout-shift", buffered: true});
}"""


@pytest.fixture
def laptop(shown: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stage on the laptop, whose pages have a line that leads to the walk."""
    monkeypatch.setenv("STAGE", LAPTOP)


MOST_SHIFTED = 0.02
"""The cumulative layout shift that a page may have (https://web.dev/articles/cls calls 0.1 good)."""


@pytest.mark.thorough
@pytest.mark.parametrize("who", ["", "nick", "eddy"], ids=["visitor", "member", "editor"])
def test_nothing_moves_while_a_page_loads(
    chromium: Browser, site: Preview, pages: dict[str, State], people: dict[str, str], laptop: None, who: str
) -> None:
    """On a phone, on the laptop's stage, whose pages have the walk's strip, too."""
    moved = {}
    own = {"": (), "nick": ("watches", "account"), "eddy": ("desk", "all deals")}[who]
    for kind in ("front page", "deal", "category", "ending", *own):
        context = chromium.new_context(
            base_url=site.origin, viewport={"width": 390, "height": 844}, service_workers="block"
        )
        if who:
            names = {"btd": people[who], cookies.HINT: "1"}  # the laptop's: they need no HTTPS
            context.add_cookies([{"name": name, "value": names[name], "url": site.origin} for name in names])
        page = patient(context).new_page()
        page.add_init_script(f"({SHIFTS})()")

        page.goto(pages[kind].path, wait_until="networkidle")

        page.evaluate("document.fonts.ready")
        page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        role = {"": "", "nick": "member", "eddy": "editor"}[who]
        page.wait_for_function("role => (document.documentElement.dataset.in ?? '') === role", arg=role)
        expect(page.locator("#walk")).to_be_visible()
        moved[kind] = page.evaluate("window.shifts")
        heights = page.evaluate("[...document.querySelectorAll('.top, .mine')].map(each => each.offsetHeight)")
        assert heights[0] <= 60, kind
        assert heights[1] < 60, "the links of the header are in one row"
        context.close()

    assert {kind: shift for kind, shift in moved.items() if shift > MOST_SHIFTED} == {}


WHOLE_PRICES = """() => [...document.querySelectorAll(".tag")].filter(each => {
    const {left, right, top, bottom, width} = each.getBoundingClientRect();
    return width > 1 && each.checkVisibility() && left >= 0 && right <= innerWidth && top >= 0 && bottom <= innerHeight;
}).length"""

FIRST_WINDOW = {(1280, 900): 14, (1920, 1080): 19, (390, 844): 4}
"""Whole prices that the front page shows before it is scrolled, at least, by the size of the window."""


@pytest.mark.thorough
@pytest.mark.parametrize("strip", [False, True], ids=["bare", "with the walk's strip"])
def test_the_first_window_of_the_front_page_is_full_of_prices(
    chromium: Browser, site: Preview, request: pytest.FixtureRequest, strip: bool
) -> None:
    if strip:
        request.getfixturevalue("laptop")
    seen = {}
    for width, height in FIRST_WINDOW:
        context = chromium.new_context(base_url=site.origin, viewport={"width": width, "height": height})
        page = patient(context).new_page()

        page.goto("/")

        page.evaluate("document.fonts.ready")
        assert page.locator("#walk").count() == strip
        seen[width, height] = page.evaluate(WHOLE_PRICES)
        context.close()

    assert {size: (count, least) for size, least in FIRST_WINDOW.items() if (count := seen[size]) < least} == {}


@pytest.mark.thorough
def test_a_deals_way_to_the_shop_is_in_the_first_window_of_a_phone(
    chromium: Browser, site: Preview, pages: dict[str, State]
) -> None:
    context = chromium.new_context(base_url=site.origin, viewport={"width": 390, "height": 844})
    page = patient(context).new_page()

    page.goto(pages["deal"].path)

    box = page.locator(".go .button").bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 844
    context.close()
