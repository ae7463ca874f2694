"""How much of a deal is left, as the deal itself shows it."""

from __future__ import annotations

from shared.data import keys
from shared.data.catalog.feed_counts import Stale
from shared.dynamodb.table import Table
from shared.dynamodb.writes import update
from shared.models.catalog import StockLevel


def show(table: Table, deal_id: str, level: StockLevel, seen: int) -> bool:
    """Store on a deal how much of it is left; returns whether that changed it.

    ``seen`` numbers the state of the stock that the level was read from: an older one changes nothing. The deal's
    version stays, because an editor who has the deal open has missed nothing.
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
