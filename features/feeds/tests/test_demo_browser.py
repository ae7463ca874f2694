"""A visitor's own feed in the demo, in a real browser."""

from __future__ import annotations

import gzip
import json
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from features.feeds.in_tab import MOST
from tests.demo.conftest import Host, context, folder, host, served  # noqa: F401  # fixtures
from tests.demo.test_browser import AXE, opened
from tests.support.commands import until
from tests.support.tab import at, site_in, site_of

pytestmark = pytest.mark.thorough

FILES = Path(__file__).with_name("files")


def imported(page: Page, file: Path) -> None:
    """Choose a file on the page that the demo's button leads to, and send it."""
    page.get_by_role("button", name="Import your feed").click()
    site_in(page).get_by_label("Feed or export").set_input_files(file)
    site_in(page).get_by_label("Name of the shop").fill("Harbour")
    site_in(page).get_by_role("button", name="Import", exact=True).click()


def test_a_shop_sees_its_goods_in_the_window_and_the_tab_keeps_them(
    context: BrowserContext, host: Host, tmp_path: Path
) -> None:
    page = opened(context, host)
    packed = tmp_path / "feed.xml.gz"  # a file that is no text
    packed.write_bytes(gzip.compress((FILES / "google.xml").read_bytes()))

    imported(page, packed)

    expect(site_in(page).locator(".imported")).to_contain_text("3 deals created")
    site_of(page).evaluate(AXE.read_text(encoding="utf-8"))
    assert site_of(page).evaluate("axe.run().then(({violations}) => violations.map(({id}) => id))") == []
    for path in ("/search?q=quay+runner", "/deals"):
        assert until(partial(_shows_it, page, path))
    page.reload()
    expect(page.locator("#site")).to_be_visible()
    assert _shows_it(page, "/search?q=quay+runner")


def _shows_it(page: Page, path: str) -> bool:
    return "Quay Runner & Laces" in str(at(page, path).locator("main").text_content())


def test_a_thousand_deals_are_imported_while_pages_answer(context: BrowserContext, host: Host, tmp_path: Path) -> None:
    records = (
        {"sourceId": str(n), "title": f"Quay coat {n}", "link": f"https://harbour.example/{n}", "price": f"{n + 5}",
         "brand": f"Brand {n % 20}", "category": "clothing"}
        for n in range(MOST + 1)
    )  # fmt: skip
    file = tmp_path / "feed.jsonl"
    file.write_text("\n".join(map(json.dumps, records)))
    page = opened(context, host)

    imported(page, file)

    expect(site_in(page).locator(".imported")).to_contain_text(f"{MOST:,} deals created")
    expect(site_in(page).locator(".imported")).to_contain_text(f"Only the first {MOST:,} records are read.")
    assert at(page, "/brands/brand-7").locator("main h3").count() > 0
