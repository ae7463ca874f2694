"""Six kinds of faults that machines overlook, each looked for on all pages, narrow and wide.

One walk over the pages serves all six tests.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest

from tests.site.conftest import Windows
from tests.support.browser import Visit
from tests.support.preview import Preview, looked_at
from tests.support.states import State

pytestmark = pytest.mark.thorough

WIDTHS = (320, 1280)

LOOK = """() => {
    const found = {cut: [], alike: [], errors: [], claims: [], narrow: []};
    const seen = each => each.checkVisibility({visibilityProperty: true}) && each.getBoundingClientRect().width > 1;
    const all = (what, from = document) => [...from.querySelectorAll(what)].filter(seen);
    const name = each => each.outerHTML.slice(0, 100).replaceAll("\\n", " ");
    const said = each => each.textContent.trim().replace(/\\s+/g, " ");

    // Cut: a box hides part of a line, and neither scrolls nor leads to a page that has all of it.
    const texts = ":is(p, span, b, time, small, td, th, h1, h2, h3, a, button, label)";
    for (const each of all(`main ${texts}, .top a, .foot a`)) {
        const style = getComputedStyle(each);
        const leads = each.closest("a[href]") || each.querySelector("a[href]") || each.title;
        const hides = style.display !== "inline" && !/visible|auto|scroll/.test(style.overflowX);
        const is_cut = hides && !leads && each.scrollWidth > each.clientWidth + 1;
        if (is_cut && !each.closest(".vh")) found.cut.push(name(each));
    }
    for (const each of all("input[type=datetime-local], input[type=date]")) {
        const whole = each.cloneNode();
        whole.style.cssText = "position: absolute; width: max-content !important; min-width: 0";
        each.after(whole);
        if (whole.offsetWidth > each.offsetWidth + 1) found.cut.push(name(each));
        whole.remove();
    }

    // Alike: a state that only an attribute tells.
    const looks = each => ["", "::before", "::after"].map(part => {
        const style = getComputedStyle(each, part || undefined);
        return [style.backgroundColor, style.color, style.fontWeight, style.content,
            style.borderBlockEndColor, style.borderInlineStartColor, style.borderBlockEndWidth,
            style.textDecorationLine];
    }).join();
    for (const each of all("[aria-pressed], [aria-current]")) {
        const state = each.hasAttribute("aria-pressed") ? "aria-pressed" : "aria-current";
        const value = each.getAttribute(state);
        each.style.transition = "none";
        const before = looks(each);
        if (state === "aria-current") each.removeAttribute(state);
        else each.setAttribute(state, value === "true" ? "false" : "true");
        if (looks(each) === before) found.alike.push(name(each));
        each.setAttribute(state, value);
    }

    // Errors: in the page's order, by the fields' names, each beside its field.
    const links = all(".summary a[href^='#f-']");
    const fields = links.map(link => document.getElementById(link.hash.slice(1)));
    links.forEach((link, n) => {
        const field = fields[n], after = fields[n + 1];
        if (!field) return found.errors.push(["no field", name(link)]);
        if (after && !(field.compareDocumentPosition(after) & Node.DOCUMENT_POSITION_FOLLOWING))
            found.errors.push(["not in the page's order", name(link)]);
        if (said(link).startsWith("This ")) found.errors.push(["names no field", said(link)]);
        if (field.type === "radio") return;
        const error = document.getElementById(field.getAttribute("aria-describedby"));
        const near = error && Math.abs(error.getBoundingClientRect().top - field.getBoundingClientRect().bottom) < 120;
        const marked = field.getAttribute("aria-invalid") === "true";
        if (!marked || !near) found.errors.push(["not beside its field", name(field)]);
    });
    if (links.length && document.activeElement !== all(".summary")[0]) found.errors.push(["without the focus"]);

    // Claims: what a page says of its list is so.
    const text = said(document.querySelector("main")), cards = all("main > #list .card, main > div > .card");
    if (/That’s all/.test(text) && all("main a[rel~=next]").length) found.claims.push("That’s all, and there is more");
    if (/All messages are read/.test(text) && all(".row.unread").length) found.claims.push("all read, and some unread");
    const odd = text.match(/.{0,20}(\\b1 (likes|people|deals|pieces)|undefined|\\bNone)\\b/);
    if (odd) found.claims.push(odd[0]);
    const none = /nothing yet|No deals match|has no deals right now/i.test(text) && !/most of these|ended/.test(text);
    if (none && cards.length) found.claims.push("nothing, and there are cards");
    const order = all(".sort nav[aria-label=Order] [aria-current]").map(said)[0];
    const values = (what, read) => all(`#list ${what}`).map(read);
    const rises = list => list.every((each, n) => !n || list[n - 1] <= each);
    if (order === "Cheapest" && !rises(values(".tag", each => parseFloat(each.value))))
        found.claims.push("not the cheapest first");
    if (order === "Discount" && !rises(values(".off", each => -parseInt(each.textContent.replace("−", "")))))
        found.claims.push("not the biggest discounts first");

    // Narrow: a field in which one can't see what one types.
    for (const each of all("input:not([type=hidden], [type=checkbox], [type=radio]), textarea, select")) {
        const least = each.matches(".find input, textarea, [name=title], [name=link]") ? 160 : 44;
        if (!each.closest(".vh") && each.getBoundingClientRect().width < least) found.narrow.push(name(each));
    }

    // Where what all pages share is: from the bar's start, since it scrolls to the page that is shown.
    const places = {};
    for (const each of all(".top a, .find, .bar li a")) {
        const bar = each.closest(".bar ul"), {left, top} = each.getBoundingClientRect();
        places[said(each) || each.className] = [Math.round(left + (bar?.scrollLeft ?? 0)), Math.round(top + scrollY)];
    }
    return {...found, places};
}"""
"""What a page has of each kind, and where its header's links are."""

