"""What ``btd check`` reads of drafts."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from features.drafts import data as drafts
from features.drafts.keys import BEGINNING, DRAFT
from shared.data.invariants import Others
from shared.dynamodb.attributes import Item


class Kept(Others):
    """Drafts that one scan has seen."""

    READ: Mapping[str, Callable[[Item], object]] = {DRAFT: drafts.from_item}
    NEEDED = frozenset({BEGINNING})


CHECK = Kept
