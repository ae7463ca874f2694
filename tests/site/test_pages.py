"""The pages in a real browser: accessible, within their budgets, whole on every screen, with and without script."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import html5lib
import httpx
import pytest

from local.settings import ROOT
from tests.site.conftest import Visit
from tests.support.browser import executable
from tests.support.preview import Preview

AXE = (ROOT / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")

TYPES = [
    "front page", "latest", "deal", "ending", "choice", "category", "brands", "brand", "search",
    "search without words", "search without deals", "about", "nothing here", "sign in", "sign up",
]  # fmt: skip
every_type = pytest.mark.parametrize("kind", TYPES)


@every_type
def test_axe_finds_nothing(visit: Visit, paths: dict[str, str], kind: str) -> None:
    page = visit(paths[kind])
    found = []

    for scheme in ("light", "dark"):
        for width in (320, 1280):
            page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
            page.set_viewport_size({"width": width, "height": 900})
            # Deals below the window are laid out only when they are scrolled to; axe is to see them all.
            page.evaluate(
                "document.querySelectorAll('.card').forEach(card => card.style.contentVisibility = 'visible')"
            )
            page.evaluate(AXE)
            result: dict[str, Any] = page.evaluate("axe.run()")
            found += [
                (scheme, width, each["id"], node["html"], node.get("failureSummary"))
                for each in result["violations"]
                for node in each["nodes"][:2]
            ]

    assert found == []


@every_type
def test_nothing_is_wider_than_a_small_screen(visit: Visit, paths: dict[str, str], kind: str) -> None:
    page = visit(paths[kind], width=320)
    width = "document.documentElement.scrollWidth"

    assert page.evaluate(width) <= 320
    assert page.evaluate(f"(document.documentElement.dir = 'rtl', {width})") <= 320


@pytest.mark.parametrize("kind", ["front page", "latest", "deal", "category", "brand", "search"])
def test_pages_keep_their_budgets(visit: Visit, paths: dict[str, str], kind: str) -> None:
    page = visit("/about")
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Network.clearBrowserCache")
    session.send("Network.setCacheDisabled", {"cacheDisabled": True})
    sizes: list[float] = []
    session.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))

    with page.expect_response(lambda response: response.request.is_navigation_request()) as navigated:
        page.goto(paths[kind], wait_until="networkidle")

    headers = navigated.value.headers
    assert headers["content-encoding"] == "gzip"
    assert int(headers["content-length"]) <= 6 * 1024
    # The page, its style, script, face and mark.
    assert len(sizes) <= 5
    assert sum(sizes) <= 24 * 1024


def test_printed_pages_have_prices_and_no_pictures(visit: Visit) -> None:
    page = visit("/")
    page.emulate_media(media="print")

    assert not page.locator(".tile").first.is_visible()
    assert not page.locator(".top").is_visible()
    assert page.locator(".tag").first.is_visible()


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_a_reader_reads_searches_and_comes_to_the_end(visit: Visit, site: Preview, script: bool) -> None:
    page = visit("/", script=script)
    page.locator(".card h3 a").first.click()
    assert page.locator("h1").inner_text()
    page.go_back()

    page.get_by_role("link", name="Latest").click()
    while page.locator("a[rel=next]").count():
        page.locator("a[rel=next]").click()
    assert "That was all" in page.locator("main").inner_text()

    page.get_by_role("searchbox").fill("zeppelin")
    page.get_by_role("button", name="Search").click()
    assert "Nothing for" in page.locator("h1").inner_text()


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
    client = httpx.Client(base_url=site.origin, trust_env=False, timeout=30)
    seen, waiting, wrong = {"/"}, ["/"], []
    counts: dict[str, int] = {}

    while waiting:
        path = waiting.pop()
        answer = client.get(path, headers={"User-Agent": "a test's bot"})
        if answer.status_code in (301, 302, 303):
            continue
        if answer.status_code != 200:
            wrong.append((path, answer.status_code))
            continue
        if not answer.headers["Content-Type"].startswith("text/html"):
            continue
        document = html5lib.parse(answer.text, namespaceHTMLElements=False)
        if len(document.findall(".//h1")) != 1 or not document.findtext(".//title") or not document.get("lang"):
            wrong.append((path, 0))
        for link in document.findall(".//a") + document.findall(".//link"):
            target = urlsplit(urljoin(f"{site.origin}{path}", link.get("href", "")))
            address = target.path + (f"?{target.query}" if target.query else "")
            # Some of each kind, and not every deal of the sample.
            kind = target.path.split("/")[1]
            if f"{target.scheme}://{target.netloc}" != site.origin or address in seen or counts.get(kind, 0) >= 12:
                continue
            counts[kind] = counts.get(kind, 0) + 1
            seen.add(address)
            waiting.append(address)

    assert wrong == []
    assert len(seen) > 30


def test_html_validate_finds_nothing(site: Preview, paths: dict[str, str], tmp_path: Path) -> None:
    for kind in TYPES:
        answer = httpx.get(f"{site.origin}{paths[kind]}", trust_env=False, timeout=30)
        (tmp_path / f"{kind.replace(' ', '-')}.html").write_text(answer.text, encoding="utf-8")
    config = tmp_path / ".htmlvalidate.json"
    rules = {
        "long-title": "off",  # a deal's title is as long as its shop has it
        "no-trailing-whitespace": "off",
        "no-implicit-button-type": "off",  # a form's button sends it, unless it says otherwise
        "tel-non-breaking": "off",
        "no-raw-characters": "off",
    }
    config.write_text(json.dumps({"root": True, "extends": ["html-validate:recommended"], "rules": rules}))

    done = subprocess.run(
        [ROOT / "node_modules" / ".bin" / "html-validate", "--config", config, *sorted(tmp_path.glob("*.html"))],
        check=False,
        capture_output=True,
        text=True,
    )

    assert done.returncode == 0, done.stdout[-6000:]


@pytest.mark.parametrize("kind", ["front page", "deal"])
def test_lighthouse_is_content(site: Preview, paths: dict[str, str], kind: str, tmp_path: Path) -> None:
    """What does not depend on how busy this machine is: its measure of speed is told by ``docs/site.md``."""
    report = tmp_path / "report.json"
    done = subprocess.run(
        [
            *(ROOT / "node_modules" / ".bin" / "lighthouse", f"{site.origin}{paths[kind]}", "--quiet"),
            *("--output", "json", "--output-path", report),
            "--chrome-flags=--headless=new --no-sandbox --disable-dev-shm-usage",
        ],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "CHROME_PATH": executable() or "", "NO_PROXY": "127.0.0.1"},
    )
    assert report.exists(), done.stderr[-2000:]
    found = json.loads(report.read_text())

    scores = {name: each["score"] for name, each in found["categories"].items()}
    poor = [name for name, audit in found["audits"].items() if audit.get("score") == 0]
    (tmp_path / "scores").write_text(str(scores))
    assert (scores["accessibility"], scores["best-practices"], scores["seo"]) == (1, 1, 1), (scores, poor)
