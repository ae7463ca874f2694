"""Votes of a new local cloud's sample."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime

from features.votes.data import votes
from features.votes.models import HIDDEN
from shared.data.catalog import deals
from shared.data.members import users
from shared.dynamodb.table import Table
from shared.errors import UsernameTaken
from shared.models.members import User
from shared.values.passwords import hash_password

VOTED = 40
"""Deals with votes: those with the largest discounts, the first the most."""

READERS = "readers"
"""The account whose votes stand for many. Its password is unknown."""


def plant(table: Table, _front: Sequence[str], newest: Sequence[str], now: datetime) -> None:
    """Vote on the sample's active deals with the largest discounts, on one of each product."""
    oldest_first = reversed(deals.get_many(table, list(newest)))
    best = sorted(oldest_first, key=lambda deal: deal.discount_percent or 0, reverse=True)
    products = {(deal.brand, deal.title): deal.deal_id for deal in reversed(best) if deal.created_at < now - HIDDEN}
    voted = list(reversed(products.values()))[:VOTED]
    with suppress(UsernameTaken):
        password_hash = hash_password(secrets.token_urlsafe(12))
        users.create(table, User(READERS, f"{READERS}@example.com", "Readers", password_hash, "member", now))
    for place, deal_id in enumerate(voted):
        votes.plant(table, deal_id, READERS, 3 * (VOTED - place) + place % 3, now)
    votes.file_scores(table, voted, now)
