"""Every state of every page is valid and whole at each width, and what looks at them finds faults."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast
from unittest import mock

import httpx
import pytest
from playwright.sync_api import Browser, Playwright, expect

from shared.http.requests import LAPTOP
from shared.values import times
from tests.site.conftest import Windows, client_of, found
from tests.site.states import OF_EDITORS, OF_MEMBERS, OF_NICK, PUBLIC, RARE, USUAL, in_every_tier
from tests.support import browser
from tests.support.browser import Visit, patient
from tests.support.cases import cases
from tests.support.preview import Preview, looked_at, started
from tests.support.quality import invalid_html, too_low, violations
from tests.support.states import State


@pytest.mark.parametrize("name", in_every_tier(USUAL | RARE, "front page", "deal", "category", "search", "sign in"))
def test_a_page_is_accessible_no_wider_than_its_window_and_easy_to_hit(
    windows: Windows, every_page: dict[str, State], name: str
) -> None:
    page = windows.show(every_page[name])

    assert page.locator("h1").count() == 1
    assert violations(page) == []
    assert too_low(page) == []


FROM_OUR_PAGES = {"Sec-Fetch-Site": "same-origin"}


def answer(site: Preview, people: dict[str, str], state: State) -> httpx.Response:
    """The answer that brings a page into a state."""
    with client_of(site, people.get(state.who, "")) as client, found(site, state):
        if state.form is None:
            return client.get(state.path)
        return client.post(state.path, data=dict(state.form), headers=FROM_OUR_PAGES)


def test_html_validate_finds_nothing(
    site: Preview,
    people: dict[str, str],
    every_page: dict[str, State],
    tmp_path: Path,
) -> None:
    names = PUBLIC | RARE | OF_MEMBERS | OF_EDITORS | OF_NICK
    answers = {name: answer(site, people, every_page[name]) for name in names}

    wrong = {name: each.status_code for name, each in answers.items() if each.status_code != every_page[name].status}
    assert wrong == {}
    assert invalid_html({name: each.text for name, each in answers.items()}, tmp_path)[-6000:] == ""


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


class WithoutBrowser:
    """Playwright, which has downloaded none."""

    class chromium:  # noqa: N801  # named as there
        executable_path = "/nowhere/chromium"


@pytest.mark.parametrize("user", [0, 1000], ids=["root", "someone"])
def test_without_any_browser_the_tests_fail_with_one_line(monkeypatch: pytest.MonkeyPatch, user: int) -> None:
    tried: list[list[str]] = []

    def fails(command: list[str], **_: Any) -> subprocess.CompletedProcess[bytes]:
        tried.append(command)
        return subprocess.CompletedProcess(command, 1)

    monkeypatch.setattr(shutil, "which", lambda name: "/usr/bin/apt-get" if name == "apt-get" else None)
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setattr(subprocess, "run", fails)

    with pytest.raises(pytest.fail.Exception) as failed:
        browser._launch(cast("Playwright", WithoutBrowser))

    assert str(failed.value) == "No Chrome or Chromium is installed, and none could be downloaded or installed."
    assert tried[0][-2:] == ["install", "chromium"]  # playwright's own download first
    assert [command[0] for command in tried[1:]] == (["apt-get", "apt-get"] if user == 0 else [])


WIDTHS = (320, 390, 1280, 1920)

WRONG_BOXES = """() => {
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

    // A bar that stays in sight lies over what is scrolled below it, and covers it.
    const stays = each => {
        for (let at = each; at; at = at.parentElement)
            if (getComputedStyle(at).position === "sticky") return true;
        return false;
    };

    // Each line of text, as far as it is not cut off by a box around it.
    const lines = [], range = document.createRange();
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const of = node.parentElement;
        const left_out = ".vh, .skip, .go, svg, script, noscript, [popover], select";
        if (!node.data.trim() || !seen(of) || of.closest(left_out) || stays(of)) continue;
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
                found += [(name, width, scheme, *each) for each in page.evaluate(WRONG_BOXES)]

    assert found == []


SHIFTS = """() => {
    window.shifts = 0;
    new PerformanceObserver(list => {
        for (const each of list.getEntries()) if (!each.hadRecentInput) window.shifts += each.value;
    }).observe({type: "layout-shift", buffered: true});
}"""


MOST_SHIFTED = 0.02
"""The cumulative layout shift that a page may have (https://web.dev/articles/cls calls 0.1 good)."""


ON_A_PHONE = ("front page", "deal", "category", "ending")


def shifted(
    chromium: Browser, site: Preview, people: dict[str, str], path: str, who: str = "", *, strip: str | None = None
) -> float:
    """How far a page moves while it loads on a phone, with a ``strip`` above if a selector names one."""
    context = chromium.new_context(
        base_url=site.origin, viewport={"width": 390, "height": 844}, service_workers="block"
    )
    if who:
        names = {"btd": people[who], "btd-in": "1"}
        context.add_cookies([{"name": name, "value": names[name], "url": site.origin} for name in names])
    page = patient(context).new_page()
    page.add_init_script(f"({SHIFTS})()")

    page.goto(path, wait_until="networkidle")

    page.evaluate("document.fonts.ready")
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    role = {"": "", "nick": "member", "eddy": "editor"}[who]
    page.wait_for_function("role => (document.documentElement.dataset.in ?? '') === role", arg=role)
    if strip:
        expect(page.locator(strip)).to_be_visible()
    far = page.evaluate("window.shifts")
    heights = page.evaluate("[...document.querySelectorAll('.top, .mine')].map(each => each.offsetHeight)")
    assert heights[0] <= 104, "the search has a row of its own"
    assert heights[1] < 60, "the links of the header are in one row"
    context.close()
    return float(far)


@pytest.mark.thorough
@pytest.mark.parametrize("who", ["", "nick", "eddy"], ids=["visitor", "member", "editor"])
def test_nothing_moves_while_a_page_loads(
    chromium: Browser,
    site: Preview,
    pages: dict[str, State],
    people: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    who: str,
) -> None:
    monkeypatch.setenv("STAGE", LAPTOP)  # whose cookies need no HTTPS
    own = {"": (), "nick": ("watches", "account"), "eddy": cases("SHIFTED_OF_EDITORS")}[who]

    moved = {kind: shifted(chromium, site, people, pages[kind].path, who) for kind in (*ON_A_PHONE, *own)}

    assert {kind: shift for kind, shift in moved.items() if shift > MOST_SHIFTED} == {}


WHOLE_PRICES = """() => [...document.querySelectorAll(".tag")].filter(each => {
    const {left, right, top, bottom, width} = each.getBoundingClientRect();
    return width > 1 && each.checkVisibility() && left >= 0 && right <= innerWidth && top >= 0 && bottom <= innerHeight;
}).length"""

FIRST_WINDOW = {(1280, 900): 14, (1920, 1080): 19, (390, 844): 4}
"""Whole prices that the front page shows before it is scrolled, at least, by the size of the window."""


LONGEST_DAY = datetime(2026, 9, 30, 12, tzinfo=UTC)
"""A Wednesday in September, whose name is as long as any."""


def few_prices(chromium: Browser, *, strip: str = "", **settings: str) -> dict[tuple[int, int], tuple[int, int]]:
    """The windows in which the front page shows fewer whole prices than it must: how many, and the least.

    The page is that of a new site, to which no test has written. ``settings`` are of its environment; a selector of a
    ``strip`` names what must stand above the deals.
    """
    seen = {}
    with ExitStack() as opened:
        opened.enter_context(mock.patch.object(times, "now", return_value=LONGEST_DAY))
        preview = opened.enter_context(started())
        opened.enter_context(looked_at(preview))
        opened.enter_context(mock.patch.dict(os.environ, settings))
        page = opened.enter_context(closing(chromium.new_page(base_url=preview.origin)))
        patient(page.context)
        for width, height in FIRST_WINDOW:
            page.set_viewport_size({"width": width, "height": height})
            page.goto("/")

            page.evaluate("document.fonts.ready")
            assert not strip or page.locator(strip).count() == 1
            seen[width, height] = page.evaluate(WHOLE_PRICES)
    return {size: (count, least) for size, least in FIRST_WINDOW.items() if (count := seen[size]) < least}


@pytest.mark.thorough
def test_the_first_window_of_the_front_page_is_full_of_prices(chromium: Browser) -> None:
    assert few_prices(chromium) == {}


@pytest.mark.thorough
def test_a_deals_way_to_the_shop_is_in_the_first_window_of_a_phone(visit: Visit, pages: dict[str, State]) -> None:
    page = visit(pages["deal"].path)
    page.set_viewport_size({"width": 390, "height": 844})

    box = page.locator(".go .button").bounding_box()

    assert box is not None
    assert box["y"] + box["height"] <= 844
