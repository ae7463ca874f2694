"""``btd rush``: many buyers at once on one deal of the local cloud, and whether its stock is right afterwards."""

from __future__ import annotations

import random
import secrets
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Annotated
from urllib.parse import urlsplit

import typer

from cli import views
from cli.connection import open_table
from cli.inputs import DealName, deal_id
from cli.output import note, show_json
from cli.work import AsJson
from shared.data.catalog import deals
from shared.data.idempotency import Idempotency
from shared.data.members import users
from shared.data.orders import addresses, placing, stock
from shared.dynamodb.table import Table
from shared.dynamodb.tracing import Trace
from shared.errors import Busy, CannotOrder, DealsError, Forbidden
from shared.models.members import Address, User
from shared.models.orders import Wanted
from shared.values import times

MOST = 500
"""Buyers of one rush: the local cloud is this machine's."""

AT_ONCE = 40
"""Buyers whose orders are under way together."""

HERE = ("127.0.0.1", "localhost", "::1")


def rush(
    deal: DealName,
    buyers: Annotated[int, typer.Option(min=1, max=MOST, help="How many order a piece each, all at once.")] = 40,
    as_json: AsJson = False,
) -> None:
    """Have many buyers order a deal at once, on the local cloud only; their accounts and orders stay there."""
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
    # The pieces ordered are the pieces taken, and nothing else has changed.
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
        views.fields(document)
    if not right:
        wrong = "another order or stock change came in between, or the stock is wrong"
        raise DealsError(f"The sums do not add up: {wrong}.")


def _join(table: Table, name: str) -> User:
    """Make a buyer with an address, as which nobody can sign in."""
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