Found = dict[str, list[Any]]


@pytest.fixture(scope="module")
def looked(_windows: Windows, site: Preview, every_page: dict[str, State]) -> Found:
    """What is found on all pages, by kind."""
    found: Found = defaultdict(list)
    places: dict[tuple[str, int], dict[str, tuple[list[int], str]]] = defaultdict(dict)
    for name, state in every_page.items():
        with looked_at(site):
            page = _windows.show(state)
            page.wait_for_load_state("networkidle")
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            here = page.evaluate(LOOK)
            for link, place in here.pop("places").items():
                known, where = places[state.who, width].setdefault(link, (place, name))
                if known != place:
                    found["moved"].append((name, width, link, place, "but", known, "on", where))
            for kind, faults in here.items():
                found[kind] += [(name, width, each) for each in faults]
    return found


def test_no_text_is_cut(looked: Found) -> None:
    assert looked["cut"] == []


def test_a_state_looks_different_to_people_too(looked: Found) -> None:
    assert looked["alike"] == []


def test_errors_are_named_in_order_and_stand_beside_their_fields(looked: Found) -> None:
    assert looked["errors"] == []


def test_a_page_claims_only_what_is_so(looked: Found) -> None:
    assert looked["claims"] == []


def test_a_field_is_wide_enough_to_read_what_is_typed(looked: Found) -> None:
    assert looked["narrow"] == []


def test_what_all_pages_share_is_at_one_place(looked: Found) -> None:
    assert looked["moved"] == []


FAULTY = """<main><div class="summary"><a href="#f-b">This is wrong.</a><a href="#f-a">A is wrong.</a></div>
<p style="width: 20px; overflow: hidden; white-space: nowrap">A long line</p><button aria-pressed="false">On</button>
<p>1 people watch it</p><input id="f-a" style="width: 20px"><input id="f-b"></main>"""


def test_each_kind_is_noticed(visit: Visit) -> None:
    page = visit("about:blank")
    page.set_content(FAULTY)

    found = page.evaluate(LOOK)

    assert {kind: bool(found[kind]) for kind in ("cut", "alike", "errors", "claims", "narrow")} == dict.fromkeys(
        ("cut", "alike", "errors", "claims", "narrow"), True
    )
    assert [each[0] for each in found["errors"]][:2] == ["not in the page's order", "names no field"]
