"""Shoppers' journeys, from end to end in a real browser: ``tests/signed_in/test_shop.py`` has each form without script.

Nothing here reads the table's stream: what it would do, that a deal shows how much of it is left, a test asks for.
The other journeys are walked on a deployed site (``tests/e2e/test_browser.py``).
"""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from shared.data.orders import stock
from tests.support.preview import Preview, entered
from tests.support.windows import Visit

ORDER = re.compile("^Order for")
"""The button that orders, with its sum."""


def press(page: Page, name: str) -> None:
    """Send a form, and wait for the page that follows."""
    with page.expect_navigation():
        page.get_by_role("button", name=name, exact=True).click()


def tells(page: Page, text: str) -> None:
    expect(page.locator(".notice")).to_have_text(text)


def shows(part: Locator, text: str) -> None:
    expect(part).to_contain_text(text, use_inner_text=True)


def test_two_want_the_last_piece_and_one_gets_it(visit: Visit, site: Preview) -> None:
    """The last piece in two windows, cancelled, bought by the other, and sent from the desk; both read of it."""
    deal = site.deals[34]
    desk = visit(f"/desk/deals/{deal.number}", token=entered(site, "seller", "editor"))
    desk.get_by_role("link", name="Stock").click()
    desk.get_by_label("Pieces").fill("1")
    press(desk, "Add")
    tells(desk, "Stock updated. All pages show it within a second or two.")
    stock.show_level(site.table, deal.deal_id)
    ana, bo = (visit("/", token=entered(site, name)) for name in ("quick", "slow"))

    for buyer in (ana, bo):
        buyer.goto(f"/deals/{deal.number}")
        press(buyer, "Buy here")
        tells(buyer, "Added to your cart.")
        buyer.get_by_role("link", name="Check out").click()
        give_address(buyer)
    for buyer in (ana, bo):
        order(buyer)
    tells(ana, "Order placed. We’ll send a message to your inbox when it ships.")
    shows(bo.locator(".summary"), "sold out")
    stock.show_level(site.table, deal.deal_id)
    bo.goto(f"/deals/{deal.number}")
    bo.reload()  # else the browser may show what it stored seconds ago, as the page's headers allow
    shows(bo.locator(".facts"), "Sold out")

    ana.get_by_role("link", name="Cancel the order").click()
    press(ana, "Cancel the order")
    tells(ana, "The order was cancelled.")
    stock.show_level(site.table, deal.deal_id)
    desk.reload()
    expect(desk.locator(".facts dd").first).to_have_text("1")
    bo.goto("/shop/checkout")
    order(bo)
    tells(bo, "Order placed. We’ll send a message to your inbox when it ships.")
    bought = bo.url.partition("?")[0].rpartition("/")[2]

    desk.get_by_role("link", name="Orders", exact=True).click()
    desk.locator(f"a[href*='{bought}']").click()
    desk.get_by_role("button", name="Send").click()
    shows(desk.locator(".notice"), "We’ll notify the buyer.")
    for buyer, news in ((ana, "is cancelled"), (bo, "is on its way")):
        buyer.goto("/my/inbox")
        shows(buyer.locator("main"), news)
        buyer.locator(".row h3 a").first.click()
        expect(buyer).to_have_url(re.compile("/shop/orders/"))
    assert stock.of(site.table, deal.deal_id).left == 0


def give_address(buyer: Page) -> None:
    """Fill in the address that the checkout asks for first."""
    for label, typed in (
        ("Recipient", "Ana Blake"), ("Street and number", "12 Harbour Street"), ("Postal code", "04101"),
        ("City", "Portland"), ("State or region", "ME"),
    ):  # fmt: skip
        buyer.get_by_label(label).fill(typed)
    buyer.get_by_label("Country").select_option("US")
    press(buyer, "Save the address and continue")


def order(buyer: Page) -> None:
    with buyer.expect_navigation():
        buyer.get_by_role("button", name=ORDER).click()
