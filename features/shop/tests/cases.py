"""The shop in tests of all features."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

from playwright.sync_api import Page, expect

from features.shop import models
from features.shop.data import addresses, carts, keys, order_items, steps, stock
from features.shop.invariants import SOLD_HERE, STOCK
from features.shop.models import Order, OrderItem, OrderStatus
from features.shop.rights import NO_TERMS
from features.shop.tests.support import (
    HOME,
    HOME_ADDRESS,
    a_buyer,
    buy,
    change,
    checkout,
    fill,
    read,
    sold,
    write,
)
from shared.data import invariants, removal
from shared.data import keys as core_keys
from shared.data.members import users
from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import GSI1, GSI3
from shared.dynamodb.table import Table
from shared.dynamodb.writes import Write, put, update
from shared.models.catalog import Deal
from shared.values import identifiers, times
from tests.e2e.conftest import Plumbing
from tests.support.browsing import Browser
from tests.support.commands import until
from tests.support.factories import NOW, ago
from tests.support.rights import ACCOUNT, ANY_READ, ANY_WRITE, DEAL, DEAL_ID, MESSAGES, SESSION, USER
from tests.support.site import Site, Visitor, fresh
from tests.support.states import MEMBERS as OF_MEMBERS
from tests.support.states import State
from tests.support.surroundings import event
from tests.support.tab import at, press, site_in
from tools.workbench import NOW as MORNING

PLACED, SHIPPED, DELIVERED, CANCELLED = OrderStatus

BOUNDS = {"orders_are_stuck": NO_TERMS.stuck}
ESSENTIAL = ("orders_are_stuck",)


def own(table: Table, deal: Deal, username: str, now: datetime) -> None:
    """A member has an address, orders of a deal that were sent or cancelled, and the deal in the cart."""
    addresses.save(table, username, "home", HOME_ADDRESS)
    stock.add(table, deal.deal_id, 9, now, shards=2)
    account_id = users.get(table, username, consistent=True).account_id
    for way in ((SHIPPED,), (SHIPPED, DELIVERED), (CANCELLED,)):
        order = buy(table, username, deal, now=now, account_id=account_id)
        for status in way:
            order = steps.advance(table, order, status, now)
    carts.put_in(table, username, deal.deal_id, 1, now)


OWNS = (own,)


def beside(table: Table, deal: Deal) -> None:
    """A buyer waits for an order of the deal, and has it in the cart."""
    if not any(user.username == "dee" for user in users.everyone(table)):
        a_buyer(table, "dee")
    stock.add(table, deal.deal_id, 40, NOW, shards=2)
    buy(table, "dee", deal, now=ago(days=len(order_items.latest(table, "dee", limit=9).items)))
    carts.put_in(table, "dee", deal.deal_id, 1, NOW)


HAPPENS_TO = (beside,)


def left_behind(table: Table, deal: Deal) -> None:
    """Orders of members who have left: what stays of them."""
    stock.add(table, deal.deal_id, 9, MORNING)
    for name, way in (("dee", (SHIPPED,)), ("eve", (SHIPPED, DELIVERED))):
        a_buyer(table, name)
        order = buy(table, name, deal, now=MORNING)
        for status in way:
            order = steps.advance(table, order, status, MORNING)
        removal.remove_account(table, users.get(table, name, consistent=True), MORNING)


HAPPENS = (left_behind,)


def send_open(table: Table, username: str) -> None:
    """Send a member's orders, which hold the account."""
    for order in order_items.latest(table, username, limit=25, status=PLACED).items:
        steps.advance(table, order, SHIPPED, MORNING)


RELEASES = (send_open,)


def _without(items: list[Item], type_: str, *names: str) -> list[Item]:
    """The items without the first of a type, or without some of its attributes."""
    gone = next(each for each in items if each["Type"] == type_)
    rest = {name: value for name, value in gone.items() if name not in names}
    return [each for each in items if each is not gone] + ([rest] if names else [])


def _counting_no_shard(items: list[Item]) -> list[Item]:
    note = next(each for each in items if each["Type"] == keys.STOCK_NOTE)
    return [each if each is not note else {**note, "Shards": 0} for each in items]


