"""The pages in a real browser: accessible, within their budgets, whole on every screen, with and without script."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import expect

from shared.data.catalog import deals
from shared.values import times
from tests.site.conftest import cookie_of
from tests.support.preview import Preview
from tests.support.quality import crawl, invalid_html, lighthouse, violations
from tests.support.waiting import until
from tests.support.windows import Visit

TYPES = [
    "front page", "latest", "deal", "ending", "choice", "category", "brands", "brand", "search",
    "search without words", "search without deals", "about", "nothing here", "sign in", "sign up",
]  # fmt: skip
every_type = pytest.mark.parametrize("kind", TYPES)


@every_type
def test_axe_finds_nothing(visit: Visit, paths: dict[str, str], kind: str) -> None:
    page = visit(paths[kind])

    assert violations(page) == []


@every_type
def test_nothing_is_wider_than_a_small_screen_right_to_left(visit: Visit, paths: dict[str, str], kind: str) -> None:
    page = visit(paths[kind], width=320)

    assert page.evaluate("(document.documentElement.dir = 'rtl', document.documentElement.scrollWidth)") <= 320


@pytest.mark.parametrize("kind", ["front page", "latest", "deal", "category", "brand", "search"])
def test_pages_keep_their_budgets(visit: Visit, paths: dict[str, str], kind: str) -> None:
    page = visit("/about")
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Network.clearBrowserCache")
    session.send("Network.setCacheDisabled", {"cacheDisabled": True})
    # By address: the mark may still be under way for the page before, and is asked for once by a browser that keeps it.
    asked: dict[str, str] = {}
    sizes: dict[str, float] = {}
    session.on("Network.requestWillBeSent", lambda event: asked.update({event["requestId"]: event["request"]["url"]}))
    session.on(
        "Network.loadingFinished",
        lambda event: sizes.update({asked.get(event["requestId"], ""): event["encodedDataLength"]}),
    )

    with page.expect_response(lambda response: response.request.is_navigation_request()) as navigated:
        page.goto(paths[kind], wait_until="networkidle")

    headers = navigated.value.headers
    assert headers["content-encoding"] == "gzip"
    assert int(headers["content-length"]) <= 6 * 1024
    # The page, its style, script, face and mark.
    sizes.pop("", None)
    assert len(sizes) <= 5, sizes
    assert sum(sizes.values()) <= 22 * 1024, sizes


def test_printed_pages_have_prices_and_no_pictures(visit: Visit) -> None:
    page = visit("/")
    page.emulate_media(media="print")

    assert not page.locator(".tile").first.is_visible()
    assert not page.locator(".top").is_visible()
    assert page.locator(".tag").first.is_visible()


def test_a_card_is_one_target_and_its_brand_another(visit: Visit, site: Preview) -> None:
    page = visit("/deals")
    card = page.locator(".card").first

    card.locator(".tile").click(force=True)

    assert "/deals/" in page.url
    page.go_back()
    card.locator(".by a").click()
    assert "/brands/" in page.url


def test_the_filter_shows_some_brands(visit: Visit) -> None:
    page = visit("/brands")
    names = page.locator(".names a").all_inner_texts()

    page.get_by_label("Show only").fill(names[0][:4])

    assert 0 < page.locator(".names li:visible").count() < len(names)


def test_a_keyboard_reaches_the_content_at_once(visit: Visit) -> None:
    page = visit("/")

    page.keyboard.press("Tab")
    page.keyboard.press("Enter")

    assert page.evaluate("document.activeElement.id") == "main"


def test_the_layout_does_not_shift(visit: Visit) -> None:
    page = visit("/")
    script = """() => new Promise(done => {
        let sum = 0;
        new PerformanceObserver(list => list.getEntries().forEach(entry => sum += entry.value))
            .observe({type: "layout-shift", buffered: true});
        setTimeout(() => done(sum), 300);
    })"""

    assert page.evaluate(script) <= 0.02


def test_every_link_leads_somewhere(site: Preview) -> None:
    """A crawl as anyone: each page has one h1, a title and a language; what is for members leads to signing in."""
    client = httpx.Client(base_url=site.origin, trust_env=False, timeout=120)

    found = crawl(client, ["/"], most=2)

    assert found.wrong == []
    assert len(found.seen) > 30


def test_html_validate_finds_nothing(site: Preview, paths: dict[str, str], tmp_path: Path) -> None:
    texts = {kind: httpx.get(f"{site.origin}{paths[kind]}", trust_env=False, timeout=120).text for kind in TYPES}

    assert invalid_html(texts, tmp_path)[-6000:] == ""


@pytest.mark.parametrize("kind", ["front page", "deal", "inbox"])
def test_lighthouse_is_content(
    site: Preview, paths: dict[str, str], people: dict[str, str], kind: str, tmp_path: Path
) -> None:
    """What does not depend on how busy this machine is: its measure of speed is told by ``docs/site.md``."""
    path, cookie = (paths[kind], "") if kind in paths else ("/my/inbox", cookie_of(people["ana"]))

    found = lighthouse(f"{site.origin}{path}", tmp_path, cookie=cookie)

    # A page of one's own asks machines not to index it, which Lighthouse calls a fault, and its only one.
    assert found.poor == ([] if kind != "inbox" else ["is-crawlable"]), found
    assert found.scores["seo"] == 1 if kind != "inbox" else found.scores["seo"] < 1, found
    assert (found.scores["accessibility"], found.scores["best-practices"]) == (1, 1), found
    assert found.figures["cumulative-layout-shift"] <= 0.02
    assert found.figures["total-byte-weight"] <= 25 * 1024
    assert found.figures["dom-size"] < 800
    assert [urlsplit(each).path.partition(".")[0] for each in found.blocking] in ([], ["/assets/site"]), found


def test_a_picture_that_cannot_be_reached_leaves_its_tile(visit: Visit, site: Preview) -> None:
    """Its brand's name stands there in large letters, as where a deal has no picture at all."""
    deal = site.deals[39]
    deals.edit(site.table, deal.deal_id, {"image": "https://pictures.example/none.jpg"}, times.now())
    page = visit("/about")
    page.context.route("https://pictures.example/**", lambda route: route.abort())

    page.goto(f"/deals/{deal.number}")

    tile = page.locator(".deal > .tile")
    expect(tile.locator("img")).to_have_attribute("src", re.compile("none.jpg"))
    assert until(lambda: bool(page.evaluate("document.querySelector('.deal > .tile img').complete")))
    in_its_place = "getComputedStyle(document.querySelector('.deal > .tile img'), '::after').content"
    assert deal.brand_name in page.evaluate(in_its_place)
    expect(tile).to_have_attribute("data-t", deal.brand_name)
