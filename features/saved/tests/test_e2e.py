"""Saved deals in a browser on a deployed site, by mouse and by keyboard alone."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from playwright.sync_api import expect

from shared.data.catalog import deals
from shared.models.catalog import Deal
from shared.values import times
from tests.e2e.conftest import site  # noqa: F401  # a fixture
from tests.e2e.test_browser import reach, seen_by_reloading, shows, tells, toggle, wares  # noqa: F401  # a fixture
from tests.support.browser import Visit, press, with_and_without_script
from tests.support.preview import entered
from tests.support.site import Site, fresh

pytestmark = pytest.mark.e2e


@with_and_without_script
def test_a_member_saves_a_deal_which_ends_and_removes_it(
    visit: Visit, site: Site, wares: Sequence[Deal], *, script: bool
) -> None:
    deal = wares[script]
    page = visit(f"/deals/{deal.number}", token=entered(site, fresh("saver")), script=script)

    toggle(page, "Save", script=script)
    if script:
        expect(page.get_by_role("button", name="Saved")).to_have_attribute("aria-pressed", "true")
        assert page.url.endswith(f"/deals/{deal.number}")
    else:
        tells(page, "Saved to your list.")
    page.goto("/my/saved")
    expect(page.get_by_role("link", name=deal.title, exact=True)).to_be_visible()

    deals.edit(site.table, deal.deal_id, {"ends_at": times.now()}, times.now())
    page.reload()
    shows(page.locator(".row.gone"), "Ended")
    page.get_by_role("link", name=deal.title, exact=True).click()
    expect(page).to_have_url(re.compile(rf"/deals/{deal.number}$"))
    assert seen_by_reloading(page, page.locator(".banner"))
    page.goto("/my/saved")
    press(page, f"Remove {deal.title}")
    shows(page.locator("main"), "Nothing yet.")


def test_a_reader_who_presses_save_by_keyboard_is_led_to_sign_in(
    visit: Visit, site: Site, wares: Sequence[Deal]
) -> None:
    page = visit(f"/deals/{wares[3].number}", width=390)

    reach(page, page.get_by_role("button", name="Save", exact=True))
    with page.expect_navigation(url=re.compile("/account/sign-in")):
        page.keyboard.press("Enter")
