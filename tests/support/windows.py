"""Fixtures of tests that look at a site in a real browser: one browser for a process, a fresh window for each visit.

A folder whose tests use them has a fixture ``site`` of its own: a preview, or a deployed site.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Protocol

import pytest
from playwright.sync_api import Browser, Page

from shared.dynamodb.table import Table
from tests.support.browser import browser, patient, sign_in

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
def chromium() -> Iterator[Browser]:
    """The browser."""
    with browser() as launched:
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