LOST = {
    "an order has no number": (invariants.PARTNERS, True, lambda all_: _without(all_, keys.ORDER_NUMBER)),
    "a sale is in no list": (invariants.INDEX, True, lambda all_: _without(all_, keys.SALE, "GSI3PK", "GSI3SK")),
    "the note of open orders is lost": (invariants.PARTNERS, True, lambda all_: _without(all_, keys.OPEN_ORDERS)),
    "a stock's note counts no shard": (STOCK, True, _counting_no_shard),
}


def _miscounted(_deal: Deal) -> Write:
    return update(
        core_keys.account("ana"), "SET OpenOrders = :wrong", condition=None, values={":wrong": 7}, refused=None
    )


DAMAGES = {"open orders are miscounted": (invariants.ACCOUNTS, _miscounted)}

LATE = {
    "put in": lambda table, deal, account: carts.put_in(table, "ana", deal.deal_id, 3, NOW, account),
    "take out": lambda table, deal, account: carts.take_out(table, "ana", deal.deal_id, account),
    "order": lambda table, deal, account: buy(table, "ana", deal, account_id=account),
    "save address": lambda table, _, account: addresses.save(table, "ana", "new", HOME_ADDRESS, account),
}
UNDOES = {"take out": "put in"}


def _deal_in_stock(table: Table) -> str:
    """The id of a deal of which there is stock."""
    return next(str(each["DealId"]) for each in table.scan()[0] if each["Type"] == core_keys.DEAL)


LISTED_BY = {
    keys.ORDER: (
        partial(order_items.latest, username="dee", limit=9),
        partial(order_items.latest, username="dee", limit=1, status=PLACED),
        partial(order_items.customer, username="dee"),
        partial(order_items.open_orders, now=NOW, limit=1),
        partial(order_items.waiting_since, now=NOW),
    ),
    keys.OPEN_ORDERS: (
        partial(order_items.open_orders, now=NOW, limit=9),
        partial(order_items.waiting_since, now=NOW),
        lambda table: order_items.know(table, PLACED, identifiers.random(NOW, bytes(16)), 1, NOW),
    ),
    keys.CART_ITEM: (
        partial(carts.view, username="dee", now=NOW),
        partial(carts.deals_in, username="dee", now=NOW),
        partial(carts.pieces, username="dee", now=NOW),
    ),
    keys.STOCK: (
        lambda table: stock.find(table, _deal_in_stock(table)),
        lambda table: stock.show_level(table, _deal_in_stock(table)),
    ),
    keys.STOCK_NOTE: (lambda table: stock.of(table, _deal_in_stock(table)).left,),
}
COMMANDS = {"Deals sold here": ("deals sold-here", ["Query GSI1"])}
MODELS = (models,)
FOR_EDITORS = (
    "PUT /orders/{orderId}/status",
    "GET /open-orders",
    "GET /customers/{username}",
    "GET /deals/{dealId}/stock",
    "PUT /deals/{dealId}/stock",
)
UNSAYABLE = {"/me/addresses/{name}": {"postalCode"}}
"""It is there where the country needs one."""
RIGHT_BODIES = {
    "/deals/{dealId}/stock": {"left": 1},
    "/me/cart/{dealId}": {"quantity": 1},
    "/orders/{orderId}/status": {"status": "shipped"},
}
OWN_NAMES = ("/me/addresses/{name}",)
_ZEBULON = "/me/addresses/zebulon"
TYPED = (
    ("PUT", _ZEBULON, HOME | {"recipient": "Zebulon", "street": "1 Zebulon Street"}, OWN_NAMES[0]),
    ("DELETE", _ZEBULON, None, OWN_NAMES[0]),
    ("PUT", _ZEBULON, {"city": "Zebulon"}, OWN_NAMES[0]),
)
DAMAGED_DEALS = {"a stock of no known level": {"Stock": {"S": "plenty"}}}
NOT_LOADED = ("features.shop.models",)
PRIVATE = ("Addresses",)
NOT_IN_SAMPLE = (keys.SALE,)
COLUMNS = {
    keys.ORDER: {"ShippedAt": "TIMESTAMP", "Totals": "JSON"},
    keys.SALE: {"ShippedAt": "TIMESTAMP", "Totals": "JSON", "Items": "JSON"},
}
QUERIED = {
    "Orders a day": (
        [("2026-08-01", 4, 5)],
        ({"Type": {"S": keys.ORDER}, "PlacedAt": {"S": "2026-06-04T10:00:00Z"}}, [("2026-06-04", 1)]),
    )
}
ATTRIBUTES_SHOWN = ("Status",)
PUBLIC = ((GSI1.name, core_keys.pattern_of(keys.sold_here())),)
RIGHTS = (
    (ANY_READ, DEAL, "", "orders sales shop"),
    (ANY_READ, USER, "", "orders sales shop"),
    (ANY_READ, SESSION, "", "sales shop"),
    (ANY_READ, MESSAGES, GSI1.name, "shop"),
    (("PutItem", "PartiQLInsert"), MESSAGES, "", "orders sales shop"),
    # Stock is the shop's. Open orders are read by editors and the clock, and by no buyer.
    (ANY_WRITE, keys.stock_shard(DEAL_ID, 1)["PK"], "", "orders sales shop"),
    (ANY_READ, keys.order_in_open("placed", "2050-06-15", 1, "")["GSI3PK"], GSI3.name, "expiry orders sales"),
)
ATTRIBUTES = (
    (USER, "Addresses", "orders shop"),
    (USER, "Status", "orders sales shop"),
    (ACCOUNT, "OpenOrders", "orders sales shop accounts account"),
    (DEAL, "Stock", "desk editors expiry refresher"),
)
READ_BY = {
    keys.ORDER: lambda item: partial(order_items.find, id_or_number=core_keys.id_in(item["SK"])),
    keys.ORDER_ITEM: lambda item: partial(order_items.find, id_or_number=str(item["OrderId"])),
    keys.ORDER_NUMBER: lambda item: partial(order_items.find, id_or_number=core_keys.id_in(item["PK"])),
}
OF_PEOPLE = ((Order, keys.ORDER), (OrderItem, ""))

