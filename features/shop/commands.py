"""``btd addresses``, ``btd cart``, ``btd orders`` and ``btd stock``: the shop's routes as commands; and ``btd rush``.

A rush lets many buyers order one deal of the local cloud at once, and checks the stock afterwards.
"""

from __future__ import annotations

import random
import secrets
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Annotated, Any
from urllib.parse import urlsplit

import typer
from pydantic import TypeAdapter, ValidationError

from cli import output
from cli.catalog import deals_app
from cli.commands import (
    KINDS,
    AsJson,
    ClientKey,
    Cursor,
    DealName,
    Limit,
    Row,
    Username,
    Work,
    argument,
    ask,
    command,
    deal_id,
    group,
    offer,
    open_table,
)
from cli.output import note, show_json, show_rows
from features.shop import account, bodies
from features.shop.data import addresses, placing, stock
from features.shop.data.placing import CannotOrder
from features.shop.models import Address, Wanted
from shared.data.catalog import deals
from shared.data.idempotency import Idempotency
from shared.data.members import users
from shared.dynamodb.table import Table
from shared.dynamodb.tracing import Trace
from shared.errors import Busy, DealsError, Forbidden, Invalid
from shared.http.answers import reason
from shared.http.requests import DEFAULT_PAGE
from shared.models.members import User
from shared.values import times

_ADDRESS_NAME: TypeAdapter[str] = TypeAdapter(bodies.AddressName)


addresses_app = group("addresses", "A user's delivery addresses.")
cart_app = group("cart", "A user's cart.")
orders_app = group("orders", "Orders: those of a user, and open ones.")
stock_app = group("stock", "Stock of the deals that the site's own shop sells.")

_cart = output.table(
    {
        "quantity": "quantity",
        "title": lambda item: item["deal"]["title"],
        "price": lambda item: output.price(item["deal"]),
        "then": "priceThen",
        "deal": lambda item: item["deal"]["dealId"],
    }
)
_orders = output.table(
    {
        "number": "orderNumber",
        "order": "orderId",
        "owner": "username",
        "status": "status",
        "placed": "placedAt",
        "pieces": "pieces",
    }
)


def _addresses(found: output.Json) -> None:
    show_rows(("name", *account.ADDRESS_FIELDS), [[name, *each.values()] for name, each in found.items()])


def _address_name(text: str) -> str:
    try:
        return _ADDRESS_NAME.validate_python(text)
    except ValidationError as error:
        raise typer.BadParameter(reason(error.errors()[0])) from error


KINDS |= {
    "{name}": Annotated[
        str, typer.Argument(parser=_address_name, metavar="NAME", help="The address's name, such as home.")
    ],
    "{orderId}": argument("ORDER", "The order's number or id."),
}


@command(addresses_app, _addresses, "list")
def list_addresses(work: Work, username: Username) -> output.Json:
    """List a user's addresses."""
    found = addresses.of(work.table, username)
    return account.by_name(found)


@command(orders_app)
def place(
    work: Work,
    username: Username,
    address: Annotated[str, typer.Option(help="The name of the user's delivery address.")],
    wanted: Annotated[list[str], typer.Argument(metavar="DEAL=PIECES", help="A deal's id or number, and pieces.")],
    key: ClientKey = None,
) -> Any:
    """Place an order for a user, at today's prices."""
    items = []
    for each in wanted:
        name, _, pieces = each.partition("=")
        if not pieces.isdecimal():
            raise Invalid(f"{each} must be a deal and a number of pieces, such as 12=1.")
        deal = deals.find(work.table, name)
        item = {"dealId": deal.deal_id, "quantity": int(pieces), "price": deal.price, "currency": deal.currency}
        items.append(item)
    new = {"username": username, "address": address, "items": items, "Idempotency-Key": key or secrets.token_hex(16)}
    return ask(work, "POST /orders", new, signed_in=True)


@command(orders_app, _orders, "open")
def list_open(
    work: Work,
    sent: Annotated[bool, typer.Option("--sent", help="List shipped orders instead.")] = False,
    limit: Limit = DEFAULT_PAGE,
    cursor: Cursor = None,
) -> Any:
    """List open orders, oldest first."""
    asked = {"status": "shipped" if sent else "placed", "limit": limit, "cursor": cursor}
    return ask(work, "GET /open-orders", asked)


