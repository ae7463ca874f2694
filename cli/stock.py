"""``btd stock``: how much of a deal is for sale."""

from __future__ import annotations

from typing import Annotated

import typer

from cli import views
from cli.inputs import DealName, deal_id
from cli.watching import AsJson, at_work
from shared.api import order_documents
from shared.data.orders import stock

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
