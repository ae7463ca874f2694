"""``btd orders``: patterns 31 to 34."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from cli import views
from cli.inputs import Username
from cli.output import show_rows
from cli.watching import AsJson, Cursor, Limit, at_work
from shared.api import documents
from shared.data.members import messages
from shared.data.orders import orders
from shared.models import OrderStatus

app = typer.Typer(help="Orders: a user's, and what is still to be sent.", no_args_is_help=True)

SHOWN = ("orderId", "username", "status", "placedAt", "pieces")

OrderId = Annotated[str, typer.Argument(metavar="ORDER", help="The order's id.")]


@app.command("list")
def list_orders(
    username: Username,
    status: Annotated[OrderStatus | None, typer.Option(help="Only those of this status, from GSI2.")] = None,
    limit: Limit = 25,
    cursor: Cursor = None,
    as_json: AsJson = False,
) -> None:
    """List a user's orders, newest first (pattern 32)."""
    with at_work(as_json) as work:
        page = orders.latest(work.table, username, limit=limit, cursor=cursor, status=status)
        work.answer(documents.page(page, documents.order_head), _orders)


@app.command("open")
def open_orders(limit: Limit = 25, cursor: Cursor = None, as_json: AsJson = False) -> None:
    """List what is still to be sent, oldest first (pattern 34)."""
    with at_work(as_json) as work:
        page = orders.open_orders(work.table, work.now, limit=limit, cursor=cursor)
        work.answer(documents.page(page, documents.order_head), _orders)


@app.command()
def show(order_id: OrderId, as_json: AsJson = False) -> None:
    """Show an order and its items (pattern 31)."""
    with at_work(as_json) as work:
        work.answer(documents.order(orders.find(work.table, order_id)), views.fields)


@app.command()
def follow(
    order_id: OrderId,
    status: Annotated[OrderStatus, typer.Argument(help="The status that it takes.")],
    as_json: AsJson = False,
) -> None:
    """Send, deliver or cancel an order, and tell its owner (pattern 33)."""
    with at_work(as_json) as work:
        order = orders.find(work.table, order_id)
        now = work.now
        order = orders.follow(work.table, order, status, now, telling=lambda order: messages.telling(order, now))
        work.answer(documents.order(order), views.fields)


def _orders(page: Any) -> None:
    show_rows(
        ("order", "owner", "status", "placed", "pieces"),
        [[each[name] for name in SHOWN] for each in page["items"]],
    )
