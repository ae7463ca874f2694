"""What a deal's page shows of its votes."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from features.votes.data.votes import score_of
from features.votes.models import Scored, as_text
from shared.data.catalog.deal_pages import DealPage

ask = score_of


def shown(score: int | None, found: DealPage, now: datetime) -> dict[str, Any]:
    """The page's values."""
    return {"score": as_text(Scored(found.deal, score).shown(now))}
