"""Pictures in a real browser, on a site with a bucket: posting a deal with one, and pages that show many."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import FilePayload, Page, expect

from features.pictures import resizer
from tests.support.browser import Visit
from tests.support.commands import until
from tests.support.factories import plain_picture
from tests.support.preview import Preview, entered, started
from tests.support.quality import lighthouse

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def site() -> Iterator[Preview]:
    with started(drawn=True) as preview:
        yield preview


GIVE = """([kind, field, content]) => {
    const files = new DataTransfer(), bytes = Uint8Array.from(atob(content), letter => letter.charCodeAt());
    files.items.add(new File([bytes], "shoe.png", {type: "image/png"}));
    const how = {bubbles: true, cancelable: true, [field]: files};
    return !document.querySelector("h1").dispatchEvent(
        kind === "paste" ? new ClipboardEvent(kind, how) : new DragEvent(kind, how));
}"""
"""Drops or pastes a picture, as a browser does; returns whether the page took it."""


def given(page: Page, kind: str) -> bool:
    field = "clipboardData" if kind == "paste" else "dataTransfer"
    return bool(page.evaluate(GIVE, [kind, field, base64.b64encode(plain_picture(1200, 900)).decode()]))


def fill(page: Page, brand: str) -> None:
    for label, typed in (("Title", "Trail shoe"), ("Price", "61.00"), ("Brand", brand)):
        page.get_by_label(label, exact=True).fill(typed)
    page.get_by_label("Category").select_option("shoes")


@pytest.mark.parametrize("kind", ["drop", "paste", "choose"])
def test_a_deal_is_posted_with_its_picture_by_one_button(visit: Visit, site: Preview, kind: str) -> None:
    path = f"/desk/deals/new?{urlencode({'link': f'https://shop.example/{kind}'})}"
    page = visit(path, token=entered(site, f"eddy-{kind}", "editor"), width=390)

    picture = page.get_by_label(re.compile("^Picture optional"))
    if kind == "choose":
        picture.set_input_files(FilePayload(name="shoe.png", mimeType="image/png", buffer=plain_picture(1200, 900)))
    else:
        assert given(page, kind)
    fill(page, "Nobody’s")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("alert")).to_contain_text("There is no brand with this name yet.")
    page.get_by_label("Brand", exact=True).fill("Pace Theory")
    page.get_by_role("button", name="Post", exact=True).click()
    page.wait_for_url("**/picture?key=**")
    resizer.make(parse_qs(urlsplit(page.url).query)["key"][0])

    expect(page.locator(".notice")).to_have_text("The picture is ready. All pages show it within a second or two.")
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile(r"^Deal \d+$"))
    made = page.locator("#picture .tile img")
    assert until(lambda: bool(made.evaluate("img => img.complete && img.naturalWidth")))


def test_without_script_posting_leads_to_the_form_of_the_picture(visit: Visit, site: Preview) -> None:
    path = f"/desk/deals/new?{urlencode({'link': 'https://shop.example/plain'})}"
    page = visit(path, token=entered(site, "eddy-plain", "editor"), width=390, script=False)

    expect(page.locator("#f-file")).to_be_hidden()
    fill(page, "Pace Theory")
    page.get_by_role("button", name="Post, then send a picture").click()

    expect(page).to_have_url(re.compile(r"/desk/deals/\d+.*#picture$"))
    expect(page.get_by_role("button", name="Send the picture")).to_be_in_viewport()


def test_lighthouse_is_content_with_pages_of_pictures(site: Preview, tmp_path: Path) -> None:
    for path in ("/", f"/deals/{site.deals[0].number}"):
        found = lighthouse(f"{site.origin}{path}", tmp_path)

        assert (found.poor, set(found.scores.values())) == ([], {1}), found
        assert found.figures["cumulative-layout-shift"] <= 0.02
        assert found.figures["total-byte-weight"] <= 60 * 1024
