"""Votes as the API's answers."""

from __future__ import annotations

from features.votes.models import Vote
from shared.api.documents import Json


def vote(given: Vote | None, score: int | None, *, counts: bool) -> Json:
    """A member's vote, the deal's score, and whether the vote counts."""
    return {"vote": given and given.value, "counts": counts, "score": score}
