"""The shop in real browsers: two buyers, and who sells."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from features.shop.data import carts, stock
from shared.values import times
from tests.support.browser import Visit, press
from tests.support.preview import Preview, entered, started


@pytest.fixture(scope="module")
def site() -> Iterator[Preview]:
    """A site of a dozen deals, none of which is sold here."""
    with started(most=12) as preview:
        yield preview


ORDER = re.compile("^Order for")
"""The button that orders, with its sum."""


def tells(page: Page, text: str) -> None:
    expect(page.locator(".notice")).to_have_text(text)


def shows(part: Locator, text: str) -> None:
    expect(part).to_contain_text(text, use_inner_text=True)


def test_two_want_the_last_piece_and_one_gets_it(visit: Visit, site: Preview) -> None:
    """The last piece in two windows, cancelled, bought by the other, and sent from the desk; both read of it."""
    deal = site.deals[3]
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


def order(buyer: Page) -> None:
    with buyer.expect_navigation():
        buyer.get_by_role("button", name=ORDER).click()


@pytest.mark.parametrize("width", [390, 1280])
def test_the_sum_and_its_button_stay_in_sight_and_cover_nothing_that_has_the_focus(
    visit: Visit, site: Preview, width: int
) -> None:
    member = f"payer{width}"
    token = entered(site, member)
    for deal in site.deals[4:10]:
        stock.add(site.table, deal.deal_id, 5, times.now())
        carts.put_in(site.table, member, deal.deal_id, 1, times.now())
    page = visit("/shop/checkout", token=token)
    page.set_viewport_size({"width": width, "height": 700})

    bar = page.locator(".pay")
    for place in (0, 400, 10_000):
        page.evaluate(f"scrollTo({{top: {place}, behavior: 'instant'}})")
        expect(bar.get_by_role("button")).to_be_in_viewport(ratio=1)
        expect(bar.locator(".sum")).to_be_in_viewport(ratio=1)
    page.evaluate("scrollTo({top: 0, behavior: 'instant'})")
    for field in page.locator("main form :is(input, select):visible").all():
        field.focus()
        assert field.evaluate(
            "each => each.getBoundingClientRect().bottom <= document.querySelector('.pay').getBoundingClientRect().top"
        )