FILLS_ANAS = (fill,)
IN_HEAD = ("Cart",)
EVERYONES = {"sold here": "/sold-here"}
KNOWN = {"order": lambda table: order_items.latest(table, "ana", limit=1, status=PLACED).items[0]}
MEMBERS = {
    "cart": "/shop/cart",
    "addresses": "/shop/addresses?name=home",
    "checkout": "/shop/checkout",
    "orders": "/shop/orders",
    "order": "/shop/orders/{order.order_id}",
    "cancelling": "/shop/orders/{order.order_id}/cancel",
}
TABBED = ("cart",)
EMPTY = ("/shop/cart", "/shop/addresses", "/shop/orders")
EDITORS = {
    "orders to send": "/desk/shop/orders",
    "an order to send": "/desk/shop/orders/{order.order_id}",
    "stock": "/desk/shop/stock/{first.number}",
}
_ORDERED = {"items": "{second.deal_id}*1*0.01*USD", "address": "x home", "totals": "USD=0.01", "key": "a-key"}
FORMS = {
    "address after the session's end": State("/shop/addresses", 403, form={"name": "home", "city": "Portland"}),
    "address with errors": State("/shop/addresses", 422, "ana", {"name": "home", "country": "Switzerland"}),
    "checkout at another price": State("/shop/checkout", 409, "ana", _ORDERED),
}
# The shop has a style sheet of its own.
BUDGETS = {"cart": replace(OF_MEMBERS, all=36 * 1024, requests=9)}
IMPORTS = {"orders": ("pydantic",), "shop": ("pydantic", "minijinja"), "sales": ("pydantic", "minijinja")}
PICTURED_OF_MEMBERS = {"features/shop/cart-dark": "/shop/cart"}
RELEASE_WRITES, RELEASE_CHANGES, RELEASE_READS = (write,), (change,), (read,)
STREAMED = (SOLD_HERE,)

