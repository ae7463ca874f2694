"""A reader's journey in a real browser, on the site that the stacks deploy: its domain, gateway, cookies and stream."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from shared.data.catalog import brands, deals, featured, feeds, products
from shared.data.members import sessions, users
from shared.models.catalog import ALL_DEALS, FRONT_PAGE, Deal
from shared.values import times
from tests.support.making import a_deal
from tests.support.preview import entered
from tests.support.site import PASSWORD, Site, Visitor, fresh
from tests.support.site import a_deal as body_of
from tests.support.waiting import until
from tests.support.windows import Visit

PATIENT = PATIENCE * 1000
"""Milliseconds: a function that has not been asked yet starts in a second, on a busy machine in many."""


@pytest.fixture
def page(site: Site) -> Iterator[Page]:
    """A page of a browser that knows the deployed site by its domain."""
    with browser() as launched:
        context = launched.new_context(base_url=deploy.origin(site.port))
        context.set_default_timeout(PATIENT)
        context.set_default_navigation_timeout(PATIENT)
        yield context.new_page()


def test_a_reader_finds_a_deal_signs_up_saves_it_and_signs_out(
    page: Page, site: Site, editor: Visitor, brand: str
) -> None:
    name = fresh("zeppelin")
    posted = editor.post("/deals", json=a_deal(brand, title=f"Inflatable {name}"))
    number = posted.json()["dealNumber"]

    page.goto("/")
    expect(page.get_by_role("heading", level=1)).to_be_visible(timeout=PATIENT)
    _search_until_found(page, name)
    page.get_by_role("link", name=f"Inflatable {name}").click()
    expect(page).to_have_url(re.compile(rf"/deals/{number}$"), timeout=PATIENT)
    expect(page.get_by_role("link", name="Go to shop.example")).to_be_visible()

    page.get_by_role("link", name="Account", exact=True).click()
    page.get_by_role("link", name="Make an account").click()
    for label, typed in (("Username", name), ("Name", "Ana"), ("Email address", f"{name}@mail.example")):
        page.get_by_label(label, exact=True).fill(typed)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Make the account").click()
    expect(page).not_to_have_url(re.compile("/account/sign-up"), timeout=PATIENT)

    page.goto(f"/deals/{number}")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("button", name="Saved").or_(page.locator(".notice")).first).to_be_visible(timeout=PATIENT)
    page.goto("/my/saved")
    expect(page.get_by_role("link", name=f"Inflatable {name}")).to_be_visible(timeout=PATIENT)

    page.goto("/account")
    page.get_by_role("button", name="Sign out", exact=True).click()
    expect(page.locator(".notice")).to_have_text("You are signed out.", timeout=PATIENT)
    page.goto("/my/saved")
    expect(page).to_have_url(re.compile("/account/sign-in"), timeout=PATIENT)


def _search_until_found(page: Page, word: str) -> None:
    """Search by the form until the stream has filed the deal; a browser may show what it keeps of the page first."""
    deadline = time.monotonic() + PATIENCE
    while True:
        page.goto("/")
        page.get_by_role("searchbox").fill(word)
        page.get_by_role("button", name="Search").click()
        expect(page).to_have_url(re.compile("/search"), timeout=PATIENT)
        page.wait_for_load_state()
        if page.locator(".card").count() or time.monotonic() > deadline:
            return
        page.wait_for_timeout(500)
