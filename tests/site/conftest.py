"""One site and one browser for all tests here: the page functions on the sample's deals, without pictures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from datetime import timedelta

import httpx
import pytest
from playwright.sync_api import Browser, Page

from shared.data.catalog import changes, deals
from shared.data.catalog.changes import DealChange
from shared.data.members import alerts, follows, messages, users
from shared.html import cookies
from shared.models.catalog import BRAND, CATEGORY, Topic
from shared.models.members import Limits
from shared.values import times
from tests.site.states import rare, usual
from tests.support.browser import MEANT, patient, sign_in
from tests.support.cases import cases
from tests.support.engines import DYNOXIDE_ENGINE
from tests.support.factories import send
from tests.support.preview import Preview, entered, finding, started
from tests.support.states import State

SEND = """([path, fields]) => {
    const form = document.createElement("form");
    Object.assign(form, {method: "post", action: path});
    for (const [name, value] of Object.entries(fields))
        form.append(Object.assign(document.createElement("input"), {type: "hidden", name, value}));
    document.body.append(form);
    form.submit();
}"""
"""Sends a form from a page of the site, as if it were on that page."""


@pytest.fixture(scope="session")
def site() -> Iterator[Preview]:
    """The running site. A test that writes to it writes what no other test looks at."""
    with started() as preview:
        yield preview


def cookie_of(token: str) -> str:
    """The headers that the browser of someone who is signed in sends."""
    return f"{cookies.SESSION}={token}; {cookies.HINT}=1"


@pytest.fixture(scope="session")
def people(site: Preview) -> dict[str, str]:
    """Tokens: of ``ana``, whose pages all hold something, of ``nick``, who has nothing yet, and of ``eddy``, an editor.

    Ana has messages, watches and what features have of her.
    """
    table, now = site.table, times.now()
    tokens = {"ana": entered(site, "ana"), "nick": entered(site, "nick"), "eddy": entered(site, "eddy", "editor")}
    first, second = site.deals[40:42]
    for deal in site.deals[:4]:
        send(table, messages.compose(messages.of_deal(deal, "brand"), "ana"))
        for give in cases("OWNS"):
            give(table, deal, "ana", now)
    follows.watch(table, Topic(BRAND, first.brand), "ana", now)
    follows.watch(table, Topic(CATEGORY, first.category), "ana", now)
    for fill in cases("FILLS_ANAS"):
        fill(table, first, second)
    account_id = users.get(table, "ana").account_id
    alerts.on_price(table, first, "ana", account_id, Limits("9.90", first.currency), now)
    alerts.on_words(table, "ana", account_id, Limits(words="mens running"), now)
    deals.edit(table, second.deal_id, {"price": "1.00"}, now)
    changed = deals.edit(
        table, first.deal_id, {"coupon_code": "SAVE10", "ends_at": now + timedelta(days=9)}, now, by="eddy"
    )
    changes.note(table, DealChange(first, changed, now), "1")
    return tokens


@pytest.fixture(scope="session")
def pages(site: Preview, people: dict[str, str]) -> dict[str, State]:
    """A page of each kind by its name."""
    return usual(site)


@pytest.fixture(scope="session")
def every_page(site: Preview, pages: dict[str, State]) -> Iterator[dict[str, State]]:
    """The pages of each kind, and those in rarer states."""
    beside = replace(DYNOXIDE_ENGINE, reach=lambda: site.table)  # functions look for it where the site's table is
    with beside.table() as bare:
        yield pages | rare(site, bare)


def client_of(site: Preview, token: str = "") -> httpx.Client:
    """Asks the site without a browser: as someone, or as nobody."""
    headers = {"Cookie": cookie_of(token)} if token else {}
    return httpx.Client(base_url=site.origin, trust_env=False, timeout=120, headers=headers)


def found(site: Preview, state: State) -> AbstractContextManager[None]:
    """For a while, the functions find the table of a state, where it has one of its own."""
    return finding(replace(site.table, name=state.table)) if state.table else nullcontext()


class Windows:
    """A window for each person, opened once: for tests that look at many pages and leave no trace in the browser."""

    def __init__(self, browser: Browser, site: Preview, people: dict[str, str]) -> None:
        self._browser, self._site, self._people = browser, site, people
        self._pages: dict[str, Page] = {}
        self.complaints: list[str] = []

    def show(self, state: State) -> Page:
        """A page in a state, in the window of who sees it. Fails where the answer has another status."""
        page = self._pages.get(state.who) or self._open(state.who)
        with found(self._site, state):
            if state.form is None:
                answer = page.goto(state.path)
            else:
                page.goto("/about")
                with page.expect_navigation() as sent:
                    page.evaluate(SEND, [state.path, dict(state.form)])
                answer = sent.value
        assert answer is not None
        assert answer.status == state.status, page.inner_text("main")
        return page

    def _open(self, who: str) -> Page:
        context = self._browser.new_context(base_url=self._site.origin, service_workers="block")
        if who:
            sign_in(context, self._site.origin, self._people[who])
        page = patient(context).new_page()
        page.on("console", lambda message: self.complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self._pages[who] = page
        return page

    def close(self) -> None:
        for page in self._pages.values():
            page.context.close()


@pytest.fixture(scope="module")
def _windows(chromium: Browser, site: Preview, people: dict[str, str]) -> Iterator[Windows]:
    windows = Windows(chromium, site, people)
    yield windows
    windows.close()


@pytest.fixture
def windows(_windows: Windows) -> Iterator[Windows]:
    """The windows of a module's tests. What the browser complains of during a test is a failure of it."""
    _windows.complaints.clear()
    yield _windows
    assert [each for each in _windows.complaints if not each.startswith(MEANT)] == []
