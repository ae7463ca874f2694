"""The stock of the local cloud's sample."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import cycle

from features.shop.data import stock
from shared.dynamodb.table import Table

ON_SALE = (40, 12, 3, 1)
"""Pieces of the first deals on the sample's front page."""

ALSO_SOLD = 20
"""The number of other newest deals, whose pieces alternate."""


def plant(table: Table, front: Sequence[str], newest: Sequence[str], now: datetime) -> None:
    """Put the front page's first deals, and some of the newest, on sale; both are given by id."""
    also = [each for each in newest if each not in front[: len(ON_SALE)]][:ALSO_SOLD]
    for sold, pieces in (*zip(front, ON_SALE, strict=False), *zip(also, cycle(ON_SALE))):
        stock.add(table, sold, pieces, now)
