"""A deal's stock level, and the list of deals that are sold here.

The note of a deal's stock is in GSI1 while the deal is listed and has pieces left: a sparse index, so the list reads
only these deals. The stream files the note (``functions/background/refresher.py``). The list's single partition is
written when stock comes or runs out, not with each order.
"""

from __future__ import annotations

from datetime import datetime

from features.shop.data import keys as shop_keys
from features.shop.fields import StockLevel, level_of
from shared.data import keys
from shared.data.catalog import deals
from shared.data.catalog.deals import is_listed
from shared.data.catalog.feed_counts import Stale
from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import GSI1, Key
from shared.dynamodb.table import KEYS_ONLY, Table
from shared.dynamodb.writes import assign, update
from shared.models.catalog import Deal, Listed, Page, Status
from shared.values import identifiers

LEFT = (StockLevel.AVAILABLE, StockLevel.LOW)
"""The levels at which a deal can be bought here."""

_SCOPE = "sold-here"


def show(table: Table, deal_id: str, level: StockLevel, seen: int) -> bool:
    """Store a deal's stock level; returns whether that changed it.

    ``seen`` numbers the stock's state that gave the level: an older one changes nothing. The deal's version stays,
    because an editor who has the deal open has missed nothing.
    """
    try:
        table.write(
            update(
                keys.deal(deal_id),
                "SET Stock = :level, StockSeen = :seen",
                condition="attribute_exists(PK) AND "
                "(attribute_not_exists(Stock) OR (Stock <> :level AND StockSeen < :seen))",
                values={":level": level.value, ":seen": seen},
                refused=Stale(),
            )
        )
    except Stale:
        return False
    return True


def place(deal: Item) -> Key:
    """The key of a stock note in GSI1; empty if the deal can't be bought here."""
    return shop_keys.stock_in_sold_here(keys.id_in(deal["PK"])) if is_listed(deal) and deal.get("Stock") in LEFT else {}


def file(table: Table, deal_id: str) -> None:
    """Add or remove the note of a deal's stock in GSI1.

    Stream readers run in parallel and may repeat: each reads deal and note again after writing, so the last writer has
    seen the last change. One BatchGetItem, or two and an update.
    """
    own, note_of = keys.deal(deal_id), shop_keys.stock(deal_id)
    while True:
        found = {item["PK"]: item for item in table.get_many([own, note_of], consistent=True)}
        note, deal = found.get(note_of["PK"]), found.get(own["PK"])
        due = place(deal) if deal else {}
        if note is None or note.get("GSI1SK") == due.get("GSI1SK"):
            return
        table.write(assign(note_of, due or {"GSI1PK": None, "GSI1SK": None}, refused=Stale()))


def listed(table: Table, now: datetime, *, limit: int, cursor: str | None = None) -> Page[Listed]:
    """``page``, as the API and the site list it."""
    found = page(table, now, limit=limit, cursor=cursor)
    return Page(tuple(map(Listed, found.items)), found.next)


def page(table: Table, now: datetime, *, limit: int, cursor: str | None = None) -> Page[Deal]:
    """A page of the deals that can be bought here, newest first. Raises InvalidCursor.

    One Query of GSI1, then a BatchGetItem of the deals.
    """
    after = None if cursor is None else keys.deal_sort_key(identifiers.read_cursor(_SCOPE, cursor))
    notes = list(
        table.query(
            shop_keys.sold_here(), index=GSI1, after=after, newest_first=True, limit=limit + 1, projection=KEYS_ONLY
        )
    )
    deal_ids = [keys.id_in(note["PK"]) for note in notes]
    found = deals.get_many(table, deal_ids[:limit])
    shown = tuple(deal for deal in found if deal.status(now) is Status.ACTIVE and level_of(deal) in LEFT)
    return Page(shown, identifiers.next_cursor(_SCOPE, deal_ids, limit))