offer(
    deals_app,
    Row(
        "sold-here --limit --cursor",
        "GET /sold-here",
        "List the deals that the site's own shop has in stock, newest first.",
        output.feed,
    ),
)
offer(
    addresses_app,
    Row(
        "save username name --*",
        "PUT /me/addresses/{name}",
        "Save an address under a name; it replaces an address with that name.",
    ),
    Row("remove username name", "DELETE /me/addresses/{name}", "Remove a saved address.", says={"removed": "name"}),
)
offer(
    cart_app,
    Row("show username", "GET /me/cart", "Show the contents of a user's cart, at today's prices.", _cart),
    Row(
        "put username dealId quantity=1",
        "PUT /me/cart/{dealId}",
        "Set how many pieces of a deal are in the cart.",
    ),
    Row(
        "take-out username dealId",
        "DELETE /me/cart/{dealId}",
        "Remove a deal from the cart.",
        says={"takenOut": "dealId"},
    ),
)
offer(
    orders_app,
    Row(
        "customer username",
        "GET /customers/{username}",
        "Show a user with addresses and newest orders: one Query of the item collection.",
    ),
    Row("list username --status --limit --cursor", "GET /orders", "List a user's orders, newest first.", _orders),
    Row("show orderId", "GET /orders/{orderId}", "Show an order and its items."),
    Row(
        "follow orderId status",
        "PUT /orders/{orderId}/status",
        "Send, deliver or cancel an order; notify its owner.",
    ),
)
offer(
    stock_app,
    Row("add dealId add --shards", "PUT /deals/{dealId}/stock", "Put pieces of a deal on sale."),
    Row("set dealId left --shards", "PUT /deals/{dealId}/stock", "Set how many pieces of a deal are left."),
    Row("show dealId", "GET /deals/{dealId}/stock", "Show a deal's pieces that are left, by shard, and in orders."),
)


MOST = 500
"""Buyers of one rush: the local cloud is on this machine."""

AT_ONCE = 40
"""Buyers who order in parallel."""

HERE = ("127.0.0.1", "localhost", "::1")


def rush(
    deal: DealName,
    buyers: Annotated[int, typer.Option(min=1, max=MOST, help="The number of buyers; each orders one piece.")] = 40,
    as_json: AsJson = False,
) -> None:
    """Let many buyers order a deal at once, on the local cloud only. Their accounts and orders stay there."""
    table = open_table()
    if urlsplit(table.client.meta.endpoint_url).hostname not in HERE:
        raise Forbidden("A rush is for the local cloud only: its buyers and orders are made up.")
    found = deals.find(table, deal_id(table, deal))
    before = stock.of(table, found.deal_id)
    joined = [_join(table, f"rush-{secrets.token_hex(4)}") for _ in range(buyers)]
    note(f"{buyers} buyers on {before.left:,} pieces")
    trace = Trace().attach(table)
    began = time.perf_counter()
    wanted = Wanted(found.deal_id, 1, found.price, found.currency)
    with ThreadPoolExecutor(min(buyers, AT_ONCE)) as pool:
        ends = Counter(pool.map(partial(_buy, table, wanted), joined))
    seconds = time.perf_counter() - began
    after = stock.of(table, found.deal_id)
    sent = [request for request in trace.requests if request.operation == "TransactWriteItems"]
    # The ordered pieces were taken, and nothing else has changed.
    right = after.on_sale == after.left + after.ordered and before.left - after.left == ends["placed"]
    document = {
        "placed": ends["placed"],
        "ordersASecond": round(ends["placed"] / seconds, 1),
        "soldOut": ends["sold out"],
        "busy": ends["busy"],
        "conflicts": sum(request.refused is not None for request in sent),
        "retries": max(0, len(sent) - ends["placed"]),
        "left": after.left,
        "right": right,
    }
    if as_json:
        show_json({"result": document})
    else:
        output.fields(document)
    if not right:
        wrong = "another order or stock change came in between, or the stock is wrong"
        raise DealsError(f"The sums do not add up: {wrong}.")


def _join(table: Table, name: str) -> User:
    """Create a buyer with an address and without a usable password."""
    buyer = users.create(table, User(name, f"{name}@mail.example", "A buyer", "-", "member", times.now()))
    addresses.save(table, name, "home", Address("A buyer", "1 Main Street", "Portland", "04101", "US"))
    return buyer


def _buy(table: Table, wanted: Wanted, buyer: User) -> str:
    once = Idempotency(buyer.account_id, "rush", {"deal": wanted.deal_id})
    asked = placing.Asked(buyer.username, "home", [wanted], once)
    try:
        placing.place(table, asked, times.now(), secrets.token_bytes(16), chance=random.random)
    except CannotOrder:
        return "sold out"
    except Busy:
        return "busy"
    return "placed"


GROUPS = (addresses_app, cart_app, orders_app, stock_app)
COMMANDS = (rush,)
