"""A browser for tests and pictures: an installed one, else playwright's own, else Debian's where this is root."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page, Playwright, expect, sync_playwright

from shared.html import cookies
from tests.support.waiting import PATIENCE, until

NAMES = ("chromium-headless-shell", "google-chrome", "google-chrome-stable", "chrome", "chromium", "chromium-browser")
"""The first takes a third of the processor time: it draws no window, not even one that nobody sees."""

ARGUMENTS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--force-color-profile=srgb"]
"""Tests run as root in containers, where Chromium's sandbox does not start, and no graphics processor is."""


@contextmanager
def browser() -> Iterator[Browser]:
    """A browser without a window. Fails in one line where none can be had; it never skips."""
    expect.set_options(timeout=PATIENCE * 1000)
    with sync_playwright() as playwright:
        launched = _launch(playwright)
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
    session, url = ("btd", origin) if laptop else (cookies.SESSION, origin.replace("http:", "https:"))
    context.add_cookies(
        [
            {"name": session, "value": token, "url": url, "secure": not laptop, "httpOnly": True},
            {"name": cookies.HINT, "value": "1", "url": url, "secure": not laptop},
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


def _launch(playwright: Playwright) -> Browser:
    if executable() is None and not _own(playwright):
        _install()
    try:
        return playwright.chromium.launch(executable_path=executable(), args=ARGUMENTS)
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
