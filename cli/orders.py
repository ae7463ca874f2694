"""``btd orders``: a user's orders, and what is still to be sent."""

from __future__ import annotations

import os
import random
import secrets
from typing import Annotated, Any

import typer

from cli import views
from cli.inputs import ClientKey, Username, checked
from cli.work import Cursor, Limit, Work, command, group
from shared.api import documents, order_documents
from shared.api.order_bodies import NewOrder
from shared.data.catalog import deals
from shared.data.idempotency import Idempotency
from shared.data.members import order_news, users
from shared.data.orders import open_orders, placing, reading, steps
from shared.dynamodb.table import Table
from shared.errors import Invalid
from shared.http.parameters import DEFAULT_PAGE
from shared.models.orders import OrderStatus

app = group("orders", "Orders: a user's, and what is still to be sent.")

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

OrderId = Annotated[str, typer.Argument(metavar="ORDER", help="The order's number or id.")]


@command(app)
def customer(work: Work, username: Username) -> views.Json:
    """Show a user, the addresses and the newest orders: one Query of the user's collection."""
    return order_documents.customer(reading.customer(work.table, username))


@command(app)
def place(
    work: Work,
    username: Username,
    address: Annotated[str, typer.Option(help="Which of the user's addresses it goes to, by its name.")],
    wanted: Annotated[list[str], typer.Argument(metavar="DEAL=PIECES", help="What, by the deal's id or number.")],
    key: ClientKey = None,
) -> views.Json:
    """Place an order at today's prices, as its buyer would."""
    fields = {"address": address, "items": [_item(work.table, each) for each in wanted]}
    new = checked(NewOrder, fields)
    account_id = users.get(work.table, username, consistent=True).account_id
    once = Idempotency(account_id, key or secrets.token_hex(16), fields)
    asked = placing.Asked(username, new.address, new.wanted(), once)
    terms = placing.Terms.of(os.environ, order_news.telling)
    order = placing.place(work.table, asked, work.now, secrets.token_bytes(16), chance=random.random, terms=terms)
    return order_documents.order(order)


@command(app, _orders, "list")
def list_orders(
    work: Work,
    username: Username,
    status: Annotated[OrderStatus | None, typer.Option(help="Only those of this status, from GSI2.")] = None,
    limit: Limit = DEFAULT_PAGE,
    cursor: Cursor = None,
) -> views.Json:
    """List a user's orders, newest first."""
    page = reading.latest(work.table, username, limit=limit, cursor=cursor, status=status)
    return documents.page(page, order_documents.order_head)


@command(app, _orders, "open")
def list_open(
    work: Work,
    sent: Annotated[bool, typer.Option("--sent", help="Those that are on their way instead.")] = False,
    limit: Limit = DEFAULT_PAGE,
    cursor: Cursor = None,
) -> views.Json:
    """List what is still to be sent, oldest first."""
    status = OrderStatus.SHIPPED if sent else OrderStatus.PLACED
    page = open_orders.read(work.table, work.now, status=status, limit=limit, cursor=cursor)
    return documents.page(page, order_documents.order_head)


@command(app)
def show(work: Work, order_id: OrderId) -> views.Json:
    """Show an order and its items."""
    return order_documents.order(reading.find(work.table, order_id))


@command(app)
def follow(
    work: Work, order_id: OrderId, status: Annotated[OrderStatus, typer.Argument(help="The status that it takes.")]
) -> views.Json:
    """Send, deliver or cancel an order, and tell its owner."""
    order = reading.find(work.table, order_id)
    order = steps.advance(work.table, order, status, work.now, telling=order_news.telling)
    return order_documents.order(order)


def _item(table: Table, text: str) -> dict[str, Any]:
    """An item of an order, of the text DEAL=PIECES. Raises Invalid, NoSuchDeal."""
    name, _, pieces = text.partition("=")
    if not pieces.isdecimal():
        raise Invalid(f"{text} must be a deal and a number of pieces, such as 12=1.")
    deal = deals.find(table, name)
    return {"dealId": deal.deal_id, "quantity": int(pieces), "price": deal.price, "currency": deal.currency}
