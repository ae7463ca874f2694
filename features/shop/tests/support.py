"""A shop for tests: deals on sale, buyers with an address, orders with what a test does not care about filled in."""

from __future__ import annotations

import itertools
import random
import secrets
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

from features.shop.data import addresses, carts, keys, order_items, placing, sold_here, steps, stock
from features.shop.data.order_items import Notify, no_message
from features.shop.models import NO_CHARGES, Address, Charges, Order, OrderStatus, Wanted
from shared.data.catalog import feeds
from shared.data.idempotency import Idempotency
from shared.data.members import rate_limits, users
from shared.dynamodb.table import Table
from shared.models.catalog import ALL_DEALS, Deal
from shared.values import times
from tests.support.browsing import Browser, Seen
from tests.support.factories import NOW, a_deal, a_user, account_of, post

HOME_ADDRESS = Address("Ana Blake", "12 Harbour Street", "Portland", "04101", "US", region="ME")
HOME = {
    "recipient": "Ana Blake",
    "street": "12 Harbour Street",
    "city": "Portland",
    "region": "ME",
    "postalCode": "04101",
    "country": "US",
}
"""The same address as the API takes and shows it."""

_client_keys = itertools.count()


def a_buyer(table: Table, username: str = "ana") -> str:
    """A user with an address by the name of ``home``."""
    users.create(table, a_user(username))
    addresses.save(table, username, "home", HOME_ADDRESS)
    return username


def on_sale(table: Table, pieces: int, *, shards: int = 1, **fields: Any) -> Deal:
    """A deal of which so many pieces are on sale."""
    (deal,) = post(table, [a_deal(**fields)])
    stock.add(table, deal.deal_id, pieces, NOW, shards=shards)
    return deal


def wanted(deal: Deal, quantity: int = 1, price: str | None = None) -> Wanted:
    """So many pieces of a deal, at the price that it has."""
    return Wanted(deal.deal_id, quantity, price or deal.price, deal.currency)


def buy(
    table: Table,
    username: str,
    *items: Wanted | Deal,
    now: datetime = NOW,
    address: str = "home",
    key: str | None = None,
    account_id: str | None = None,
    entropy: bytes | None = None,
    chance: Callable[[], float] = random.random,
    from_cart: bool = False,
    notify: Notify = no_message,
    charges: Charges = NO_CHARGES,
    open_shards: int = 1,
    an_hour: int | None = None,
    **shown: Any,
) -> Order:
    """Place an order of some deals, one piece of each unless told; each with a key of its own unless told."""
    lines = [item if isinstance(item, Wanted) else wanted(item) for item in items]
    asked = {"address": address, "items": [[line.deal_id, line.quantity, line.price] for line in lines]}
    return placing.place(
        table,
        placing.Asked(
            username,
            address,
            lines,
            Idempotency(account_id or account_of(username), key or f"key-{next(_client_keys)}", asked),
            from_cart=from_cart,
            **shown,
        ),
        now,
        entropy or secrets.token_bytes(16),
        chance=chance,
        terms=placing.Terms(charges, notify, open_shards, an_hour),
    )


def left(table: Table, deals: Sequence[Deal]) -> list[int]:
    """How many pieces of each deal are left."""
    return [stock.of(table, deal.deal_id).left for deal in deals]


def sold(table: Table, deal: Deal, pieces: int, shards: int = 1) -> None:
    """Have pieces of a deal on sale, and its page say so."""
    stock.add(table, deal.deal_id, pieces, times.now(), shards=shards)
    stock.show_level(table, deal.deal_id)
    sold_here.file(table, deal.deal_id)


def fill(table: Table, first: Deal, second: Deal) -> None:
    """Have ``ana`` buy two deals, have only them in her cart, and have pieces of both left."""
    now = times.now()
    sold(table, first, 40, shards=4)
    sold(table, second, 3)
    addresses.save(table, "ana", "home", HOME_ADDRESS)
    buy(table, "ana", wanted(first, 2), wanted(second), now=now)
    for other in carts.deals_in(table, "ana", now):
        carts.take_out(table, "ana", other)
    carts.put_in(table, "ana", first.deal_id, 3, now)
    carts.put_in(table, "ana", second.deal_id, 1, now)


def written(table: Table) -> list[Any]:
    """All items except the container of open orders, in which a day too many is only an empty read, and what counts
    the orders that a member sends, refused ones too."""
    return [item for item in table.scan()[0] if item["Type"] not in ("OpenOrders", "Attempts")]


def sent_as_many_as_an_hour_allows(table: Table, username: str) -> None:
    """Have a member send all orders of this hour and, as a test may last into it, of the next."""
    for moment in (times.now(), times.now() + timedelta(hours=1)):
        counter = ((keys.PLACING, username), placing.AN_HOUR)
        rate_limits.add(table, [counter], moment, by=placing.AN_HOUR, seconds=3600)


def write(table: Table) -> None:
    """Stock, a cart and an order of the member and the deals that a release has written (``release.py``)."""
    posted = feeds.read(table, ALL_DEALS, limit=25, now=NOW).items
    for deal in (posted[0], posted[3]):
        stock.add(table, deal.deal_id, 9, NOW, shards=2)
    addresses.save(table, "ana", "home", HOME_ADDRESS)
    carts.put_in(table, "ana", posted[3].deal_id, 2, NOW)
    buy(table, "ana", posted[0], account_id=users.get(table, "ana").account_id)


def change(table: Table) -> None:
    """Cancel the order, whichever release wrote it."""
    (order,) = order_items.open_orders(table, NOW, limit=9).items
    steps.advance(table, order_items.find(table, order.order_id), OrderStatus.CANCELLED, NOW)


def read(table: Table) -> dict[str, Any]:
    """The view of the shop that users have of a table that ``write`` filled."""
    orders = [order_items.get(table, "ana", each.order_id) for each in order_items.latest(table, "ana", limit=9).items]
    return {
        "addresses": sorted(addresses.of(table, "ana")),
        "cart": [[item.deal.deal_id, item.quantity] for item in carts.view(table, "ana", NOW)],
        "orders": [[each.status, each.totals, [item.title for item in each.items]] for each in orders],
        "open orders": [order.order_id for order in order_items.open_orders(table, NOW, limit=9).items],
        "stock": [stock.of(table, item.deal_id).left for each in orders for item in each.items],
    }


def checkout(browser: Browser) -> dict[str, str]:
    """The fields of the checkout's form."""
    return form_of(browser.get("/shop/checkout"))


def form_of(seen: Seen, address: str = "home") -> dict[str, str]:
    """The form of a checkout, that goes to one of the addresses."""
    places = [each.get("value") for each in seen.document.iter("input") if each.get("type") == "radio"]
    (place,) = [each for each in places if each.endswith(f" {address}")]
    fields = {name: text for name, text in seen.values().items() if name != "q"}
    return {**fields, "address": place}
