"""``btd addresses``, ``btd cart``, ``btd orders`` and ``btd stock``: what the shop's routes do."""

from __future__ import annotations

import secrets
from typing import Annotated, Any

import typer

from cli import views
from cli.inputs import ClientKey, Username
from cli.output import show_rows
from cli.routes import Row, ask, offer
from cli.work import Cursor, Limit, Work, command, group
from shared.api import member_documents
from shared.data.catalog import deals
from shared.data.orders import addresses
from shared.errors import Invalid
from shared.http.requests import DEFAULT_PAGE

addresses_app = group("addresses", "The addresses that a user's orders can go to.")
cart_app = group("cart", "A user's cart.")
orders_app = group("orders", "Orders: a user's, and what is still to be sent.")
stock_app = group("stock", "Stock of the deals that the site sells itself.")

_cart = views.table(
    {
        "quantity": "quantity",
        "title": lambda item: item["deal"]["title"],
        "price": lambda item: views.price(item["deal"]),
        "then": "priceThen",
        "deal": lambda item: item["deal"]["dealId"],
    }
)
_orders = views.table(
    {
        "number": "orderNumber",
        "order": "orderId",
        "owner": "username",
        "status": "status",
        "placed": "placedAt",
        "pieces": "pieces",
    }
)


def _addresses(found: views.Json) -> None:
    show_rows(("name", *member_documents.ADDRESS), [[name, *each.values()] for name, each in found.items()])


@command(addresses_app, _addresses, "list")
def list_addresses(work: Work, username: Username) -> views.Json:
    """List a user's addresses."""
    found = addresses.of(work.table, username)
    return {name: member_documents.address(each) for name, each in found.items()}


@command(orders_app)
def place(
    work: Work,
    username: Username,
    address: Annotated[str, typer.Option(help="Which of the user's addresses it goes to, by its name.")],
    wanted: Annotated[list[str], typer.Argument(metavar="DEAL=PIECES", help="What, by the deal's id or number.")],
    key: ClientKey = None,
) -> Any:
    """Place an order at today's prices, as its buyer would."""
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
    sent: Annotated[bool, typer.Option("--sent", help="Those that are on their way instead.")] = False,
    limit: Limit = DEFAULT_PAGE,
    cursor: Cursor = None,
) -> Any:
    """List what is still to be sent, oldest first."""
    asked = {"status": "shipped" if sent else "placed", "limit": limit, "cursor": cursor}
    return ask(work, "GET /open-orders", asked)


offer(
    addresses_app,
    Row(
        "save username name --*",
        "PUT /me/addresses/{name}",
        "Save an address under a name, in place of the one that had it.",
    ),
    Row(
        "remove username name", "DELETE /me/addresses/{name}", "Remove the address of a name.", says={"removed": "name"}
    ),
)
offer(
    cart_app,
    Row("show username", "GET /me/cart", "Show what is in a user's cart, at today's prices.", _cart),
    Row(
        "put username dealId quantity=1",
        "PUT /me/cart/{dealId}",
        "Have so many pieces of a deal in the cart, whatever there were before.",
    ),
    Row(
        "take-out username dealId",
        "DELETE /me/cart/{dealId}",
        "Have a deal in the cart no longer.",
        says={"takenOut": "dealId"},
    ),
)
offer(
    orders_app,
    Row(
        "customer username",
        "GET /customers/{username}",
        "Show a user, the addresses and the newest orders: one Query of the user's collection.",
    ),
    Row("list username --status --limit --cursor", "GET /orders", "List a user's orders, newest first.", _orders),
    Row("show orderId", "GET /orders/{orderId}", "Show an order and its items."),
    Row(
        "follow orderId status", "PUT /orders/{orderId}/status", "Send, deliver or cancel an order, and tell its owner."
    ),
)
offer(
    stock_app,
    Row("add dealId add --shards", "PUT /deals/{dealId}/stock", "Put pieces of a deal on sale."),
    Row("set dealId left --shards", "PUT /deals/{dealId}/stock", "Say how many pieces of a deal are left."),
    Row("show dealId", "GET /deals/{dealId}/stock", "Show what is left of a deal, by shard, and what is in orders."),
)
