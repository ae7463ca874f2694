"""Stock is put on sale, added and taken off; orders take from it and give it back.

A deal's stock is in shards, one item each, and each in a partition of its own, so that more shards take more orders a
second. Each holds at any moment: put on sale = left + in orders that are not cancelled; every write keeps that, and
nothing else is needed for the sum over the shards to hold. A note says how many shards there are; buyers read it, and
only editors write it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime

from shared.data.catalog import deals
from shared.data.idempotency import Idempotency, Repeated, earlier_result, receipt
from shared.data.orders import keys as shop_keys
from shared.data.orders import sold_here
from shared.dynamodb import damage
from shared.dynamodb.attributes import Entity
from shared.dynamodb.table import Table
from shared.dynamodb.writes import Write, update
from shared.errors import Busy, Conflict, DealsError
from shared.models.catalog import StockLevel
from shared.models.orders import OrderItem, Shard, Stock

MAX_SHARDS = 16
"""Parts of one deal's stock: each takes 1,000 write units a second, which are 500 orders."""

MOST = 1_000_000
"""Pieces of one deal that may be left."""

LOW = 5
"""Pieces left at which a deal says that few are left."""


class NotSoldHere(Conflict):
    plain = "This deal is not sold here: go to its shop."
    text = "The deal {!r} is not sold here: go to its shop."


class NotThatMany(Conflict):
    field = "add"

    def __init__(self, left: int, most: int) -> None:
        super().__init__(f"{left:,} are on sale: at most {left:,} can be taken off, and {most - left:,} added.")


class Short(DealsError):
    """A shard holds too few pieces: read all shards again."""


_SHARD = Entity(Shard)

CROWDED = Busy("Many are ordering this at once; try again.")


def of(table: Table, deal_id: str) -> Stock:
    """A deal's stock, by shard, read consistently. Raises NotSoldHere where there is none."""
    found = find(table, deal_id)
    if found is None:
        raise NotSoldHere(deal_id)
    return found


def find(table: Table, deal_id: str) -> Stock | None:
    """A deal's stock, or None where the site does not sell it, read consistently."""
    return find_many(table, [deal_id], consistent=True).get(deal_id)


def find_many(table: Table, deal_ids: Sequence[str], *, consistent: bool = False) -> dict[str, Stock]:
    """The stock of those deals that the site sells, by id. Two BatchGetItems: the notes, then all shards of all."""
    wanted = [shop_keys.stock(deal_id) for deal_id in deal_ids]
    notes = {note["PK"]: note for note in table.get_many(wanted, consistent=consistent)}
    noted = {  # of a damaged note, all shards that there may be
        deal_id: damage.attribute_or(notes[place], "Shards", int, MAX_SHARDS)
        for deal_id in deal_ids
        if (place := shop_keys.stock(deal_id)["PK"]) in notes
    }
    places = {deal_id: [shop_keys.stock_shard(deal_id, n + 1) for n in range(noted[deal_id])] for deal_id in noted}
    items = table.get_many([key for of_deal in places.values() for key in of_deal], consistent=consistent)
    found = {item["PK"]: item for item in items}
    stocks = {}
    for deal_id, of_deal in places.items():
        shards = damage.readable([found[key["PK"]] for key in of_deal if key["PK"] in found], _SHARD.read)
        if shards:
            stocks[deal_id] = Stock(deal_id, tuple(shards), noted[deal_id])
    return stocks


def settled(table: Table, deal_id: str) -> Stock | None:
    """A deal's stock as all shards were at one moment, or None: two reads in a row that agree. Raises Busy.

    A BatchGetItem reads item by item, and may miss pieces that move from one shard to another meanwhile.
    """

    def once() -> Stock | None:
        before, after = find(table, deal_id), find(table, deal_id)
        if after != before:
            raise Short
        return after

    return table.retry(once, when=Short, gave_up=CROWDED)


def add(
    table: Table,
    deal_id: str,
    pieces: int,
    now: datetime,
    *,
    shards: int | None = None,
    idempotency: Idempotency | None = None,
) -> Stock:
    """Put more pieces on sale or, below zero, take some off, spread over ``shards``: as many as before by default.

    Additions go through in the middle of a rush. Raises NoSuchDeal, NotThatMany, IdempotencyKeyReused.
    """
    deals.get(table, deal_id, consistent=True)

    def once() -> Stock:
        if earlier_result(table, idempotency, now):
            return of(table, deal_id)
        stock = find(table, deal_id) or Stock(deal_id, ())
        if not 0 <= stock.left + pieces <= MOST:
            raise NotThatMany(stock.left, MOST)
        changes = _spread(stock, pieces, shards)
        if not changes:
            return stock
        note = [_note(stock, max(changes))] if max(changes) > stock.noted else []
        once_only = [receipt(idempotency, deal_id, now)] if idempotency else []
        table.transact(*once_only, *(_move(deal_id, number, by) for number, by in changes.items()), *note)
        return of(table, deal_id)

    return table.retry(once, when=(Short, Repeated), gave_up=CROWDED)


def leave(table: Table, deal_id: str, left: int, *, shards: int | None = None) -> Stock:
    """Set how many pieces are left on sale. Raises NoSuchDeal; Busy in a rush, where ``add`` goes through."""
    deals.get(table, deal_id, consistent=True)

    def once() -> Stock:
        stock = find(table, deal_id) or Stock(deal_id, ())
        changes = {shard.number: 0 for shard in stock.shards} | _spread(stock, left - stock.left, shards)
        seen = {shard.number: shard.changes for shard in stock.shards}
        moves = [_move(deal_id, number, by, seen=seen.get(number, 0)) for number, by in changes.items()]
        table.transact(_note(stock, max(changes)), *moves)
        return of(table, deal_id)

    return table.retry(once, when=Short, gave_up=CROWDED)


