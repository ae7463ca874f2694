"""The function that counts clicks, and the desk's right to read them."""

from __future__ import annotations

from features.clicks.data.keys import CLICKS, COUNTED_CLICK
from infra.rights import Access, Right
from infra.rows import Function
from shared.data import partitions as p
from shared.dynamodb.schema import TTL_ATTRIBUTE

_CLICKS: Access = (
    Right("GetItem", (p.DEAL, p.DEAL_NUMBER)),
    Right("UpdateItem", (p.of(CLICKS),)),
    Right("PutItem", (p.of(COUNTED_CLICK),), attributes=("Type", TTL_ATTRIBUTE)),
)
"""Only this function writes the notes of readers who clicked, with no other attributes; no function reads them."""

FUNCTIONS = (Function(name="clicks", access=_CLICKS, pages="/go"),)

MORE = {"desk": (Right("BatchGetItem", (p.of(CLICKS),)),)}


WORST = {f"{CLICKS}.Type": "count clicks"}
"""What someone who may write these could do at worst."""
