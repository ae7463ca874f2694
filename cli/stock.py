"""``btd stock``: how much of a deal is for sale, and whether the sums are right."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

import typer

from cli import views
from cli.inputs import DealName, deal_id
from cli.output import complain
from cli.watching import AsJson, at_work
from shared.api import order_documents
from shared.data import item_types
from shared.data.orders import stock
from shared.models.orders import OrderStatus

app = typer.Typer(help="Stock of the deals that the site sells itself.", no_args_is_help=True)

Shards = Annotated[int | None, typer.Option(min=1, max=stock.MAX_SHARDS, help="Spread it over so many shards.")]


@app.command()
def add(
    deal: DealName,
    pieces: Annotated[
        int,
        typer.Argument(min=-stock.MOST, max=stock.MOST, help="How many; after --, a number below zero takes some off."),
    ],
    shards: Shards = None,
    as_json: AsJson = False,
) -> None:
    """Put pieces of a deal on sale."""
    with at_work(as_json) as work:
        found = stock.add(work.table, deal_id(work.table, deal), pieces, work.now, shards=shards)
        work.answer(order_documents.stock(found), views.fields)


@app.command("set")
def set_left(
    deal: DealName,
    left: Annotated[int, typer.Argument(min=0, max=stock.MOST, help="How many are left from now on.")],
    shards: Shards = None,
    as_json: AsJson = False,
) -> None:
    """Say how many pieces of a deal are left."""
    with at_work(as_json) as work:
        found = stock.leave(work.table, deal_id(work.table, deal), left, shards=shards)
        work.answer(order_documents.stock(found), views.fields)


@app.command()
def show(deal: DealName, as_json: AsJson = False) -> None:
    """Show what is left of a deal, by shard, and what is in orders."""
    with at_work(as_json) as work:
        work.answer(order_documents.stock(stock.of(work.table, deal_id(work.table, deal))), views.fields)


@app.command()
def check(deal: DealName, as_json: AsJson = False) -> None:
    """Hold a deal's stock against its orders: on sale = left + in orders not cancelled. Reads the whole table.

    Orders that were sent go with their accounts when these are removed; what they took stays ordered.
    """
    with at_work(as_json) as work:
        found = stock.of(work.table, deal_id(work.table, deal))
        items: Counter[str] = Counter()
        cancelled: set[str] = set()
        start = None
        while True:
            page, start = work.table.scan(start=start)
            for item in page:
                if item.get("Type") == item_types.ORDER_ITEM and item["DealId"] == found.deal_id:
                    items[item["OrderId"]] += item["Quantity"]
                if item.get("Type") == item_types.ORDER and item["Status"] == OrderStatus.CANCELLED:
                    cancelled.add(item["OrderId"])
            if start is None:
                break
        in_orders = sum(pieces for order, pieces in items.items() if order not in cancelled)
        right = found.on_sale == found.left + found.ordered and in_orders <= found.ordered
        work.answer(
            {
                "onSale": found.on_sale,
                "left": found.left,
                "ordered": found.ordered,
                "inOrders": in_orders,
                "goneWithAccounts": found.ordered - in_orders,
                "right": right,
            },
            views.fields,
        )
    if not right:
        complain(
            "The sums do not add up. Orders that went with their accounts count as ordered and are no longer there."
        )
        raise typer.Exit(1)
