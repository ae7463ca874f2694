"""A real browser: one for a process, and a fresh window for each visit.

It is an installed one, else playwright's own, else Debian's where this is root. A folder whose tests ``visit`` has a
fixture ``site`` of its own: a preview, or a deployed site.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Protocol
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page, Playwright, expect, sync_playwright

from shared.dynamodb.table import Table
from shared.html import cookies
from tests.support.commands import PATIENCE, until

NAMES = ("chromium-headless-shell", "google-chrome", "google-chrome-stable", "chrome", "chromium", "chromium-browser")
"""The first takes a third of the processor time: it draws no window, not even one that nobody sees."""

ARGUMENTS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--force-color-profile=srgb"]
"""Tests run as root in containers, where Chromium's sandbox does not start, and no graphics processor is."""


@contextmanager
def browser(driver: Playwright, *more: str) -> Iterator[Browser]:
    """A browser without a window, with ``more`` arguments. Fails in one line where none can be had; it never skips."""
    expect.set_options(timeout=PATIENCE * 1000)
    launched = _launch(driver, more)
    try:
        yield launched
    finally:
        launched.close()


def patient(context: BrowserContext) -> BrowserContext:
    """A context whose pages are waited for as long as anything else is."""
    context.set_default_timeout(PATIENCE * 1000)
    return context


def sign_in(context: BrowserContext, origin: str, token: str) -> None:
    """Give a browser the cookies of the owner of a token."""
    # Plain ones on the laptop's stage. Others are set over HTTPS alone; this machine is sent them over HTTP, too.
    laptop = (urlsplit(origin).hostname or "").endswith(".localhost")
    session, hint = ("btd", "btd-in") if laptop else (cookies.SESSION, cookies.HINT)
    url = origin if laptop else origin.replace("http:", "https:")
    context.add_cookies(
        [
            {"name": session, "value": token, "url": url, "secure": not laptop, "httpOnly": True},
            {"name": hint, "value": "1", "url": url, "secure": not laptop},
        ]
    )


def sent_by_script(page: Page) -> Page:
    """A page whose script sends the buttons of its states: before it is there, a browser sends them as forms."""
    takes_over = "[...document.querySelectorAll('form[data-state]')].every(form => form.onsubmit)"
    assert until(lambda: bool(page.evaluate(takes_over)))
    return page


def executable() -> str | None:
    """The path of an installed Chrome or Chromium, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


def _launch(playwright: Playwright, more: Sequence[str] = ()) -> Browser:
    if executable() is None and not _own(playwright):
        _install()
    try:
        return playwright.chromium.launch(executable_path=executable(), args=[*ARGUMENTS, *more])
    except Error as error:
        pytest.fail(f"No browser starts here: {str(error).splitlines()[0]}", pytrace=False)


def _own(playwright: Playwright) -> bool:
    """Whether playwright has a browser of its own, or can download it."""
    if os.path.exists(playwright.chromium.executable_path):  # noqa: PTH110  # a text, and nothing else is wanted of it
        return True
    done = subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=False, capture_output=True)
    return done.returncode == 0


def _install() -> None:
    """Debian's Chromium without windows, where this is root on Debian."""
    if os.geteuid() == 0 and shutil.which("apt-get"):
        for command in (["update"], ["install", "-y", "--no-install-recommends", NAMES[0]]):
            subprocess.run(["apt-get", *command], check=False, capture_output=True)
    if executable() is None:
        pytest.fail("No Chrome or Chromium is installed, and none could be downloaded or installed.", pytrace=False)


Visit = Callable[..., Page]

MEANT = ("Failed to load resource", "Transition was ")
"""Messages that a browser calls errors although they are none: of a page with a status of 400 or more, which some tests
ask for, and of being too busy to show the transition from one page to the next."""


with_and_without_script = pytest.mark.parametrize(
    "script", [True, pytest.param(False, marks=pytest.mark.thorough)], ids=["script", "no script"]
)
"""Journeys are walked with script in every tier, and without in ``make test-all``."""


class Place(Protocol):
    """A running site: where browsers find it, and its table."""

    @property
    def origin(self) -> str: ...

    @property
    def table(self) -> Table: ...


@pytest.fixture(scope="session")
def driver() -> Iterator[Playwright]:
    """What drives all browsers of a process: playwright cannot be started a second time beside itself."""
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def chromium(driver: Playwright) -> Iterator[Browser]:
    """The browser."""
    with browser(driver) as launched:
        yield launched


@pytest.fixture
def visit(chromium: Browser, site: Place) -> Iterator[Visit]:
    """Opens a path in a fresh browser context. What the browser complains of (a violated policy too) is a failure.

    ``zone`` and ``at`` are where and when the reader is, ``permissions`` what the reader has allowed to the site.
    """
    complaints: list[str] = []
    opened = []

    def visited(
        path: str = "/",
        *,
        width: int = 1280,
        scheme: str = "light",
        script: bool = True,
        token: str = "",
        zone: str | None = None,
        at: datetime | None = None,
        permissions: Sequence[str] = (),
    ) -> Page:
        context = chromium.new_context(
            base_url=site.origin,
            viewport={"width": width, "height": 900},
            color_scheme="dark" if scheme == "dark" else "light",
            java_script_enabled=script,
            timezone_id=zone,
            permissions=permissions,
            service_workers="block",
        )
        opened.append(context)
        if token:
            sign_in(context, site.origin, token)
        page = patient(context).new_page()
        if at is not None:
            page.clock.set_fixed_time(at)
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(path)
        return page

    yield visited
    for context in opened:
        context.close()
    assert [each for each in complaints if not each.startswith(MEANT)] == []


def press(page: Page, name: str) -> None:
    """Send a form, and wait for the page that follows."""
    with page.expect_navigation():
        page.get_by_role("button", name=name, exact=True).click()
