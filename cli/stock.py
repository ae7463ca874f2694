"""``btd stock``: how much of a deal is for sale."""

from __future__ import annotations

from typing import Annotated

import typer

from cli import views
from cli.inputs import DealName, deal_id
from cli.work import Work, command, group
from shared.api import order_documents
from shared.data.orders import stock

app = group("stock", "Stock of the deals that the site sells itself.")

Shards = Annotated[int | None, typer.Option(min=1, max=stock.MAX_SHARDS, help="Spread it over so many shards.")]


@command(app)
def add(
    work: Work,
    deal: DealName,
    pieces: Annotated[
        int,
        typer.Argument(min=-stock.MOST, max=stock.MOST, help="How many; after --, a number below zero takes some off."),
    ],
    shards: Shards = None,
) -> views.Json:
    """Put pieces of a deal on sale."""
    found = stock.add(work.table, deal_id(work.table, deal), pieces, work.now, shards=shards)
    return order_documents.stock(found)


@command(app, name="set")
def set_left(
    work: Work,
    deal: DealName,
    left: Annotated[int, typer.Argument(min=0, max=stock.MOST, help="How many are left from now on.")],
    shards: Shards = None,
) -> views.Json:
    """Say how many pieces of a deal are left."""
    found = stock.leave(work.table, deal_id(work.table, deal), left, shards=shards)
    return order_documents.stock(found)


@command(app)
def show(work: Work, deal: DealName) -> views.Json:
    """Show what is left of a deal, by shard, and what is in orders."""
    return order_documents.stock(stock.of(work.table, deal_id(work.table, deal)))
