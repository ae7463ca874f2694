"""One site and one browser for all tests here: the page functions on the sample's deals, without pictures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from datetime import timedelta
from typing import get_args
from urllib.parse import urlencode

import httpx
import pytest
from playwright.sync_api import Browser, Page

from functions.pages import collections
from functions.pages.desk.pictures import LOOKS
from shared.data.catalog import deal_log, deals
from shared.data.catalog.changes import DealChange
from shared.data.members import alerts, announcements, digests, email_tokens, follows, saved, sessions, users
from shared.data.orders import addresses, carts, reading
from shared.html import cookies, page_cost
from shared.models.alerts import Limits
from shared.models.catalog import BRAND, CATEGORY, Topic
from shared.values import times
from shared.values.pictures import UPLOADS
from tests.site.states import State, prepared
from tests.support.browser import patient, sign_in
from tests.support.engines import DYNOXIDE_ENGINE
from tests.support.factories import send
from tests.support.preview import Preview, entered, finding, sold, started
from tests.support.shop import HOME_ADDRESS, buy, wanted
from tests.support.windows import MEANT

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


@pytest.fixture(scope="session")
def paths(site: Preview) -> dict[str, str]:
    """A page of each type."""
    deal = site.deals[0]
    return {
        "front page": "/",
        "latest": "/deals",
        "deal": f"/deals/{deal.number}",
        "ending": "/ending",
        "popular": "/popular",
        "choice": "/editors-choice",
        "category": f"/categories/{deal.category}",
        "sorted": f"/categories/{deal.category}?sort=cheapest&to=999",
        "brands": "/brands",
        "brand": f"/brands/{deal.brand}",
        "search": "/search?q=mens",
        "search without words": "/search",
        "search without deals": "/search?q=zeppelin",
        "about": "/about",
        "nothing here": "/nothing/here",
        "sign in": "/account/sign-in",
        "sign up": "/account/sign-up",
        "forgot password": "/account/forgot",
    }


def cookie_of(token: str) -> str:
    """The headers that the browser of somebody who is signed in sends."""
    return f"{cookies.SESSION}={token}; {cookies.HINT}=1"


@pytest.fixture(scope="session")
def people(site: Preview) -> dict[str, str]:
    """Tokens: of ``ana``, whose pages all hold something, of ``nick``, who has nothing yet, and of ``eddy``, an editor.

    Ana has messages, watches, saved deals, an address, a cart, and an order that is still to be sent.
    """
    table, now = site.table, times.now()
    tokens = {"ana": entered(site, "ana"), "nick": entered(site, "nick"), "eddy": entered(site, "eddy", "editor")}
    first, second = site.deals[40:42]
    for deal in site.deals[:4]:
        send(table, announcements.compose(announcements.of_deal(deal, "brand"), "ana"))
        saved.save(table, deal, "ana", now)
    follows.watch(table, Topic(BRAND, first.brand), "ana", now)
    follows.watch(table, Topic(CATEGORY, first.category), "ana", now)
    sold(site, first, 40, shards=4)
    sold(site, second, 3)
    addresses.save(table, "ana", "home", HOME_ADDRESS)
    account_id = users.get(table, "ana").account_id
    alerts.on_price(table, first, "ana", account_id, Limits("9.90", first.currency), now)
    alerts.on_words(table, "ana", account_id, Limits(words="mens running"), now)
    digests.choose_hour(table, users.get(table, "ana"), 7, bytes(digests.KEY_BYTES))
    buy(table, "ana", wanted(first, 2), wanted(second), now=now)
    carts.put_in(table, "ana", first.deal_id, 3, now)
    carts.put_in(table, "ana", second.deal_id, 1, now)
    deals.edit(table, second.deal_id, {"price": "1.00"}, now)
    changed = deals.edit(
        table, first.deal_id, {"coupon_code": "SAVE10", "ends_at": now + timedelta(days=9)}, now, by="eddy"
    )
    deal_log.note(table, DealChange(first, changed, now), "1")
    return tokens


@pytest.fixture(scope="session")
def own_paths(site: Preview, people: dict[str, str]) -> dict[str, str]:
    """A page of each type that is somebody's own: the editor's below /desk, the others Ana's."""
    table = site.table
    (order,) = reading.latest(table, "ana", limit=1).items
    first = site.deals[40]
    ana, now = users.get(table, "ana"), times.now()
    on_price, on_words = alerts.of(table, "ana")
    entropy = bytes(sessions.TOKEN_BYTES)
    reset, verify = (email_tokens.issue(table, ana, each, now, entropy) for each in get_args(email_tokens.Purpose))
    return {
        "inbox": "/my/inbox",
        "watches": "/my/watches",
        "limits": f"/my/watches/brand/{first.brand}/limits",
        "alert on a price": f"/my/alerts/{on_price.alert_id}",
        "alert on words": f"/my/alerts/{on_words.alert_id}",
        "saved": "/my/saved",
        "account": "/account",
        "leaving": "/account/remove",
        "new password": f"/account/reset?{urlencode({'token': reset})}",
        "verifying": f"/account/verify?{urlencode({'token': verify})}",
        "no mail": f"/account/unsubscribe?{urlencode({'token': digests.unsubscribing(ana)})}",
        "ending a deal": f"/desk/deals/{first.number}/end",
        "withdrawing a deal": f"/desk/deals/{first.number}/withdraw",
        "cart": "/shop/cart",
        "addresses": "/shop/addresses?name=home",
        "checkout": "/shop/checkout",
        "orders": "/shop/orders",
        "order": f"/shop/orders/{order.order_id}",
        "cancelling": f"/shop/orders/{order.order_id}/cancel",
        "desk": "/desk",
        "posting": "/desk/deals/new",
        "posting again": f"/desk/deals/new?{urlencode({'link': first.link})}",
        "all deals": "/desk/deals",
        "a deal's form": f"/desk/deals/{first.number}",
        "changes of a deal": f"/desk/deals/{first.number}/log",
        # As late as it can be: until then the page looks again each second.
        "a picture being made": f"/desk/deals/{first.number}/picture?key={UPLOADS}{first.deal_id}&looked={LOOKS}",
        "making hot": f"/desk/deals/{first.number}/hot",
        "front page order": "/desk/front-page",
        "choice order": "/desk/editors-choice",
        "category order": f"/desk/categories/{first.category}",
        "desk brands": "/desk/brands",
        "orders to send": "/desk/shop/orders",
        "an order to send": f"/desk/shop/orders/{order.order_id}",
        "stock": f"/desk/shop/stock/{first.number}",
    }


