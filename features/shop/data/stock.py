"""Stock: put on sale, increased and reduced by editors, taken and given back by orders.

A deal's stock is in shards, each an item in its own partition, so that more shards take more orders a second. In each
shard, put on sale = left + in orders that aren't cancelled; every write keeps this equation, and so it holds for their
sum. A note has the number of shards; buyers read it, only editors write it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime

from features.shop.data import keys as shop_keys
from features.shop.data import sold_here
from features.shop.fields import StockLevel
from features.shop.models import OrderItem, Shard, Stock
from shared.data.catalog import deals
from shared.data.idempotency import Idempotency, Repeated, earlier_result, receipt
from shared.dynamodb import damage
from shared.dynamodb.attributes import Entity
from shared.dynamodb.table import Table
from shared.dynamodb.writes import Write, update
from shared.errors import Busy, Conflict, DealsError

MAX_SHARDS = 16
"""Shards of one deal's stock: each takes 1,000 write units a second, which are 500 orders."""

MOST = 1_000_000
"""The most pieces of one deal."""

LOW = 5
"""From this many pieces down, a deal says that few are left."""


class NotSoldHere(Conflict):
    plain = "This deal is not sold here: go to its shop."
    text = "The deal {!r} is not sold here: go to its shop."


class NotThatMany(Conflict):
    field = "add"

    def __init__(self, left: int, most: int) -> None:
        super().__init__(f"{left:,} are on sale: take off at most {left:,}, or add at most {most - left:,}.")


class Short(DealsError):
    """A shard has too few pieces: read all shards again."""


_SHARD = Entity(Shard)

CROWDED = Busy("Many are ordering this at once; try again.")


def of(table: Table, deal_id: str) -> Stock:
    """A deal's stock by shard, from consistent reads. Raises NotSoldHere."""
    found = find(table, deal_id)
    if found is None:
        raise NotSoldHere(deal_id)
    return found


def find(table: Table, deal_id: str) -> Stock | None:
    """A deal's stock, or None if the site doesn't sell it, from consistent reads."""
    return find_many(table, [deal_id], consistent=True).get(deal_id)


def find_many(table: Table, deal_ids: Sequence[str], *, consistent: bool = False) -> dict[str, Stock]:
    """The stock of the deals that the site sells, by id. Two BatchGetItems: the notes, then all shards."""
    wanted = [shop_keys.stock(deal_id) for deal_id in deal_ids]
    notes = {note["PK"]: note for note in table.get_many(wanted, consistent=consistent)}
    noted = {  # a damaged note means all possible shards
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
    """A deal's stock with all shards of one moment, or None: reads until two in a row agree. Raises Busy.

    A BatchGetItem reads item by item, and may miss pieces that move between shards meanwhile.
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
    """Add pieces, or remove them (below zero), spread over ``shards``: as many as before by default.

    Additions succeed even during a rush. Raises NoSuchDeal, NotThatMany, IdempotencyKeyReused.
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
    """Set the number of pieces left. Raises NoSuchDeal; Busy in a rush, in which ``add`` succeeds."""
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
    """Move a deal's stock into one shard, so that one write can take many pieces."""
    stock = of(table, deal_id)
    moves = _spread(stock, 0, 1)
    if moves:
        table.transact(*(_move(deal_id, number, by) for number, by in moves.items()))


def take(items: Iterable[OrderItem]) -> list[Write]:
    """The writes that take order items' pieces from the shards that they name. Refused with ``Short``."""
    enough = "#left >= :more"
    return [_order(item.deal_id, shard, n, enough, Short()) for item in items for shard, n in item.shards.items()]


def give_back(items: Iterable[OrderItem]) -> list[Write]:
    """The writes that give order items' pieces back to their shards. Refused with NotSoldHere."""
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
    """The shards to take pieces from: a random one that has enough, else the fullest ones, or None."""
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
    """The stock level that readers see."""
    if stock.left == 0:
        return StockLevel.SOLD_OUT
    return StockLevel.LOW if stock.left <= LOW else StockLevel.AVAILABLE


def show_level(table: Table, deal_id: str) -> StockLevel | None:
    """Store a deal's current stock level on it; None if it isn't sold here.

    Stream readers run in parallel and may repeat: each reads the stock again after writing, so the last writer has seen
    the last change.
    """
    while (stock := find(table, deal_id)) is not None:
        if not sold_here.show(table, deal_id, level(stock), stock.changes):
            return level(stock)
    return None


def _spread(stock: Stock, pieces: int, shards: int | None) -> dict[int, int]:
    """The change of each shard when pieces are added or removed, so that stock is spread evenly.

    Adding to the same number of shards takes from none, so it conflicts with no order.
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
    """The write of the number of shards, if it is unchanged since it was read."""
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
    """Add pieces to a shard or take some; with ``seen``, only if that is the shard's number of changes."""
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
