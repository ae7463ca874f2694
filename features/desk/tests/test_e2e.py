"""Journeys of editors at the desk of a deployed site, in a browser and by keyboard alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from shared.data.catalog import feeds, offers, picks, topics
from shared.models.catalog import ALL_DEALS, FRONT_PAGE, Deal
from shared.values import times
from tests.e2e.conftest import site  # noqa: F401  # a fixture
from tests.e2e.test_browser import enter, reach, seen_by_reloading, shows, tells, wares, write  # noqa: F401  # a fixture
from tests.support.browser import Visit, press, with_and_without_script
from tests.support.commands import until
from tests.support.preview import entered
from tests.support.site import PASSWORD, Site, fresh

pytestmark = pytest.mark.e2e


@with_and_without_script
def test_an_editor_lets_a_deal_end_and_its_page_says_so(
    visit: Visit, site: Site, wares: Sequence[Deal], *, script: bool
) -> None:
    deal = wares[script]
    desk = visit(f"/desk/deals/{deal.number}", token=entered(site, fresh("ender"), "editor"), script=script)

    desk.get_by_role("link", name="End it now").click()
    shows(desk.locator("main"), "The deal leaves all lists and search results.")
    press(desk, "End it now")
    tells(desk, "Ended. It no longer appears in any list.")

    page = visit(f"/deals/{deal.number}", token=entered(site, fresh("reader")), script=script)
    assert seen_by_reloading(page, page.locator(".banner"))


def test_the_bookmark_opens_the_form_with_what_a_shops_page_says(visit: Visit, site: Site) -> None:
    page = visit("/desk", token=entered(site, fresh("marker"), "editor"))
    bookmark = page.get_by_role("link", name="Post this deal").get_attribute("href") or ""
    shop = f"https://shop.example/{fresh('kettle')}"
    says = "".join(
        f'<meta property="{name}" content="{value}">'
        for name, value in {
            "product:original_price:amount": "158.00",
            "product:price:amount": "31.90",
            "og:image": "https://shop.example/kettle.jpg",
        }.items()
    )
    page.route(shop, lambda route: route.fulfill(content_type="text/html", body=f"{says}<h1>Kettle & cup</h1>"))

    page.goto(shop)
    with page.expect_navigation(url="**/desk/deals/new*"):
        page.evaluate(bookmark.removeprefix("javascript:"))

    for label, value in (
        ("Address at the shop", shop), ("Title", "Kettle & cup"), ("Price", "31.90"), ("List price optional", "158.00"),
        ("Picture at another host optional", "https://shop.example/kettle.jpg"),
    ):  # fmt: skip
        expect(page.get_by_label(label, exact=True)).to_have_value(value)


@with_and_without_script
def test_an_editor_posts_a_deal_that_was_warned_of_and_previewed_once(
    visit: Visit, site: Site, wares: Sequence[Deal], *, script: bool
) -> None:
    known, title = wares[2 + script], fresh("Posted")
    assert until(lambda: bool(offers.offers(site.table, known.link)))
    page = visit("/desk", token=entered(site, fresh("poster"), "editor"), script=script)

    page.get_by_label("Address at the shop").fill(f"{known.link}&utm_source=mail")
    press(page, "Continue")
    shows(page.locator(".warning"), "active deal")
    expect(page.get_by_label("Title")).to_have_value(known.title)
    expect(page.get_by_label("Price", exact=True)).to_have_value(known.price)
    shows(page.locator("#h-price"), "Compare it with the shop’s.")
    page.get_by_label("Title").fill(title)
    page.get_by_label("Price", exact=True).fill("12.5")
    press(page, "Preview")
    shows(page.locator(".preview article"), "$12.50")
    shows(page.locator(".preview article"), f"Go to {urlsplit(known.link).hostname}")
    page.get_by_role("button", name="Post", exact=True).dblclick()
    # Not wait_for_url, which fails where the second click aborts the first's navigation.
    expect(page).to_have_url(re.compile(r"/desk/deals/.*notice=posted"))
    tells(page, "Posted. Watchers are being notified.")
    page.reload()

    newest = feeds.read(site.table, ALL_DEALS, limit=20, now=times.now()).items
    assert [deal.price for deal in newest if deal.title == title] == ["12.50"]


@with_and_without_script
def test_an_editor_orders_the_front_page_by_keyboard(
    visit: Visit, site: Site, wares: Sequence[Deal], *, script: bool
) -> None:
    one, two, three = (str(deal.number) for deal in wares[8:11])
    picks.set_featured(site.table, FRONT_PAGE, [deal.deal_id for deal in wares[8:10]], times.now())
    page = visit("/desk", token=entered(site, fresh("orderer"), "editor"), script=script)
    rows = page.locator("#order tbody tr")

    page.get_by_label("Add or move by number").focus()
    page.keyboard.type(three)
    with page.expect_navigation():
        page.keyboard.press("Enter")
    expect(rows).to_have_count(3)
    page.get_by_role("button", name=f"{wares[10].title} up").focus()
    with page.expect_navigation():  # a key pressed before the page is whole would start from its top
        page.keyboard.press("Enter")
    expect(rows.nth(1)).to_have_attribute("data-number", three)
    tells(page, "The order was saved.")
    page.keyboard.press("Tab")
    expect(page.locator(f"#deal-{three} :focus")).to_have_count(1)  # the keyboard goes on from the row that was moved

    in_this_order = " + ".join(f".card:has(a[href='/deals/{number}'])" for number in (one, three, two))
    page.goto("/")
    assert seen_by_reloading(page, page.locator(f".cards > .lead{in_this_order}"))


@with_and_without_script
def test_an_editor_signs_in_posts_a_deal_makes_it_hot_and_ends_it(visit: Visit, site: Site, *, script: bool) -> None:
    editor, title, brand = site.editor("typist"), fresh("Typed"), fresh("Goods")
    topics.create_brand(site.table, brand.lower(), brand, times.now())
    page = visit("/account/sign-in?next=/desk", width=390, script=script)

    write(page, "Username or email address", editor.username)
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
