"""What functions may do with bulk edits."""

from __future__ import annotations

from features.bulk_edits.keys import BULK_EDIT, UNFINISHED
from infra.rights import Access, Right
from shared.data import partitions as p

_EDITS, _NOTES = p.of(BULK_EDIT), p.of(UNFINISHED)

_WALKS: Access = (
    Right("GetItem", (_EDITS,)),
    Right("BatchGetItem", (p.DEAL,)),
    Right("UpdateItem", (_EDITS,)),
    Right("DeleteItem", (_NOTES,)),
)
_BEGINS: Access = (
    Right("PutItem", (_EDITS, _NOTES)),
    Right("ConditionCheckItem", (p.ACCOUNT,)),
    Right("Query", (_EDITS,)),
)
_GOES_ON: Access = (
    Right("GetItem", (p.BRAND_ITEM,)),
    Right("ConditionCheckItem", (p.USER,), attributes=("AccountId", "Role")),
    Right("Query", (_NOTES,)),
)
"""The clock goes on with edits whose author is still an editor."""

_REMOVES: Access = (Right("DeleteItem", (_EDITS, _NOTES)), Right("Query", (_EDITS,)))

MORE = {
    "desk": (*_WALKS, *_BEGINS),
    "expiry": (*_WALKS, *_GOES_ON),
    **dict.fromkeys(("accounts", "account", "remover"), _REMOVES),
}

WORST = {f"{BULK_EDIT}.Type": "end and move deals in an editor's name"}
"""What someone who may write these could do at worst."""
