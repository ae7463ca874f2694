"""The shop in tests of all features."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime
from functools import partial

from playwright.sync_api import Page, expect

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
from shared.dynamodb.table import Table
from shared.dynamodb.writes import Write, update
from shared.models.catalog import Deal
from shared.values import identifiers, times
from tests.support.browsing import Browser
from tests.support.factories import NOW, ago
from tests.support.states import MEMBERS as OF_MEMBERS
from tests.support.states import State
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
BUDGETS = {"cart": replace(OF_MEMBERS, all=32 * 1024, requests=8)}
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
    press(page, "Save the address and continue")
    press(page, re.compile("^Order for"))
    expect(site_in(page).locator(".notice")).to_contain_text("Order placed.")
    at(page, "/shop/orders")
    expect(site_in(page).locator("main")).not_to_contain_text("You have no orders yet")


IN_THE_TAB = (_order_in_the_tab,)

COLLECTIONS = (_collections,)
LEADS = (lambda table, deal, username: (keys.open_orders(), _open_orders_of(_bought(table, deal, username)), "GSI3"),)
