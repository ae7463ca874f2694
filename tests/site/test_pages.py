"""The pages in a real browser: readers', members' and editors', accessible, within budgets, whole on every screen."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from shared import features, hooks
from tests.site.conftest import Windows, client_of, cookie_of
from tests.site.states import OF_EDITORS, OF_MEMBERS, in_every_tier
from tests.support.browser import Visit
from tests.support.cases import cases, cases_by_name
from tests.support.preview import Preview
from tests.support.quality import crawl, lighthouse
from tests.support.states import MEMBERS, PUBLIC, State

EDITS = any(each.EDITS for each in features.roles(hooks.Navigation))
"""Whether a page has a deal's form."""

BUDGETS = {
    **dict.fromkeys(("front page", "latest", "deal", "category", "sorted", "brand", "search"), PUBLIC),
    **dict.fromkeys(("ending", "choice"), PUBLIC),
    # A style sheet and a script of its own, and no glyph.
    "brands": replace(PUBLIC, requests=8),
    # A style sheet of its own.
    "deal": replace(PUBLIC, requests=8),
    **dict.fromkeys(("inbox", "account"), MEMBERS),
    **cases_by_name("BUDGETS"),
}


@pytest.mark.parametrize("kind", in_every_tier(BUDGETS, "front page", "deal", "inbox", *cases("BUDGETED")))
def test_pages_keep_their_budgets(visit: Visit, pages: dict[str, State], people: dict[str, str], kind: str) -> None:
    budget, state = BUDGETS[kind], pages[kind]
    page = visit("about:blank", token=people.get(state.who, ""))
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    asked: dict[str, str] = {}
    sizes: dict[str, float] = {}
    session.on("Network.requestWillBeSent", lambda event: asked.update({event["requestId"]: event["request"]["url"]}))
    session.on(
        "Network.loadingFinished",
        lambda event: sizes.update({asked[event["requestId"]]: event["encodedDataLength"]}),
    )

    answer = page.goto(state.path, wait_until="networkidle")

    assert answer is not None
    assert answer.headers.get("content-encoding") == (None if state.who else "gzip")
    assert int(answer.headers["content-length"]) <= budget.page
    assert len(sizes) <= budget.requests, sizes
    assert sum(sizes.values()) <= budget.all, sizes


def test_printed_pages_have_three_columns_outlined_prices_and_no_pictures(visit: Visit) -> None:
    page = visit("/", width=718)  # what margins leave of A4
    page.emulate_media(media="print")

    for path in ("/", "/deals"):
        page.goto(path)

        expect(page.locator(".tile").first).to_be_hidden()
        expect(page.locator(".top")).to_be_hidden()
        columns = page.locator(".cards").evaluate_all(
            "all => all.map(each => getComputedStyle(each).gridTemplateColumns)"
        )
        assert {len(each.split()) for each in columns} == {3}
        tag = page.locator(".tag").first
        expect(tag).to_be_visible()
        expect(tag).to_have_css("border", re.compile("^2px solid"))
        expect(tag).to_have_css("background-color", "rgba(0, 0, 0, 0)")
        expect(tag).to_have_css("clip-path", "none")


MARKS = """link => {
    const style = getComputedStyle(link);
    const sides = ["block-start", "block-end", "inline-start", "inline-end"];
    return [
        ...sides.flatMap(side => ["width", "style", "color"].map(what => style[`border-${side}-${what}`])),
        style.textDecorationLine, style.outlineStyle, style.outlineColor,
    ];
}"""
"""Where all colours are the reader's own, lines tell links apart, and no background or shade."""


def test_the_current_item_stands_out_where_colours_are_forced(windows: Windows, pages: dict[str, State]) -> None:
    for kind, row in (("category", ".bar"), *((kind, ".tabs") for kind in ("inbox", *cases("TABBED")))):
        page = windows.show(pages[kind])
        page.emulate_media(forced_colors="active")

        (current,) = page.locator(f"{row} [aria-current=page]").evaluate_all(f"all => all.map({MARKS})")
        others = page.locator(f"{row} a:not([aria-current])").evaluate_all(f"all => all.map({MARKS})")
        page.emulate_media(forced_colors="none")
        assert len(others) > 1, kind
        assert current not in others, kind


