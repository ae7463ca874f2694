"""Votes in tests of all features."""

from __future__ import annotations

from datetime import datetime

from features.votes.data import keys, votes
from features.votes.models import NEWCOMER, Vote
from shared.data.partitions import of
from shared.dynamodb.schema import GSI1
from shared.dynamodb.table import Table
from shared.dynamodb.writes import forget, update
from shared.models.catalog import Deal
from tests.support.factories import NOW

DEAL_ID = "0ujtsYcg"


def own(table: Table, deal: Deal, username: str, now: datetime) -> None:
    """A member votes on a deal, a day later if the account is too young; the stream ranks the deal."""
    if not votes.vote(table, deal, username, Vote.UP, now):
        votes.vote(table, deal, username, Vote.UP, now + NEWCOMER)
    votes.file_scores(table, [deal.deal_id], now)


OWNS = (own,)

GOLDEN = (
    (keys.vote, ("ana", DEAL_ID), {"PK": "VOTES#ana", "SK": "DEAL#0ujtsYcg"}),
    (keys.votes_by, ("ana",), "VOTES#ana"),
    (keys.score, (DEAL_ID,), {"PK": "SCORE#0ujtsYcg", "SK": "SCORE#0ujtsYcg"}),
    (keys.popular, ("2026-06-01",), "POPULAR#2026-06-01T00:00:00"),
    (
        keys.score_in_popular,
        (DEAL_ID, "2026-06-01", -176_000_000),
        {"GSI1PK": "POPULAR#2026-06-01T00:00:00", "GSI1SK": "0824000000#0ujtsYcg"},
    ),
)

DAMAGES = {
    "a score is miscounted": (
        "scores of deals",
        lambda lamp: update(
            keys.score(lamp.deal_id), "SET Score = :wrong", condition=None, values={":wrong": 7}, refused=None
        ),
    ),
    "a score is gone": (
        "scores of deals",
        lambda lamp: forget(keys.score(lamp.deal_id), because="this is the damage"),
    ),
}

LATE = {
    "vote": lambda table, deal, account: votes.vote(table, deal, "ana", Vote.DOWN, NOW, account),
    "take vote back": lambda table, deal, account: votes.vote(table, deal, "ana", None, NOW, account),
}
UNDOES = {"take vote back": "vote"}

_VOTE, _SCORE = keys.vote("ana", DEAL_ID)["PK"], keys.score(DEAL_ID)["PK"]
_REMOVERS = "accounts account remover"

RIGHTS = (
    # Votes are written for members, scores by those and by who ranks them.
    (("PutItem",), _VOTE, "", "members mine"),
    (("DeleteItem",), _VOTE, "", f"members mine {_REMOVERS}"),
    (("Query",), _VOTE, "", _REMOVERS),
    (("UpdateItem", "PutItem", "DeleteItem"), _SCORE, "", f"members mine refresher {_REMOVERS}"),
)

PUBLIC = (("", of(keys.SCORE)), (GSI1.name, of(keys.SCORE, GSI1)))
