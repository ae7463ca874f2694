"""What functions may do with votes and scores."""

from __future__ import annotations

from features.votes.data.keys import SCORE, VOTE
from infra.rights import Access, Right
from shared.data import partitions as p
from shared.dynamodb.schema import GSI1

_VOTES, _SCORES, _POPULAR = p.of(VOTE), p.of(SCORE), p.of(SCORE, GSI1)

_VOTING: Access = (
    # A vote, and when its member's account was made; no other attribute of the account.
    Right(
        "BatchGetItem",
        (_VOTES, p.USER),
        attributes=("Type", "Username", "DealId", "Vote", "Worth", "VotedAt", "CreatedAt"),
    ),
    Right("PutItem", (_VOTES,)),
    Right("DeleteItem", (_VOTES,)),
    Right("UpdateItem", (_VOTES, _SCORES)),
)
_LISTS: Access = (Right("GetItem", (_SCORES,)), Right("Query", (_POPULAR,), GSI1))
_REMOVES: Access = (
    Right("UpdateItem", (_SCORES,)),
    Right("DeleteItem", (_VOTES,)),
    Right("Query", (_VOTES,)),
)

MORE = {
    **dict.fromkeys(("catalog", "site"), _LISTS),
    "members": (*_VOTING, Right("GetItem", (_SCORES,))),
    "mine": (*_VOTING, Right("GetItem", (_VOTES,))),
    **dict.fromkeys(("accounts", "account", "remover"), _REMOVES),
    "refresher": (
        Right("BatchGetItem", (_SCORES,)),
        Right("UpdateItem", (_SCORES,)),
        Right("Query", (_POPULAR,), GSI1),
    ),
}

WORST = {f"{SCORE}.Type": "change scores"}
"""What someone who may write these could do at worst."""

ROUTES = (
    ("catalog", "anyone", "GET /popular"),
    (
        "members",
        "signed in",
        "PUT /deals/{dealId}/vote/up",
        "PUT /deals/{dealId}/vote/down",
        "DELETE /deals/{dealId}/vote",
    ),
)
