"""The desk in the demo, in a real browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.demo.conftest import Host, context, folder, host  # noqa: F401  # fixtures
from tests.demo.test_browser import opened, signed_in
from tests.support.commands import until
from tests.support.tab import at, where

pytestmark = pytest.mark.thorough


def test_an_editors_deal_reaches_a_reader_and_all_is_there_after_a_reload_without_a_network(
    context: BrowserContext, host: Host
) -> None:
    asked: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    page = opened(context, host)
    signed_in(page, "an editor", "/desk")
    form = at(page, "/desk/deals/new?link=https%3A%2F%2Fshop.example%2Ftab")
    for name, value in (("title", "Tab runner"), ("price", "31.90"), ("listPrice", "60")):
        form.locator(f"main [name={name}]").fill(value)
    form.locator("main [name=brand]").fill("pace-theory")
    form.locator("main [name=category]").select_option("shoes")
    form.locator("main form:has([name=title]) button").first.click()
    assert until(lambda: "notice=posted" in where(page))

    signed_in(page, "a reader", "/my/inbox")
    assert until(lambda: "Tab runner" in at(page, "/my/inbox").locator("main").inner_text())
    host.end()
    page.reload()

    expect(page.locator("#site")).to_be_visible()
    assert until(lambda: "Tab runner" in at(page, "/search?q=tab+runner").locator("main").inner_text())
    assert {re.sub(r"^(blob:)?http://127\.0\.0\.1:\d+/.*|about:blank", "", url) for url in asked} == {""}