MEMBERS_PAGES = ("/shop/cart", "/shop/addresses", "/shop/checkout", "/shop/orders", "/shop/orders/x")
EDITORS_PAGES = ("/desk/shop/orders",)
EDITORS_PAGES_OF_SOMETHING = ("/desk/shop", "/desk/shop/orders/x", "/desk/shop/stock/1", "/desk/shop/customers/ana")
FORM_PAGES = {"/shop/cart/remove": "/shop/cart", "/shop/addresses/remove": "/shop/addresses"}
SITE_PAGES = {"/sold-here": "We don’t sell any deals right now."}
COSTS = {"/sold-here": ("Query 1", 1)}
ERRORS_OF_AN_ID = (order_items.NoSuchOrder, stock.NotSoldHere)
COUNTS_IN_HEAD = (("cart", 2, "2 items"), ("cart", 0, ""), ("cart", None, ""))

ONE_READ = ("/shop/cart", "/shop/orders", "/shop/addresses")
TRACED = (*ONE_READ, "/desk/shop/orders", "/desk/shop/stock/{number}")
SECRETS = {*HOME.values()} - {"US", "ME"}
PERSONAL = ("a member's address",)


def _checkout(browser: Browser, table: Table, deal: Deal) -> tuple[str, dict[str, str]]:
    """A member has an address, and a deal that is on sale in the cart."""
    sold(table, deal, 5)
    browser.post("/shop/addresses", {**HOME, "name": "home", "country": "us", "next": "/shop/checkout"})
    browser.post("/shop/cart", {"deal": str(deal.number)})
    return "/shop/checkout", checkout(browser)


def _cancelling(_browser: Browser, table: Table, _deal: Deal) -> tuple[str, dict[str, str]]:
    (order,) = order_items.latest(table, "ana", limit=1).items
    return f"/shop/orders/{order.order_id}/cancel", {}


TRACED_FORMS = {
    "order": (_checkout, [21], "put put put update delete put update put"),
    "cancel": (_cancelling, [14], "update update update put"),
}


def _bought(table: Table, deal: Deal, username: str) -> Order:
    """An order of a member, who has a cart, too."""
    now = times.now()
    stock.add(table, deal.deal_id, 5, now)
    addresses.save(table, username, "home", HOME_ADDRESS)
    order = buy(table, username, deal, now=now, account_id=users.get(table, username, consistent=True).account_id)
    carts.put_in(table, username, deal.deal_id, 1, now)
    return order


def _collections(table: Table, deal: Deal, username: str) -> list[tuple[str, str | None, str]]:
    order = _bought(table, deal, username)
    return [
        (core_keys.user(username)["PK"], None, keys.ORDER),
        (keys.order_parts(order.order_id), "GSI1", keys.ORDER),
        (keys.order_history(username), "GSI2", keys.ORDER),
        (_open_orders_of(order), "GSI3", keys.ORDER),
        (keys.open_orders(), None, keys.OPEN_ORDERS),
        (keys.order_item(order.order_id, "001")["PK"], None, keys.ORDER_ITEM),
        (keys.order_number(order.number)["PK"], None, keys.ORDER_NUMBER),
        (keys.cart(username), None, keys.CART_ITEM),
        (keys.stock(deal.deal_id)["PK"], None, keys.STOCK_NOTE),
        (keys.stock_shard(deal.deal_id, 1)["PK"], None, keys.STOCK),
    ]


def _open_orders_of(order: Order) -> str:
    """The partition of the open orders of the day of an order."""
    return keys.order_in_open("placed", f"{order.placed_at:%Y-%m-%d}", 1, "")["GSI3PK"]


ASKED = (("member", "/shop/cart"), ("member", "/shop/orders"), ("editor", "/desk/shop/orders"))


