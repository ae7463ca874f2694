"""Members' pages and the shop in a browser."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlencode

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect

from functions.background import refresher
from functions.cost_headers import with_cost
from shared.data import keys
from shared.data.orders import stock
from shared.http.requests import LAPTOP
from shared.models.catalog import BRAND, Topic, feed_of
from tests.site.conftest import Windows, client_of, cookie_of
from tests.site.states import OF_EDITORS, OF_MEMBERS, State
from tests.support.browser import Visit, sent_by_script
from tests.support.preview import Preview, entered
from tests.support.quality import crawl, invalid_html, violations
from tests.support.surroundings import a_context, record


def table_paths(site: Preview, token: str) -> dict[str, str]:
    """The pages that only such a stage has, and one that says what it took."""
    deal = site.deals[40]
    month = BRAND.period.start_of(deal.created_at)
    index = {"partition": keys.feed_partition(feed_of(Topic(BRAND, deal.brand)), month), "index": "GSI2"}
    return {
        "table": "/table",
        "collection": f"/table?{urlencode({'partition': keys.deal(deal.deal_id)['PK']})}",
        "index": f"/table?{urlencode(index)}",
        "user": f"/table?{urlencode({'partition': keys.user('ana')['PK']})}",
        "nothing": "/table?partition=DEAL",
        "form": f"/table/took/{_kept(site, token)}",
        "code": "/table/code/shared.data.catalog.clicks",
        "took": f"/deals/{deal.number}",
    }


def test_what_a_button_took_comes_to_its_page(visit: Visit, site: Preview, shown: None, people: dict[str, str]) -> None:
    page = sent_by_script(visit(f"/categories/{site.deals[43].category}", token=people["nick"]))
    press = page.get_by_role("button", name=re.compile("^Liked?$"))

    for function in ("follows.like", "follows.unlike"):
        press.click()
        expect(page.locator("#form-took code").first).to_have_text(function)
        expect(page.get_by_role("link", name="Cost of this form")).to_have_count(1)
    assert page.url.endswith(site.deals[43].category)


def test_the_walk_goes_from_a_deal_to_a_fault_and_is_dismissed_for_ever(
    visit: Visit, site: Preview, shown: None, people: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("STAGE", LAPTOP)
    page = visit("/")
    page.context.add_cookies([{"name": "btd", "value": people["eddy"], "url": site.origin}])
    on_with_it = page.get_by_role("link", name="Continue the walk")
    page.get_by_role("link", name="Post a deal and watch the table").click()
    expect(page.get_by_text("after the first step")).to_have_count(4)

    page.get_by_role("link", name="Post a deal", exact=True).click()
    page.get_by_label("Brand").fill(site.deals[43].brand_name)
    page.get_by_label("Category").select_option(site.deals[43].category)
    page.get_by_role("button", name="Post", exact=True).click()
    on_with_it.click()
    key = page.locator(".steps code").first.inner_text()
    assert violations(page) == []
    assert invalid_html({"walk": page.request.get(page.url).text()}, tmp_path)[-6000:] == ""

    page.get_by_role("link", name="See its writes").click()
    expect(page.locator(".writes.together")).to_contain_text(key)
    on_with_it.click()
    page.get_by_role("link", name="See the item").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(key)
    on_with_it.click()
    page.get_by_role("link", name="See what followed").click()
    expect(page.locator("#followed")).to_contain_text("No function has read it yet.")
    with_cost(refresher)({"Records": [record(None, site.table.get(keys.deal(keys.id_in(key))))]}, a_context())
    expect(page.locator("#followed")).to_contain_text("copied")
    assert violations(page) == []
    on_with_it.click()
    page.get_by_role("link", name="Try a conflict").click()
    page.get_by_label("Price", exact=True).fill("49.90")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("#form-took")).to_contain_text("First try: TransactionConflict")

    page.get_by_role("button", name="Dismiss").click()
    page.goto("/")
    expect(page.locator("#walk")).to_be_hidden()


def test_a_form_that_is_no_step_of_the_walk_leads_to_its_beginning(
    visit: Visit, site: Preview, shown: None, people: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STAGE", LAPTOP)
    page = visit(f"/brands/{site.deals[43].brand}", token=people["nick"], script=False)
    page.get_by_role("button", name=re.compile("^Watch(ing)?$")).first.click()

    expect(page.locator("#form-took")).to_be_attached()
    expect(page.locator("#walk a")).to_have_text("Post a deal and watch the table →")


def _kept(site: Preview, token: str) -> str:
    """The id of what someone's like took."""
    headers = {"Cookie": cookie_of(token), "Sec-Fetch-Site": "same-origin"}
    path = f"{site.origin}/my/likes/brand/{site.deals[40].brand}"
    sent = httpx.post(path, data={"on": "1"}, headers=headers, trust_env=False, timeout=120)
    return sent.headers["Location"].rpartition("trace=")[2]


@pytest.mark.thorough
def test_pages_that_say_what_they_took_are_accessible_and_no_wider_than_their_window(
    windows: Windows, site: Preview, shown: None, people: dict[str, str]
) -> None:
    for kind, path in table_paths(site, people["eddy"]).items():
        page = windows.show(State(path, who="eddy"))
        page.get_by_text("Cost of this page").click()

        expect(page.get_by_role("columnheader", name="Trip"), kind).to_be_visible()
        assert (page.locator("h1").count(), violations(page)) == (1, []), kind


def test_a_form_with_errors_leads_to_its_fields(visit: Visit, people: dict[str, str]) -> None:
    page = visit("/desk/deals/new?link=https://shop.example/new-thing", token=people["eddy"])
    page.get_by_label("Title").fill("A new thing")
    page.get_by_label("Price", exact=True).fill("cheap")
    page.get_by_label("Brand").fill("Nobody")
    page.get_by_role("button", name="Post", exact=True).click()

    expect(page).to_have_title(re.compile("^Error:"))
    assert violations(page) == []
    page.locator(".summary a").first.click()
    expect(page.locator(":focus")).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_label("Title")).to_have_value("A new thing")


@pytest.mark.parametrize("who", ["ana", "eddy"])
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
