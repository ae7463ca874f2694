"""One site and one browser for all tests here: the page functions on the sample's deals, without pictures."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlencode

import pytest

from shared.data.catalog import deals
from shared.data.members import follows, messages, saved
from shared.data.orders import addresses, carts, orders
from shared.html import cookies
from shared.models.catalog import BRAND, CATEGORY, Topic
from shared.values import times
from tests.support.making import send
from tests.support.preview import Preview, entered, running, sold
from tests.support.shop import HOME_ADDRESS, buy, wanted


@pytest.fixture(scope="session")
def site() -> Iterator[Preview]:
    """The running site. A test that writes to it writes what no other test looks at."""
    with running() as preview:
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


def cookie_of(token: str) -> str:
    """What the browser of somebody who is signed in sends."""
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
        "making hot": f"/desk/deals/{first.number}/hot",
        "front page order": "/desk/front-page",
        "desk brands": "/desk/brands",
        "orders to send": "/desk/shop/orders",
        "an order to send": f"/desk/shop/orders/{order.order_id}",
        "stock": f"/desk/shop/stock/{first.number}",
    }