def pool(table: Table, deal_id: str) -> None:
    """Move what is left of a deal into one shard, so that many pieces can be taken by one write."""
    stock = of(table, deal_id)
    moves = _spread(stock, 0, 1)
    if moves:
        table.transact(*(_move(deal_id, number, by) for number, by in moves.items()))


def take(items: Iterable[OrderItem]) -> list[Write]:
    """The writes that take the pieces of an order's items from the shards that they name. Refused with ``Short``."""
    enough = "#left >= :more"
    return [_order(item.deal_id, shard, n, enough, Short()) for item in items for shard, n in item.shards.items()]


def give_back(items: Iterable[OrderItem]) -> list[Write]:
    """The writes that give the pieces of an order's items back to their shards. Refused with NotSoldHere."""
    sold = "Ordered >= :less"
    return [_order(i.deal_id, shard, -n, sold, NotSoldHere(i.deal_id)) for i in items for shard, n in i.shards.items()]


def _order(deal_id: str, shard: int, pieces: int, condition: str, refused: DealsError) -> Write:
    return update(
        shop_keys.stock_shard(deal_id, shard),
        "ADD #left :less, Ordered :more, Changes :one",
        condition=condition,
        names={"#left": "Left"},
        values={":more": pieces, ":less": -pieces, ":one": 1},
        refused=refused,
    )


def plan(stock: Stock, pieces: int, chance: float) -> dict[int, int] | None:
    """From which shards to take pieces: from one, by ``chance``, that holds enough, else from the fullest; or None."""
    enough = [shard.number for shard in stock.shards if shard.left >= pieces]
    if enough:
        return {enough[int(chance * len(enough))]: pieces}
    if stock.left < pieces:
        return None
    taken: dict[int, int] = {}
    for shard in sorted(stock.shards, key=lambda shard: shard.left, reverse=True):
        part = min(shard.left, pieces - sum(taken.values()))
        if part:
            taken[shard.number] = part
    return taken


def level(stock: Stock) -> StockLevel:
    """How much is left, as readers see it."""
    if stock.left == 0:
        return StockLevel.SOLD_OUT
    return StockLevel.LOW if stock.left <= LOW else StockLevel.AVAILABLE


def show_level(table: Table, deal_id: str) -> StockLevel | None:
    """Store on a deal how much of it is left now; None where it is not sold here.

    For readers of the stream, which run in parallel and may repeat at any time: after writing, each reads the stock
    once more, so the last one to write has seen the last change.
    """
    while (stock := find(table, deal_id)) is not None:
        if not sold_here.show(table, deal_id, level(stock), stock.changes):
            return level(stock)
    return None


def _spread(stock: Stock, pieces: int, shards: int | None) -> dict[int, int]:
    """By how much each shard changes when some pieces come or go, and what there is then is spread evenly.

    Adding to the same number of shards takes nothing from any of them, so no buyer's order conflicts with it.
    """
    left = {shard.number: shard.left for shard in stock.shards}
    number = shards or max(1, len(left))
    if pieces >= 0 and shards is None:
        even = _evenly(pieces, number)
        return {shard: by for shard, by in even.items() if by or not left}
    wanted = Counter(_evenly(stock.left + pieces, number))
    every = left.keys() | wanted.keys()
    changes = {shard: wanted[shard] - left.get(shard, 0) for shard in sorted(every)}
    return {shard: by for shard, by in changes.items() if by or shard not in left}


def _evenly(pieces: int, shards: int) -> dict[int, int]:
    each, more = divmod(pieces, shards)
    return {shard: each + (shard <= more) for shard in range(1, shards + 1)}


def _note(stock: Stock, shards: int) -> Write:
    """The write that notes how many shards a stock is in, if the number has not changed since it was read."""
    return update(
        shop_keys.stock(stock.deal_id),
        "SET #type = :type, DealId = :deal, Shards = :shards",
        condition="Shards = :seen OR NOT attribute_type(Shards, :number)",  # the first note, or a damaged one
        names={"#type": "Type"},
        values={
            ":type": shop_keys.STOCK_NOTE,
            ":deal": stock.deal_id,
            ":shards": max(shards, stock.noted),
            ":seen": stock.noted,
            ":number": "N",
        },
        refused=Short(),
    )


def _move(deal_id: str, shard: int, by: int, *, seen: int | None = None) -> Write:
    """The write that puts pieces into a shard or takes them off; with ``seen`` only after so many changes of it."""
    condition, values = None, {":type": shop_keys.STOCK, ":deal": deal_id, ":shard": shard, ":by": by}
    if seen is not None:
        condition = "Changes = :seen" if seen else "attribute_not_exists(PK)"
        values |= {":seen": seen} if seen else {}
    elif by < 0:
        condition = "#left >= :needed"
        values[":needed"] = -by
    return update(
        shop_keys.stock_shard(deal_id, shard),
        "SET #type = :type, DealId = :deal, #shard = :shard, Ordered = if_not_exists(Ordered, :none) "
        "ADD #left :by, OnSale :by, Changes :one",
        condition=condition,
        names={"#type": "Type", "#left": "Left", "#shard": "Shard"},
        values={**values, ":one": 1, ":none": 0},
        refused=Short() if condition else None,
    )
