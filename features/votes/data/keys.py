"""The keys of votes and scores."""

from __future__ import annotations

from shared.data.keys import Item, Text
from shared.dynamodb.schema import Key

VOTE = "Vote"
SCORE = "Score"

vote = Item[str, str](PK="VOTES#{username}", SK="DEAL#{deal_id}")
votes_by = Text[str]("VOTES#{username}")
score = Item[str]("SCORE#{deal_id}")
"""The sum of a deal's votes and, while the deal is listed, its rank in the list of popular deals."""
popular = Text[str]("POPULAR#{month}T00:00:00")
"""In GSI1: the scores of a month's listed deals. ``month`` is a date like ``2026-06-01``."""
ranked_score = Item[str, str, str](GSI1PK="POPULAR#{month}T00:00:00", GSI1SK="{rank}#{deal_id}")


def score_in_popular(deal_id: str, month: str, rank: int) -> Key:
    """The index key that ranks a deal's score within a month."""
    # The ranks of deals from before 2020 are negative, and as texts they would sort backward.
    return ranked_score(month, f"{rank + 1_000_000_000:010d}", deal_id)
