"""What ``btd check`` compares of votes: each deal's score with its votes and its rank."""

from __future__ import annotations

from collections.abc import Mapping

from features.votes.data import votes
from features.votes.data.keys import SCORE, VOTE, score
from shared.data.invariants import Count, Others
from shared.data.keys import id_in
from shared.dynamodb import damage
from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import Key, without_places

SCORES = "scores of deals"


class Scores(Others):
    """Votes and scores that one scan has seen."""

    COUNTS: Mapping[str, str] = {SCORE: SCORES}
    FROM: Mapping[str, frozenset[str]] = {SCORES: frozenset({VOTE})}
    FOLLOW = frozenset({SCORE})

    def counted(self, item: Item, kind: str) -> Count | None:
        """What a vote adds to its deal's score."""
        if kind != VOTE:
            return None
        return Count(SCORE, score(item["DealId"]), "Score", damage.attribute(item, "Worth", int))

    def count_due(self, key: Key, item: Item | None, counted: Mapping[str, int]) -> Item | None:
        """A deal's score; a rank must match it. The stream decides later whether it has a rank."""
        total = counted["Score"]
        if item is None and not total:
            return None  # worthless votes create no score
        deal_id = id_in(key["PK"])
        ranked = votes.place(deal_id, total) if item and "GSI1SK" in item else {}
        own = without_places(item or {})
        return {**(own or {**key, "Type": SCORE, "DealId": deal_id}), "Score": total, **ranked}


CHECK = Scores
