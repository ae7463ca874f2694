"""One site and one browser for all tests here: the page functions on the sample's deals, without pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.support.browser import browser
from tests.support.preview import Preview, running

Visit = Callable[..., Page]


@pytest.fixture(scope="session")
def site() -> Iterator[Preview]:
    """The running site. Whoever writes to it writes what no other test looks at."""
    with running() as preview:
        yield preview


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The browser."""
    with browser() as launched:
        yield launched


@pytest.fixture
def visit(chromium: Browser, site: Preview) -> Iterator[Visit]:
    """Opens a path in a fresh browser context. What the browser complains of (a violated policy too) is a failure."""
    complaints: list[str] = []
    opened = []

    def visited(path: str = "/", *, width: int = 1280, scheme: str = "light", script: bool = True) -> Page:
        context = chromium.new_context(
            base_url=site.origin,
            viewport={"width": width, "height": 900},
            color_scheme="dark" if scheme == "dark" else "light",
            java_script_enabled=script,
            service_workers="block",
        )
        opened.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(path)
        return page

    yield visited
    for context in opened:
        context.close()
    # A page that says 404 or 410 is what some tests ask for; the browser calls that an error.
    assert [each for each in complaints if "Failed to load resource" not in each] == []


@pytest.fixture(scope="session")
def paths(site: Preview) -> dict[str, str]:
    """A page of each type."""
    deal = site.deals[0]
    return {
        "front page": "/",
        "latest": "/deals",
        "deal": f"/deals/{deal.number}",
        "ending": "/ending",
        "choice": "/editors-choice",
        "category": f"/categories/{deal.category}",
        "brands": "/brands",
        "brand": f"/brands/{deal.brand}",
        "search": "/search?q=mens",
        "search without words": "/search",
        "search without deals": "/search?q=zeppelin",
        "about": "/about",
        "nothing here": "/nothing/here",
        "sign in": "/account/sign-in",
        "sign up": "/account/sign-up",
    }
