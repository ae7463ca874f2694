"""What functions may do with drafts."""

from __future__ import annotations

from features.drafts.keys import BEGINNING, DRAFT
from infra.rights import Access, Right
from shared.data import partitions as p

_DRAFTS, _BEGINNINGS = p.of(DRAFT), p.of(BEGINNING)

_KEEPS: Access = (
    Right("GetItem", (_DRAFTS,)),
    Right("PutItem", (_DRAFTS, _BEGINNINGS)),
    Right("DeleteItem", (_DRAFTS, _BEGINNINGS)),
    Right("ConditionCheckItem", (p.ACCOUNT,)),
    Right("Query", (_DRAFTS,)),
)
_REMOVES: Access = (Right("DeleteItem", (_DRAFTS, _BEGINNINGS)), Right("Query", (_DRAFTS,)))
_POSTS: Access = (
    Right("GetItem", (_DRAFTS, p.BRAND_ITEM, p.IDEMPOTENCY)),
    Right("ConditionCheckItem", (p.USER,), attributes=("AccountId", "Role")),
    Right("PutItem", (p.DEAL, p.DEAL_NUMBER, p.IDEMPOTENCY)),
    Right("UpdateItem", (p.SEQUENCES, _DRAFTS)),
    Right("DeleteItem", (_DRAFTS, _BEGINNINGS)),
    Right("Query", (_BEGINNINGS,)),
)
"""The clock posts due drafts, if their author is still an editor."""

MORE = {
    **dict.fromkeys(("editors", "desk"), _KEEPS),
    **dict.fromkeys(("accounts", "account", "remover"), _REMOVES),
    "expiry": _POSTS,
}

ROUTES = (("editors", "signed in", "GET,POST /me/drafts", "GET,PUT,POST,DELETE /me/drafts/{draftId}"),)


WORST = {f"{DRAFT}.Type": "plan deals in an editor's name"}
"""What someone who may write these could do at worst."""
