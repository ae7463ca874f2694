"""The built demo in Chromium, from static files below a path: three journeys, and what can go wrong."""

from __future__ import annotations

import functools
import http.server
import re
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Frame, Page, expect

from demo import packing
from infra.artifacts.bundling import digest_of
from local.settings import ROOT
from shared.learn import lessons
from tests.support.browser import browser as a_browser
from tests.support.browser import patient
from tests.support.waiting import until

pytestmark = [pytest.mark.thorough, pytest.mark.xdist_group("demo")]

AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
POST = """async ([path, fields]) => {
  const answer = await fetch(path, {method: "POST", body: new URLSearchParams(fields)});
  return [answer.status, await answer.text()];
}"""


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Log nothing."""


@dataclass
class Host:
    """A host of static files, with the demo below ``/name/``, which can be switched off."""

    server: http.server.ThreadingHTTPServer

    @property
    def demo(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/name/demo/"

    def end(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the demo, built where that of this code is not there."""
    known = digest_of(*packing.CODE)
    if not any(known in module.read_text() for module in packing.BUILT.glob("*/build.mjs")):
        subprocess.run(["make", "demo"], cwd=ROOT, check=True)
    folder = tmp_path_factory.mktemp("host")
    (folder / "name").mkdir()
    (folder / "name" / "demo").symlink_to(packing.BUILT)
    return folder


@pytest.fixture
def host(folder: Path) -> Iterator[Host]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield Host(server)
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with a_browser() as launched:
        yield launched


@pytest.fixture
def context(chromium: Browser) -> Iterator[BrowserContext]:
    context = patient(chromium.new_context())
    yield context
    context.close()


def opened(context: BrowserContext, host: Host, path: str = "") -> Page:
    """A tab in which the site is there."""
    page = context.new_page()
    page.goto(f"{host.demo}{path and '#' + path}")
    expect(page.locator("#site")).to_be_visible()
    return page


def site_of(page: Page) -> Frame:
    """The frame with the site."""
    return next(each for each in page.frames if "/demo/site" in each.url)


def where(page: Page) -> str:
    """The address of the site's page, as the browser has it now."""
    return str(page.evaluate("document.getElementById('site').contentWindow.location.href"))


def at(page: Page, path: str) -> Frame:
    """The site at a path, as if that were typed into the address."""
    page.evaluate("path => { location.hash = path; }", path)
    assert until(lambda: f"/demo/site{path}" in where(page))
    site_of(page).wait_for_load_state()
    return site_of(page)


def signed_in(page: Page, who: str, leads_to: str) -> None:
    page.get_by_role("button", name=who).click()
    assert until(lambda: leads_to in where(page))


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
    assert until(lambda: "said=posted" in where(page))
    expect(site_of(page).locator("#form-took")).to_contain_text("messenger")

    signed_in(page, "a reader", "/my/inbox")
    assert until(lambda: "Tab runner" in at(page, "/my/inbox").locator("main").inner_text())
    host.end()
    page.reload()

    expect(page.locator("#site")).to_be_visible()
    assert until(lambda: "Tab runner" in at(page, "/search?q=tab+runner").locator("main").inner_text())
    assert {re.sub(r"^(blob:)?http://127\.0\.0\.1:\d+/.*|about:blank", "", url) for url in asked} == {""}


def test_a_reader_likes_votes_and_orders(context: BrowserContext, host: Host) -> None:
    page = opened(context, host)
    signed_in(page, "a reader", "/my/inbox")

    for path, fields in (
        ("/my/likes/brand/runhaus", {"on": "1", "next": "/brands"}),
        ("/my/saved/150", {"on": "1", "next": "/deals/150"}),
        ("/my/votes/150/up", {"on": "1", "next": "/deals/150"}),
    ):
        status, _ = site_of(page).evaluate(POST, [f"/name/demo/site{path}", fields])
        assert status in (200, 404), path
    assert at(page, "/my/saved").locator("main a[href*='/deals/150']").count() > 0


def test_each_lesson_runs_and_says_how_it_came_out(context: BrowserContext, host: Host) -> None:
    page = opened(context, host, "/learn")
    frame = site_of(page)

    for lesson in lessons.by_slug().values():
        if lesson.can_run:
            path = f"/name/demo/site/learn/{lesson.slug}"
            value = {"value": lesson.value.default} if lesson.value else {}
            status, text = frame.evaluate(POST, [path, value])
            assert status == 200, lesson.slug
            assert "Something went wrong" not in text, lesson.slug


def test_two_tabs_share_one_site_and_the_second_takes_over(context: BrowserContext, host: Host) -> None:
    first = opened(context, host)
    signed_in(first, "a reader", "/my/inbox")
    second = opened(context, host, "/deals/150")
    status, _ = site_of(second).evaluate(POST, ["/name/demo/site/my/saved/150", {"on": "1", "next": "/deals/150"}])
    assert status == 200

    first.close()

    assert at(second, "/my/saved").locator("main a[href*='/deals/150']").count() > 0


def test_a_copied_address_opens_the_demo_at_that_page(context: BrowserContext, host: Host) -> None:
    opened(context, host)

    copied = context.new_page()
    copied.goto(f"{host.demo}site/deals/150")

    expect(copied.locator("#site")).to_be_visible()
    assert until(lambda: str(copied.evaluate("location.href")).endswith("/name/demo/#/deals/150"))


def test_back_and_titles_work_and_the_focus_is_in_the_site(context: BrowserContext, host: Host) -> None:
    page = opened(context, host)
    assert page.evaluate("document.activeElement.id") == "site"
    at(page, "/brands")
    assert until(lambda: "rands" in page.title())

    page.go_back()

    assert until(lambda: str(page.evaluate("location.href")).endswith("#/"))


def test_starting_over_removes_what_was_done(context: BrowserContext, host: Host) -> None:
    page = opened(context, host)
    signed_in(page, "a reader", "/my/inbox")
    page.on("dialog", lambda dialog: dialog.accept())

    page.get_by_role("button", name="Start over").click()

    page.wait_for_event("load")
    expect(page.locator("#site")).to_be_visible()
    page.evaluate("location.hash = '/my/inbox'")
    assert until(lambda: "/account/sign-in" in where(page))


@pytest.mark.parametrize(
    ("missing", "sentence"),
    [
        ("delete self.WebAssembly", "no WebAssembly"),
        ("delete Navigator.prototype.serviceWorker", "no service worker"),
        ("ServiceWorkerContainer.prototype.register = async () => { throw Error('full'); }", "could not start"),
    ],
)
def test_what_is_missing_is_said_in_a_sentence(
    context: BrowserContext, host: Host, missing: str, sentence: str
) -> None:
    context.add_init_script(missing)
    page = context.new_page()
    page.goto(host.demo)

    expect(page.locator("#step")).to_contain_text(sentence)
    expect(page.locator("#bar")).to_be_hidden()


def test_axe_finds_nothing_on_the_shell(context: BrowserContext, host: Host) -> None:
    page = opened(context, host)
    page.evaluate(AXE.read_text(encoding="utf-8"))

    # The page in the frame has its own heading and main part.
    rules = "{'landmark-one-main': {enabled: false}, 'page-has-heading-one': {enabled: false}}"
    own = f"{{exclude: ['#site']}}, {{rules: {rules}}}"
    found = page.evaluate(f"axe.run({own}).then(({{violations}}) => violations.map(({{id}}) => id))")

    assert found == []
