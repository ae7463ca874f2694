"""Saved deals of the model for NoSQL Workbench (``tools/workbench.py``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from features.saved.data import saved
from shared.dynamodb.table import Table
from shared.models.catalog import Deal
from shared.models.members import User


def happens(table: Table, posted: Sequence[Deal], readers: Mapping[str, User], now: datetime) -> None:
    """Each reader saves a deal."""
    for deal, name in zip(posted, readers, strict=False):
        saved.save(table, deal, name, now)
