"""Pictures in the demo, in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import BrowserContext, expect

from local.settings import ROOT
from tests.demo.conftest import Host, context, folder, host  # noqa: F401  # fixtures
from tests.demo.test_browser import opened, signed_in
from tests.support.commands import until
from tests.support.tab import at, site_in, where

pytestmark = pytest.mark.thorough


def test_a_picture_that_is_sent_is_refused_in_a_sentence_that_leads_back(context: BrowserContext, host: Host) -> None:
    page = opened(context, host)
    signed_in(page, "an editor", "/desk")
    form = at(page, "/desk/deals/150").locator("form[enctype='multipart/form-data']")
    form.locator("[type=file]").set_input_files(ROOT / "docs" / "pictures" / "front-page.png")

    form.get_by_role("button", name="Send the picture").click()

    # By its name: the page before has many headings, of which no one is waited for.
    expect(site_in(page).get_by_role("heading", name="The demo takes no pictures")).to_be_visible()
    site_in(page).get_by_role("link", name="Back to the deal").click()
    assert until(lambda: where(page).endswith("/site/desk/deals/150"))