@pytest.fixture(scope="session")
def states(site: Preview, people: dict[str, str]) -> Iterator[dict[str, State]]:
    """Pages in the rarer states, by the names in ``states.NAMES``."""
    with DYNOXIDE_ENGINE.table() as bare:
        yield prepared(site, bare)


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The stage shows its work. The functions look for the setting with each request."""
    page_cost.trace.cache_clear()
    collections.browser._counts.cache_clear()
    monkeypatch.setenv("SHOWS_WORK", "true")
    yield
    page_cost.trace.cache_clear()


def client_of(site: Preview, token: str = "") -> httpx.Client:
    """Asks the site without a browser: as somebody, or as nobody."""
    headers = {"Cookie": cookie_of(token)} if token else {}
    return httpx.Client(base_url=site.origin, trust_env=False, timeout=120, headers=headers)


class Windows:
    """A window for each person, opened once: for tests that look at many pages and leave no trace in the browser."""

    def __init__(self, browser: Browser, site: Preview, people: dict[str, str]) -> None:
        self._browser, self._site, self._people = browser, site, people
        self._pages: dict[str, Page] = {}
        self.complaints: list[str] = []

    def show(self, state: State) -> Page:
        """A page in a state, in the window of who sees it. Fails where the answer has another status."""
        page = self._pages.get(state.who) or self._open(state.who)
        with nullcontext() if state.table is None else finding(state.table):
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
