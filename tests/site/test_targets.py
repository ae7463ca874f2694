"""Targets are large enough to hit: a link or button that does not stand in running text is 2.75 rem high."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from playwright.sync_api import Page

from shared.data.catalog import deals, feeds
from shared.dynamodb import cursors
from shared.models.catalog import ALL_DEALS
from shared.values import times
from tests.site.test_pages import TYPES
from tests.support.preview import Preview
from tests.support.windows import Visit

MEMBERS = [
    "inbox", "watches", "saved", "account", "leaving", "cart", "addresses", "checkout", "orders", "order", "cancelling",
]  # fmt: skip
EDITORS = [
    "desk", "posting", "all deals", "a deal's form", "ending a deal", "making hot", "front page order",
    "desk brands", "orders to send", "an order to send", "stock",
]  # fmt: skip
pytestmark = pytest.mark.thorough
both_widths = pytest.mark.parametrize("width", [390, 1280])

MEASURE = """() => {
    const least = 2.75 * parseFloat(getComputedStyle(document.documentElement).fontSize);
    const inText = ".say, .prose p, .prose li, main > p:not([class]), td, .facts, label";
    const found = [];
    for (const target of document.querySelectorAll("a[href], button, select, input:not([type=hidden])")) {
        // The whole card, and the whole label of a choice, is the target of the link and the button in it.
        if (target.closest(inText) || target.matches(".skip, .vh, .card h2 a, .card h3 a")) continue;
        const {width, height} = target.getBoundingClientRect();
        if (width && height + .5 < least) found.push([target.outerHTML.slice(0, 120), height]);
    }
    return found;
}"""
"""The targets that are too low, with their heights. What is not shown has no width."""


def too_low(page: Page) -> Any:
    return page.evaluate(MEASURE)


@both_widths
@pytest.mark.parametrize("kind", TYPES)
def test_targets_of_public_pages_are_high_enough(visit: Visit, paths: dict[str, str], kind: str, width: int) -> None:
    assert too_low(visit(paths[kind], width=width)) == []


@both_widths
@pytest.mark.parametrize("kind", [*MEMBERS, *EDITORS])
def test_targets_of_ones_own_pages_are_high_enough(
    visit: Visit, people: dict[str, str], own_paths: dict[str, str], kind: str, width: int
) -> None:
    token = people["ana" if kind in MEMBERS else "eddy"]

    assert too_low(visit(own_paths[kind], width=width, token=token)) == []


@both_widths
def test_the_targets_of_a_form_that_was_wrong_are_high_enough(visit: Visit, people: dict[str, str], width: int) -> None:
    page = visit("/my/watches?brand=zeppelin", width=width, token=people["nick"])

    assert page.locator(".summary li a").count() == 1
    assert too_low(page) == []


@both_widths
def test_the_targets_of_an_ended_deal_are_high_enough(visit: Visit, site: Preview, width: int) -> None:
    deal = site.deals[20]
    deals.edit(site.table, deal.deal_id, {"ends_at": times.now() - timedelta(seconds=1)}, times.now())
    page = visit(f"/deals/{deal.number}", width=width)

    assert page.locator(".banner a").count() == 1
    assert too_low(page) == []


@both_widths
def test_the_targets_of_a_lists_end_are_high_enough(visit: Visit, site: Preview, width: int) -> None:
    cursor = cursors.encode(feeds.scope(ALL_DEALS), site.deals[-5].deal_id)
    page = visit(f"/deals?cursor={cursor}", width=width)

    assert page.locator(".end a").count() == 1
    assert too_low(page) == []


def test_letters_of_the_brands_are_as_wide_as_high(visit: Visit, paths: dict[str, str]) -> None:
    page = visit(paths["brands"])

    sizes = page.locator(".letters a").evaluate_all("links => links.map(link => link.getBoundingClientRect().width)")

    assert min(sizes) >= 44
