"""A deal's form in a real browser."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.site.conftest import people, site  # noqa: F401  # fixtures
from tests.support.browser import Visit
from tests.support.quality import violations


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
