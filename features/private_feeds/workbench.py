"""Private feeds of the model for NoSQL Workbench (``tools/workbench.py``)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime

from features.private_feeds.data import feed_keys
from shared.dynamodb.table import Table
from shared.models.catalog import Deal
from shared.models.members import User


def happens(table: Table, _posted: Sequence[Deal], readers: Mapping[str, User], now: datetime) -> None:
    """Each reader makes a feed."""
    for name, reader in readers.items():
        feed_keys.make(table, name, reader.account_id, now, hashlib.sha256(name.encode()).digest())
