"""The panel in the demo, in a real browser: what follows a form, faults, and the first figures."""

from __future__ import annotations

import pytest
from playwright.sync_api import BrowserContext, expect

from features.workings.tests.conftest import by_form
from tests.demo.conftest import Host, context, folder, host  # noqa: F401  # fixtures
from tests.demo.test_browser import NO_CLOCK, TIMING, opened, read_anew, signed_in
from tests.support.tab import at, press, site_in

pytestmark = pytest.mark.thorough


@by_form
def test_the_stream_follows_a_form_in_the_tab(context: BrowserContext, host: Host) -> None:
    page = opened(context, host)
    signed_in(page, "an editor", "/desk")
    at(page, "/desk/deals/150/end")

    press(page, "End it now")

    expect(site_in(page).locator("#form-took")).to_contain_text("publisher")


def test_a_fault_from_the_panel_is_met_by_the_page_and_by_a_form_of_it(context: BrowserContext, host: Host) -> None:
    page = opened(context, host)
    signed_in(page, "a reader", "/my/inbox")
    at(page, "/deals")
    site_in(page).locator("#took > summary").click()

    site_in(page).locator("#tries").get_by_role("link", name="a throttle").click()

    expect(site_in(page).locator(".met")).to_contain_text("was refused with ThrottlingException")
    at(page, "/brands/tundra-supply?fault=throttle")
    press(page, "Like")
    expect(site_in(page).locator("#form-took")).to_contain_text("First try: ThrottlingException")


def test_the_first_figures_are_those_that_we_teach(context: BrowserContext, host: Host) -> None:
    """Without the pages' copies in the archive, the front page took 26 requests until the first minute's clock."""
    context.add_init_script(NO_CLOCK)
    page = opened(context, host)

    for path in ("/", "/deals"):
        _, timing, _ = read_anew(page, f"{host.demo}site{path}")
        found = TIMING.search(timing)
        assert found, timing
        assert int(found[1]) <= 1, timing
