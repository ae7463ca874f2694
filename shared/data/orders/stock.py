"""Stock is put on sale, added and taken off; orders take from it and give it back.

A deal's stock is in shards, one item each. Each item holds at any moment: put on sale = left + in orders that are
not cancelled; every write keeps that, and nothing else is needed for the sum over the shards to hold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime

from shared import settings
from shared.data import item_types, keys
from shared.data.catalog import deals, stock_shown
from shared.data.idempotency import Idempotency, Repeated, earlier_result, receipt
from shared.dynamodb import damage
from shared.dynamodb.attributes import Item
from shared.dynamodb.entities import Entity
from shared.dynamodb.table import Table
from shared.dynamodb.writes import Write, update
from shared.errors import Busy, DealsError, NotSoldHere, NotThatMany
from shared.models.catalog import StockLevel
from shared.models.orders import Shard, Stock

MAX_SHARDS = 16
"""Parts of one deal's stock: 8,000 orders a second, more than any deal has seen."""

MOST = 1_000_000
"""Pieces of one deal that may be left."""


class Short(DealsError):
    """A shard holds too few pieces: read all shards again."""


_SHARD = Entity(Shard)

CROWDED = Busy("Many are ordering this at once; try again.")


def of(table: Table, deal_id: str) -> Stock:
    """A deal's stock, by shard. One consistent Query: 1 RRU. Raises NotSoldHere where there is none."""
    found = find(table, deal_id)
    if found is None:
        raise NotSoldHere(deal_id)
    return found


def find(table: Table, deal_id: str) -> Stock | None:
    """A deal's stock, or None where the site does not sell it. One consistent Query."""
    shards = tuple(sorted(map(_SHARD.read, table.query(keys.stock(deal_id), consistent=True)), key=lambda s: s.number))
    return Stock(deal_id, shards) if shards else None


def settled(table: Table, deal_id: str) -> Stock:
    """A deal's stock as all shards were at one moment: two reads in a row that agree. Raises NotSoldHere, Busy.

    A Query reads item by item, and may miss pieces that move from one shard to another meanwhile.
    """

    def once() -> Stock:
        before, after = of(table, deal_id), of(table, deal_id)
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
    """Put more pieces on sale or, below zero, take some off, spread over ``shards``: as many as before unless told.

    A repeated request with the same ``idempotency`` key adds once. Additions do not look at what is there, so they go
    through in the middle of a rush. Raises NoSuchDeal, NotThatMany, IdempotencyKeyReused.
    """
    deals.get(table, deal_id, consistent=True)

    def once() -> Stock:
        stock = find(table, deal_id) or Stock(deal_id, ())
        if not 0 <= stock.left + pieces <= MOST:
            raise NotThatMany(stock.left, MOST)
        writes = [_move(deal_id, number, by) for number, by in _spread(stock, pieces, shards).items()]
        first = [receipt(idempotency, deal_id, now)] if idempotency else []
        if not writes:
            return stock
        try:
            table.transact(*first, *writes)
        except Repeated:
            assert idempotency  # noqa: S101  # nobody else's receipt was in the transaction
            result_of(table, idempotency)
        return of(table, deal_id)

    return table.retry(once, when=Short, gave_up=CROWDED)


def leave(table: Table, deal_id: str, left: int, *, shards: int | None = None) -> Stock:
    """Set how many pieces are left on sale. Raises NoSuchDeal; Busy in a rush, where ``add`` goes through."""
    deals.get(table, deal_id, consistent=True)

    def once() -> Stock:
        stock = find(table, deal_id) or Stock(deal_id, ())
        changes = _spread(stock, left - stock.left, shards)
        untouched = {shard.number: 0 for shard in stock.shards if shard.number not in changes}
        seen = {shard.number: shard.changes for shard in stock.shards}
        writes = [_move(deal_id, number, by, seen=seen.get(number, 0)) for number, by in (changes | untouched).items()]
        table.transact(*writes)
        return of(table, deal_id)

    return table.retry(once, when=Short, gave_up=CROWDED)


def pool(table: Table, deal_id: str) -> None:
    """Move what is left of a deal into one shard, so that many pieces can be taken by one write."""
    stock = of(table, deal_id)
    moves = _spread(stock, 0, 1)
    if moves:
        table.transact(*(_move(deal_id, number, by) for number, by in moves.items()))


def take(deal_id: str, taken: Mapping[int, int]) -> Iterator[Write]:
    """The writes that take pieces for an order, so many from each shard. Their refusal is ``Short``."""
    for shard, pieces in taken.items():
        yield update(
            keys.stock_shard(deal_id, shard),
            "ADD #left :less, Ordered :pieces, Changes :one",
            condition="#left >= :pieces",
            names={"#left": "Left"},
            values={":less": -pieces, ":pieces": pieces, ":one": 1},
            refused=Short(),
        )


def give_back(taken: Mapping[tuple[str, int], int]) -> Iterator[Write]:
    """The writes that give back what a cancelled order took, by deal and shard."""
    for (deal_id, shard), pieces in taken.items():
        yield update(
            keys.stock_shard(deal_id, shard),
            "ADD #left :pieces, Ordered :less, Changes :one",
            condition="Ordered >= :pieces",
            names={"#left": "Left"},
            values={":less": -pieces, ":pieces": pieces, ":one": 1},
            refused=NotSoldHere(deal_id),
        )


def plan(stock: Stock, pieces: int, chance: float) -> dict[int, int] | None:
    """From which shards to take some pieces: one at random that holds enough, else the fullest ones together.

    ``chance`` is a random number from 0 to below 1. None where all shards together hold too few.
    """
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
    """How much is left, as readers are told."""
    if stock.left == 0:
        return StockLevel.SOLD_OUT
    return StockLevel.LOW if stock.left <= settings.LOW_STOCK else StockLevel.AVAILABLE


def show_level(table: Table, deal_id: str) -> StockLevel | None:
    """Store on a deal how much of it is left now; None where it is not sold here.

    For readers of the stream, which run in parallel and may repeat at any time: after writing, each reads the stock
    once more, so the last one to write has seen the last change.
    """
    while (stock := find(table, deal_id)) is not None:
        if not stock_shown.show(table, deal_id, level(stock), stock.changes):
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


def _move(deal_id: str, shard: int, by: int, *, seen: int | None = None) -> Write:
    """The write that puts pieces into a shard or takes them off; with ``seen`` only after so many changes of it."""
    condition = None
    values: dict[str, object] = {
        ":type": item_types.STOCK,
        ":deal": deal_id,
        ":shard": shard,
        ":by": by,
        ":one": 1,
        ":none": 0,
    }
    if seen is not None:
        condition = "Changes = :seen" if seen else "attribute_not_exists(PK)"
        values |= {":seen": seen} if seen else {}
    elif by < 0:
        condition = "#left >= :needed"
        values[":needed"] = -by
    return update(
        keys.stock_shard(deal_id, shard),
        "SET #type = :type, DealId = :deal, #shard = :shard, Ordered = if_not_exists(Ordered, :none) "
        "ADD #left :by, OnSale :by, Changes :one",
        condition=condition,
        names={"#type": "Type", "#left": "Left", "#shard": "Shard"},
        values=values,
        refused=Short() if condition else None,
    )
