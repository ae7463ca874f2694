"""Clicks of the model for NoSQL Workbench (``tools/workbench.py``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from features.clicks.data import clicks
from shared.dynamodb.table import Table
from shared.models.catalog import Deal
from shared.models.members import User


def happens(table: Table, posted: Sequence[Deal], _readers: Mapping[str, User], now: datetime) -> None:
    """Two readers follow a deal to its shop."""
    for address in ("203.0.113.7", "203.0.113.8"):
        table.write(clicks.noting("big-time-deals", posted[0].deal_id, address, now))
        clicks.count(table, posted[0].deal_id)
