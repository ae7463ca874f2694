"""``btd orders``: a user's orders, and what is still to be sent."""

from __future__ import annotations

import os
import random
import secrets
from typing import Annotated, Any

import typer

from cli import views
from cli.inputs import ClientKey, Username, checked
from cli.output import show_rows
from cli.watching import AsJson, Cursor, Limit, at_work
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

app = typer.Typer(help="Orders: a user's, and what is still to be sent.", no_args_is_help=True)

SHOWN = ("orderNumber", "orderId", "username", "status", "placedAt", "pieces")

OrderId = Annotated[str, typer.Argument(metavar="ORDER", help="The order's number or id.")]


@app.command()
def customer(username: Username, as_json: AsJson = False) -> None:
    """Show a user, the addresses and the newest orders: one Query of the user's collection."""
    with at_work(as_json) as work:
        work.answer(order_documents.customer(reading.customer(work.table, username)), views.fields)


@app.command()
def place(
    username: Username,
    address: Annotated[str, typer.Option(help="Which of the user's addresses it goes to, by its name.")],
    wanted: Annotated[list[str], typer.Argument(metavar="DEAL=PIECES", help="What, by the deal's id or number.")],
    key: ClientKey = None,
    as_json: AsJson = False,
) -> None:
    """Place an order at today's prices, as its buyer would."""
    with at_work(as_json) as work:
        fields = {"address": address, "items": [_item(work.table, each) for each in wanted]}
        new = checked(NewOrder, fields)
        account_id = users.get(work.table, username, consistent=True).account_id
        order = placing.place(
            work.table,
            placing.Asked(
                username, new.address, new.wanted(), Idempotency(account_id, key or secrets.token_hex(16), fields)
            ),
            work.now,
            secrets.token_bytes(16),
            chance=random.random,
            terms=placing.Terms.of(os.environ, order_news.telling),
        )
        work.answer(order_documents.order(order), views.fields)


@app.command("list")
def list_orders(
    username: Username,
    status: Annotated[OrderStatus | None, typer.Option(help="Only those of this status, from GSI2.")] = None,
    limit: Limit = DEFAULT_PAGE,
    cursor: Cursor = None,
    as_json: AsJson = False,
) -> None:
    """List a user's orders, newest first."""
    with at_work(as_json) as work:
        page = reading.latest(work.table, username, limit=limit, cursor=cursor, status=status)
        work.answer(documents.page(page, order_documents.order_head), _orders)


@app.command("open")
def list_open(
    sent: Annotated[bool, typer.Option("--sent", help="Those that are on their way instead.")] = False,
    limit: Limit = DEFAULT_PAGE,
    cursor: Cursor = None,
    as_json: AsJson = False,
) -> None:
    """List what is still to be sent, oldest first."""
    with at_work(as_json) as work:
        status = OrderStatus.SHIPPED if sent else OrderStatus.PLACED
        page = open_orders.read(work.table, work.now, status=status, limit=limit, cursor=cursor)
        work.answer(documents.page(page, order_documents.order_head), _orders)


@app.command()
def show(order_id: OrderId, as_json: AsJson = False) -> None:
    """Show an order and its items."""
    with at_work(as_json) as work:
        work.answer(order_documents.order(reading.find(work.table, order_id)), views.fields)


@app.command()
def follow(
    order_id: OrderId,
    status: Annotated[OrderStatus, typer.Argument(help="The status that it takes.")],
    as_json: AsJson = False,
) -> None:
    """Send, deliver or cancel an order, and tell its owner."""
    with at_work(as_json) as work:
        order = reading.find(work.table, order_id)
        order = steps.advance(work.table, order, status, work.now, telling=order_news.telling)
        work.answer(order_documents.order(order), views.fields)


def _item(table: Table, text: str) -> dict[str, Any]:
    """An item of an order, of the text DEAL=PIECES. Raises Invalid, NoSuchDeal."""
    name, _, pieces = text.partition("=")
    if not pieces.isdecimal():
        raise Invalid(f"{text} must be a deal and a number of pieces, such as 12=1.")
    deal = deals.find(table, name)
    return {"dealId": deal.deal_id, "quantity": int(pieces), "price": deal.price, "currency": deal.currency}


def _orders(page: Any) -> None:
    show_rows(
        ("number", "order", "owner", "status", "placed", "pieces"),
        [[each[name] for name in SHOWN] for each in page["items"]],
    )
