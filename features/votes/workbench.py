"""Votes of the model for NoSQL Workbench (``tools/workbench.py``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from features.votes.data import votes
from features.votes.models import NEWCOMER, Vote
from shared.dynamodb.table import Table
from shared.models.catalog import Deal
from shared.models.members import User


def happens(table: Table, posted: Sequence[Deal], readers: Mapping[str, User], now: datetime) -> None:
    """Each reader votes on a deal a day after signing up."""
    for number, name in enumerate(readers):
        deal = posted[number + 1]
        votes.vote(table, deal, name, Vote.DOWN if name == "cy" else Vote.UP, now + NEWCOMER)
        votes.file_scores(table, [deal.deal_id], now)
