"""Votes and scores."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from shared.models.catalog import Deal

HIDDEN = timedelta(minutes=10)
"""How long a new deal's score isn't shown, so that the first votes don't influence the next ones."""

NEWCOMER = timedelta(days=1)
"""How old an account must be for its votes to count: an account made for voting is worth nothing that day."""


class Vote(StrEnum):
    """A reader's opinion of a deal."""

    UP = "up"
    DOWN = "down"


class Scored(NamedTuple):
    """A deal and its score; None before the first counted vote."""

    deal: Deal
    score: int | None

    def shown(self, now: datetime) -> int | None:
        """The displayed score: 0 before the first vote, None while the deal is new."""
        return None if now < self.deal.created_at + HIDDEN else self.score or 0


def as_text(score: int | None) -> str | None:
    """A score as text: ``+12``, ``0``, or with a minus sign; None while it is hidden."""
    if not score:
        return None if score is None else "0"
    return f"+{score:,}" if score > 0 else f"\N{MINUS SIGN}{-score:,}"