def _order_in_the_tab(page: Page, _deal: str) -> None:
    press(page, "Buy here")
    expect(site_in(page).locator(".notice")).to_contain_text("Added to your cart.")
    at(page, "/shop/checkout")
    for label, typed in {
        "Recipient": "Ana Blake", "Street and number": "12 Harbour Street", "Postal code": "04101",
        "City": "Portland", "State or region": "ME",
    }.items():  # fmt: skip
        site_in(page).get_by_label(label).fill(typed)
    site_in(page).get_by_label("Country").select_option("US")
    press(page, re.compile("^Order for"))
    expect(site_in(page).locator(".notice")).to_contain_text("Order placed.")
    at(page, "/shop/orders")
    expect(site_in(page).locator("main")).not_to_contain_text("You have no orders yet")


IN_THE_TAB = (_order_in_the_tab,)

COLLECTIONS = (_collections,)
LEADS = (lambda table, deal, username: (keys.open_orders(), _open_orders_of(_bought(table, deal, username)), "GSI3"),)


def _shop(site: Site, member: Visitor, _other: Visitor, deal_ids: Sequence[str]) -> None:
    """Sell two deals by their numbers: a cart, orders that are sent and cancelled, and something left behind."""
    editor, plumbing = site.editor("selling"), Plumbing.of(site)
    _note_a_day_without_an_open_order(site)
    plumbing.call("Expiry", event("expiry-schedule"))
    assert member.get("/sold-here").status_code == 200
    deals = [editor.get(f"/deals/{deal_id}").json() for deal_id in deal_ids[1:3]]
    for deal in deals:
        assert editor.put(f"/deals/{deal['dealNumber']}/stock", json={"add": 5}).status_code == 200
        assert member.put(f"/me/cart/{deal['dealId']}", json={"quantity": 1}).status_code == 200
    assert editor.get(f"/deals/{deals[0]['dealId']}/stock").json()["left"] == 5
    assert until(lambda: editor.get(f"/deals/{deals[0]['dealId']}").json()["stock"] == "low")
    assert member.put("/me/addresses/home", json=HOME).status_code == 200
    assert member.get("/me/cart").json()["items"][0]["quantity"] == 1
    once = fresh("key")
    orders = [_order(member, deals[0], key)["orderId"] for key in (once, once, fresh("key"))]
    assert orders[0] == orders[1] != orders[2]
    for key in (keys.order(member.username, orders[0]), keys.order_item(orders[0], "001")):
        # The index does not show it yet: it is read by its keys.
        site.table.write(update(key, "REMOVE GSI1PK, GSI1SK", refused=None))
    for path in ("/orders", "/orders?status=placed", f"/orders/{orders[0]}"):
        assert member.get(path).status_code == 200
    _note_a_day_without_an_open_order(site)
    assert editor.get("/open-orders").json()["items"]
    assert editor.put(f"/orders/{orders[0]}/status", json={"status": "shipped"}).status_code == 200
    assert member.post(f"/orders/{orders[2]}/cancel").status_code == 200
    _deliver_to_one_who_left(site, editor, deals[0])


def _note_a_day_without_an_open_order(site: Site) -> None:
    """The next look for open orders forgets it."""
    note = {**keys.open_orders_note("placed", "2025-03-05", 1), "KnownAt": "2025-03-05T00:00:00Z"}
    site.table.write(put(note, because="a test's own"))


def _order(member: Visitor, deal: dict[str, Any], key: str) -> dict[str, Any]:
    item = {"quantity": 1, **{name: deal[name] for name in ("dealId", "price", "currency")}}
    order = member.post("/orders", json={"address": "home", "items": [item]}, headers={"Idempotency-Key": key})
    return dict(order.json())


def _deliver_to_one_who_left(site: Site, editor: Visitor, deal: dict[str, Any]) -> None:
    """Send an order, remove its owner's account, then deliver it."""
    leaving = site.member("leaving")
    assert leaving.put("/me/addresses/home", json=HOME).status_code == 200
    order = _order(leaving, deal, fresh("key"))
    status = f"/orders/{order['orderId']}/status"
    assert editor.put(status, json={"status": "shipped"}).status_code == 200
    assert editor.get(f"/orders/{order['orderNumber']}").status_code == 200
    assert leaving.delete("/me").status_code == 204
    delivered = editor.put(status, json={"status": "delivered"}).json()
    assert (delivered["username"], delivered["address"]) == (None, None)


USES = (_shop,)
