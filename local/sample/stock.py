"""The stock of the sample's deals: the site itself sells some of them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import cycle

from shared.data.orders import stock
from shared.dynamodb.table import Table

ON_SALE = (40, 12, 3, 1)
"""Pieces of the front page's first deals."""

ALSO_SOLD = 20
"""Deals among the newest, as many pieces of each by turns."""


def plant(table: Table, front: Sequence[str], newest: Sequence[str], now: datetime) -> None:
    """Put the first deals of the front page on sale, and some of the newest; both are named by their ids."""
    for deal_id, pieces in zip(front, ON_SALE, strict=False):
        stock.add(table, deal_id, pieces, now)
    also = [each for each in newest if each not in front[: len(ON_SALE)]][:ALSO_SOLD]
    for deal_id, pieces in zip(also, cycle(ON_SALE)):
        stock.add(table, deal_id, pieces, now)
