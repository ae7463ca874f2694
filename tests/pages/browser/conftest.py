"""A small site in a browser, for what script does on public pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime

import pytest
from playwright.sync_api import Browser, Page

from tests.support.browser import patient, sign_in
from tests.support.preview import Preview, running
from tests.support.windows import MEANT

Opens = Callable[..., Page]


@pytest.fixture(scope="session")
def site() -> Iterator[Preview]:
    """The running site. Each test writes only to deals and members that no other one looks at."""
    with running(most=60) as preview:
        yield preview


@pytest.fixture
def opens(chromium: Browser, site: Preview) -> Iterator[Opens]:
    """Opens a path as a reader elsewhere does: in a zone, at a time, signed in or not. An error of a script fails."""
    errors: list[str] = []
    opened = []

    def opens_page(
        path: str, *, zone: str = "UTC", at: datetime | None = None, token: str = "", permissions: tuple[str, ...] = ()
    ) -> Page:
        context = chromium.new_context(
            base_url=site.origin, timezone_id=zone, permissions=permissions, service_workers="block"
        )
        opened.append(context)
        if token:
            sign_in(context, site.origin, token)
        page = patient(context).new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        if at is not None:
            page.clock.set_fixed_time(at)
        page.goto(path)
        return page

    yield opens_page
    for context in opened:
        context.close()
    assert [each for each in errors if not each.startswith(MEANT)] == []