MOVES = """() => {
    const inForce = rules => [...rules].flatMap(rule =>
        rule instanceof CSSMediaRule ? (matchMedia(rule.conditionText).matches ? inForce(rule.cssRules) : []) : [rule]);
    const rules = [...document.styleSheets].flatMap(sheet => inForce(sheet.cssRules));
    const styles = [...document.querySelectorAll("*")].flatMap(
        each => ["", "::before", "::after"].map(part => getComputedStyle(each, part || null)));
    const lasts = style => [style.transitionDuration, style.animationDuration].some(
        durations => durations.split(", ").some(duration => parseFloat(duration) > 0));
    return {
        pages: rules.some(rule => rule instanceof CSSViewTransitionRule && rule.navigation === "auto"),
        parts: styles.filter(style => lasts(style) || style.scrollBehavior === "smooth").length,
    };
}"""
"""Whether pages move as one follows another, and how many parts of this page do."""


def test_nothing_moves_for_who_wants_less_motion(windows: Windows, pages: dict[str, State]) -> None:
    for kind in ("front page", "brands", "inbox"):
        page = windows.show(pages[kind])

        moves = {}
        for motion in ("reduce", "no-preference"):
            page.emulate_media(reduced_motion=motion)
            moves[motion] = page.evaluate(MOVES)
        assert moves["no-preference"]["pages"], kind
        assert moves["reduce"] == {"pages": False, "parts": 0}, kind


def test_a_card_is_one_target_and_its_brand_another(visit: Visit, site: Preview) -> None:
    page = visit("/deals")
    card = page.locator(".card").first

    card.locator(".tile").click(force=True)

    expect(page).to_have_url(re.compile("/deals/"))
    page.go_back()
    card.locator(".by a").click()
    expect(page).to_have_url(re.compile("/brands/"))


WHOLE = """() => {
    const inside = each => {
        const {top, bottom, left, right, width} = each.getBoundingClientRect();
        return width > 0 && top >= 0 && left >= 0 && bottom <= innerHeight && right <= innerWidth;
    };
    const cut = each => {
        const own = each.getBoundingClientRect(), card = each.closest(".card").getBoundingClientRect();
        const over = own.right > card.right + 1 || own.bottom > card.bottom + 1;
        return over || getComputedStyle(each).overflow !== "visible";
    };
    const shown = [...document.querySelectorAll("#list .cards > *")].filter(each => each.getBoundingClientRect().width);
    const last = shown.at(-1).getBoundingClientRect();
    const beside = end => end && end.getBoundingClientRect().bottom < last.bottom
        && end.getBoundingClientRect().left > last.right;
    const columns = getComputedStyle(document.querySelector("#list .cards")).gridTemplateColumns.split(" ").length;
    return {
        prices: [...document.querySelectorAll("main .tag")].filter(inside).length,
        deals: shown.length,
        columns: columns,
        left: shown.length % columns,
        onward: beside(document.querySelector("main > .end")),
        cut: [...document.querySelectorAll(".card :is(.price, .tag, .off, .price s, .kind)")].filter(cut).length,
    };
}"""
"""How many whole prices the window shows, how many cards the list has, a row and the last one, whether what ends the
list stands beside that, and how many prices, discounts and colours are cut."""

WINDOWS = {(1280, 900): (5, 7, 14, 14), (1920, 1080): (6, 10, 19, 19), (390, 844): (1, 1, 4, 4)}
"""Of a window: its cards a row on the front page and on a list, and its least prices on the front page, with the lists
that features have there, and on a list."""


def test_the_first_window_shows_many_prices_in_full_rows(windows: Windows, pages: dict[str, State]) -> None:
    beside = any(each.on_front_page for of in features.roles(hooks.Lists) for each in of.LISTS)
    for kind in ("front page", "latest", "brand"):
        page = windows.show(pages[kind])
        for (width, height), (of_front, of_list, on_front, on_list) in WINDOWS.items():
            columns = of_front if kind == "front page" else of_list
            page.set_viewport_size({"width": width, "height": height})

            seen = page.evaluate(WHOLE)

            least = (on_front if beside else of_front) if kind == "front page" else on_list
            if kind == "brand":
                least = min(least, seen["deals"])
            assert seen["prices"] >= least, (kind, width)
            assert (seen["columns"], seen["cut"]) == (columns, 0), (kind, width)
            assert seen["left"] == 0 or seen["onward"] or kind == "brand", "a brand's deals come to their end"


