"""Nothing needs a mouse: a reader and an editor on a phone's width, with Tab, Enter and what is typed, and no more."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from shared.data.catalog import deals, feeds, topics
from shared.models.catalog import ALL_DEALS
from shared.values import times
from tests.support.factories import a_deal
from tests.support.site import PASSWORD, Site, fresh
from tests.support.windows import Visit, with_and_without_script

FARTHEST = 150
"""Presses of Tab after which a part of a page counts as out of reach."""

IS_OUTLINED = """part => [part, part.closest('.card')].some(
    each => each && getComputedStyle(each).outlineStyle === 'solid')"""


def reach(page: Page, wanted: Locator) -> None:
    """Press Tab until a part has the focus, and shows that it has."""
    # Found once: to look for it by its role after each press takes longer than the press.
    part = wanted.element_handle()
    for _ in range(FARTHEST):
        page.keyboard.press("Tab")
        if part.evaluate("part => part === document.activeElement"):
            assert part.evaluate(IS_OUTLINED)
            return
    pytest.fail(f"The keyboard does not reach {wanted}.")


def enter(page: Page, role: str, name: str) -> None:
    """Go to a link or a button, press it, and wait for the page that follows."""
    reach(page, page.get_by_role(role, name=name, exact=True))  # type: ignore[arg-type]  # a role is one of its words
    with page.expect_navigation():
        page.keyboard.press("Enter")


def write(page: Page, label: str, text: str) -> None:
    """Go to a field, whose text is then selected as a whole, and type over it."""
    reach(page, page.get_by_label(label, exact=True))
    page.keyboard.type(text)


@with_and_without_script
def test_a_reader_finds_a_deal_makes_an_account_and_saves_it(visit: Visit, site: Site, *, script: bool) -> None:
    brand = fresh("Kettle")
    topics.create_brand(site.table, brand.lower(), brand, times.now())
    deal = deals.create(
        site.table, a_deal(times.now(), title="Stove top", brand=brand.lower(), brand_name=brand), times.now()
    )
    username = fresh("typist")
    page = visit(f"/brands/{brand.lower()}", width=390, script=script)

    reach(page, page.get_by_role("link", name="Skip to the content"))
    page.keyboard.press("Enter")
    enter(page, "link", deal.title)
    button = page.get_by_role("button", name="Save", exact=True)
    reach(page, button)
    with page.expect_navigation(url=re.compile("/account/sign-in")):
        page.keyboard.press("Enter")
    enter(page, "link", "Create an account")
    write(page, "Username", username)
    write(page, "Name", "Typist")
    write(page, "Email address", f"{username}@mail.example")
    write(page, "Password", PASSWORD)
    with page.expect_navigation():
        page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(rf"/deals/{deal.number}"))  # and what was pressed there is done
    page.goto("/my/saved")
    expect(page.get_by_role("link", name=deal.title, exact=True)).to_be_visible()


@with_and_without_script
def test_an_editor_signs_in_posts_a_deal_makes_it_hot_and_ends_it(visit: Visit, site: Site, *, script: bool) -> None:
    editor, title, brand = site.editor("typist"), fresh("Typed"), fresh("Goods")
    topics.create_brand(site.table, brand.lower(), brand, times.now())
    page = visit("/account/sign-in?next=/desk", width=390, script=script)

    write(page, "Username", editor.username)
    write(page, "Password", PASSWORD)
    with page.expect_navigation():
        page.keyboard.press("Enter")
    write(page, "Address at the shop", f"https://shop.example/{title}")
    enter(page, "button", "Continue")
    write(page, "Title", title)
    write(page, "Price", "12.50")
    write(page, "Brand", brand)
    reach(page, page.get_by_label("Category", exact=True))
    page.keyboard.type("S")
    enter(page, "button", "Post")
    expect(page.locator(".notice[role=status]")).to_have_text("Posted. Watchers are being notified.")
    enter(page, "link", "Make it hot")
    enter(page, "button", "Notify all members")
    expect(page.get_by_role("heading", level=1)).to_have_text("All members are notified")

    newest = feeds.read(site.table, ALL_DEALS, limit=20, now=times.now()).items
    assert [(deal.price, deal.category) for deal in newest if deal.title == title] == [("12.50", "shoes")]
    enter(page, "link", "To the deal")
    enter(page, "link", "End it now")
    enter(page, "button", "End it now")
    expect(page.locator(".notice[role=status]")).to_have_text("Ended. It no longer appears in any list.")
