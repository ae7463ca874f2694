"""One site and one browser for all tests here: the page functions on the sample's deals, without pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, Page, expect

from shared.data.catalog import deals
from shared.data.members import follows, messages, saved, sessions, users
from shared.data.orders import addresses, carts, orders, stock
from shared.html import cookies
from shared.models.catalog import BRAND, CATEGORY, Topic
from shared.values import times
from tests.support.browser import browser
from tests.support.making import send
from tests.support.preview import Preview, running
from tests.support.shop import HOME_ADDRESS, buy, wanted

Visit = Callable[..., Page]

PATIENCE = 120_000
"""Milliseconds that the browser may take for a thing: a busy machine's, not a reader's."""


@pytest.fixture(scope="session")
def site() -> Iterator[Preview]:
    """The running site. A test that writes to it writes what no other test looks at."""
    with running() as preview:
        yield preview


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The browser."""
    expect.set_options(timeout=PATIENCE)
    with browser() as launched:
        yield launched


@pytest.fixture
def visit(chromium: Browser, site: Preview) -> Iterator[Visit]:
    """Opens a path in a fresh browser context. What the browser complains of (a violated policy too) is a failure."""
    complaints: list[str] = []
    opened = []

    def visited(
        path: str = "/", *, width: int = 1280, scheme: str = "light", script: bool = True, token: str = ""
    ) -> Page:
        context = chromium.new_context(
            base_url=site.origin,
            viewport={"width": width, "height": 900},
            color_scheme="dark" if scheme == "dark" else "light",
            java_script_enabled=script,
            service_workers="block",
        )
        opened.append(context)
        if token:
            # A cookie of this name is set over HTTPS alone; this very machine is sent it over HTTP, too.
            secure = site.origin.replace("http:", "https:")
            context.add_cookies(
                [
                    {"name": cookies.SESSION, "value": token, "url": secure, "secure": True, "httpOnly": True},
                    {"name": cookies.HINT, "value": "1", "url": secure, "secure": True},
                ]
            )
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(path)
        return page

    yield visited
    for context in opened:
        context.close()
    # The browser calls an error: a page that says 404 or 410, which some tests ask for, and that it was too busy to
    # show the transition from one page to the next.
    meant = ("Failed to load resource", "Transition was ")
    assert [each for each in complaints if not each.startswith(meant)] == []


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


def entered(site: Preview, username: str, role: Role = "member") -> str:
    """The token of somebody new who is signed in."""
    user = User(username, f"{username}@mail.example", username.title(), "no-hash", role, times.now())
    users.create(site.table, user)
    token, _ = sessions.start(site.table, user, times.now(), username.encode().ljust(32, b"-")[:32])
    return token


def cookie_of(token: str) -> str:
    """What the browser of somebody who is signed in sends."""
    return f"{cookies.SESSION}={token}; {cookies.HINT}=1"


def sold(site: Preview, deal: Deal, pieces: int, shards: int = 1) -> None:
    """Have pieces of a deal on sale, and its page say so."""
    stock.add(site.table, deal.deal_id, pieces, times.now(), shards=shards)
    stock.show_level(site.table, deal.deal_id)


@pytest.fixture(scope="session")
def people(site: Preview) -> dict[str, str]:
    """Tokens: of ``ana``, whose pages all hold something, of ``nick``, who has nothing yet, and of ``eddy``, an editor.

    Ana has messages, watches, saved deals, an address, a cart, and an order that is still to be sent.
    """
    table, now = site.table, times.now()
    tokens = {"ana": entered(site, "ana"), "nick": entered(site, "nick"), "eddy": entered(site, "eddy", "editor")}
    first, second = site.deals[40:42]
    for deal in site.deals[:4]:
        send(table, messages.compose(messages.of_deal(deal, "brand"), "ana", now))
        saved.save(table, deal, "ana", now)
    follows.watch(table, Topic(BRAND, first.brand), "ana", now)
    follows.watch(table, Topic(CATEGORY, first.category), "ana", now)
    sold(site, first, 40, shards=4)
    sold(site, second, 3)
    addresses.save(table, "ana", "home", HOME_ADDRESS)
    buy(table, "ana", wanted(first, 2), wanted(second), now=now)
    carts.put_in(table, "ana", first.deal_id, 3, now)
    carts.put_in(table, "ana", second.deal_id, 1, now)
    deals.edit(table, second.deal_id, {"price": "1.00"}, now)
    return tokens


@pytest.fixture(scope="session")
def own_paths(site: Preview, people: dict[str, str]) -> dict[str, str]:
    """A page of each type that is somebody's own: the editor's below /desk, the others Ana's."""
    table = site.table
    (order,) = orders.latest(table, "ana", limit=1).items
    first = site.deals[40]
    return {
        "inbox": "/my/inbox",
        "watches": "/my/watches",
        "saved": "/my/saved",
        "account": "/account",
        "leaving": "/account/remove",
        "cart": "/shop/cart",
        "addresses": "/shop/addresses?name=home",
        "checkout": "/shop/checkout",
        "orders": "/shop/orders",
        "order": f"/shop/orders/{order.order_id}",
        "cancelling": f"/shop/orders/{order.order_id}/cancel",
        "desk": "/desk",
        "posting": "/desk/deals/new",
        "posting again": f"/desk/deals/new?{urlencode({'link': first.link})}",
        "a deal's form": f"/desk/deals/{first.number}",
        "making hot": f"/desk/deals/{first.number}/hot",
        "front page order": "/desk/front-page",
        "desk brands": "/desk/brands",
        "orders to send": "/desk/shop/orders",
        "an order to send": f"/desk/shop/orders/{order.order_id}",
        "stock": f"/desk/shop/stock/{first.number}",
    }