def test_the_bar_shows_all_its_links(windows: Windows, pages: dict[str, State]) -> None:
    page = windows.show(pages["front page"])
    page.set_viewport_size({"width": 1280, "height": 900})

    assert page.locator(".bar ul").evaluate("bar => bar.scrollWidth <= bar.clientWidth")


def test_a_phone_shows_a_list_as_rows_and_as_tiles_by_one_link(visit: Visit) -> None:
    page = visit("/deals", width=390)
    tops = "all => all.slice(0, 2).map(card => card.getBoundingClientRect().top)"
    first, second = page.locator(".card").evaluate_all(tops)
    assert first < second

    page.get_by_role("link", name="As tiles").click()

    expect(page.get_by_role("link", name="As a list")).to_be_visible()
    first, second = page.locator(".card").evaluate_all(tops)
    assert first == second
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_the_head_is_for_who_reads(visit: Visit, people: dict[str, str], pages: dict[str, State]) -> None:
    """The page is everyone's: the script asks who reads it."""
    of_members = ["Inbox", "Watches", *cases("IN_HEAD"), "Account"]
    links = {"": ["^Sign in$", "^Sign up$"], "nick": of_members, "eddy": [*cases("IN_EDITORS_HEAD"), *of_members]}

    for who, shown in links.items():
        page = visit(pages["deal"].path, token=people.get(who, ""))
        own = page.get_by_role("navigation", name="Your account").get_by_role("link")
        expect(own).to_have_text([re.compile(each) for each in shown])
        expect(page.get_by_role("link", name="Edit", exact=True)).to_have_count(1 if who == "eddy" and EDITS else 0)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["front page", "deal", "inbox"])
def test_lighthouse_is_content(
    site: Preview, pages: dict[str, State], people: dict[str, str], kind: str, tmp_path: Path
) -> None:
    """Figures that do not depend on how busy this machine is. ``benchmarks/browser.py`` measures speed."""
    state = pages[kind]

    found = lighthouse(f"{site.origin}{state.path}", tmp_path, cookie=cookie_of(people[state.who]) if state.who else "")

    # A page of one's own asks machines not to index it, which Lighthouse calls a fault, and its only one.
    assert found.poor == ([] if kind != "inbox" else ["is-crawlable"]), found
    assert found.scores["seo"] == 1 if kind != "inbox" else found.scores["seo"] < 1, found
    assert (found.scores["accessibility"], found.scores["best-practices"]) == (1, 1), found
    assert found.figures["cumulative-layout-shift"] <= 0.02
    assert found.figures["total-byte-weight"] <= 30 * 1024
    assert found.figures["dom-size"] < 800
    # The script waits with the style sheet: what it shows of one's own would shift the page else. A deal's page has a
    # second sheet.
    blocking = {urlsplit(each).path.partition(".")[0] for each in found.blocking}
    assert blocking <= {"/assets/site", *(["/assets/deal"] if kind == "deal" else [])}, found


@pytest.mark.parametrize("who", ["ana", *(["eddy"] if OF_EDITORS else [])])
def test_every_link_and_form_leads_somewhere(
    site: Preview, people: dict[str, str], pages: dict[str, State], who: str
) -> None:
    """A crawl as a member and as an editor: of one's own pages all, of public ones some of each kind.

    Forms are not sent, but their addresses must be there.
    """
    client = client_of(site, people[who])

    edits = who == "eddy"
    starts = ["/", *(pages[kind].path for kind in (OF_EDITORS if edits else OF_MEMBERS))]
    found = crawl(client, starts, most=2, as_editor=edits)
    asked = {form: client.get(form) for form in found.forms}

    assert found.wrong == []
    assert len(found.seen) > 30
    # An address that shows nothing by itself takes a form at least.
    assert {form for form, answer in asked.items() if answer.status_code not in (200, 303, 405)} == set()
    assert {answer.headers["Allow"] for answer in asked.values() if answer.status_code == 405} <= {"POST"}
    assert len(asked) > 8
