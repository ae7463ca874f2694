"""A planned deal of the model for NoSQL Workbench (``tools/workbench.py``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from features.drafts import data as drafts
from features.drafts.data import Draft
from shared.dynamodb.table import Table
from shared.models.catalog import Deal
from shared.models.members import User
from shared.values import identifiers


def happens(table: Table, posted: Sequence[Deal], readers: Mapping[str, User], now: datetime) -> None:
    """An editor plans a deal of the next day."""
    begun = replace(
        posted[0], deal_id=identifiers.derived(now, "draft"), ends_at=None, number=None, version=1, created_at=now
    )
    author = readers["ana"]
    drafts.save_new(table, Draft(begun, author.username, author.account_id, now + timedelta(days=1)), now, None)
