"""Undoing, for ten minutes, that a deal was withdrawn or ended."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from shared.data.catalog import deals
from shared.dynamodb.table import Table
from shared.errors import Busy, EditedMeanwhile, TooLateToUndo
from shared.models.catalog import Deal
from shared.values.times import from_iso, to_iso

WITHIN = timedelta(minutes=10)
"""How long an editor can undo it."""


def undone(deal: Deal, now: datetime) -> dict[str, Any]:
    """The changes that undo a deal's withdrawal or, where it was ended, its end; none after ten minutes."""
    if deal.withdrawn_at is not None:
        return {"withdrawn_at": None} if now - deal.withdrawn_at <= WITHIN else {}
    if deal.ends_at is None or now - deal.ends_at > WITHIN:
        return {}
    ended, _, before = (deal.ended_from or "").partition(" ")
    return {"ends_at": from_iso(before) if before else None} if ended == to_iso(deal.ends_at) else {}


def undo(
    table: Table, deal_id: str, now: datetime, *, by: str | None = None, correlation_id: str | None = None
) -> Deal:
    """Undo that a deal was withdrawn or ended, within ten minutes: it ends when it would have ended, and stands again
    where editors had picked it. What else has been changed since stays. Raises NoSuchDeal, TooLateToUndo."""

    def attempt() -> Deal:
        deal = deals.get(table, deal_id, consistent=True)
        changes = undone(deal, now)
        if not changes:
            raise TooLateToUndo("ten minutes")
        return deals.edit(table, deal_id, changes, now, by=by, correlation_id=correlation_id, version=deal.version)

    return table.retry(attempt, when=EditedMeanwhile, gave_up=Busy("Many are editing this deal at once; try again."))
