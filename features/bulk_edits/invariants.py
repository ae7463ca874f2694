"""What ``btd check`` reads of bulk edits."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from features.bulk_edits import data
from features.bulk_edits.keys import BULK_EDIT
from shared.data.invariants import Others
from shared.dynamodb.attributes import Item


class Kept(Others):
    """Bulk edits that one scan has seen."""

    READ: Mapping[str, Callable[[Item], object]] = {BULK_EDIT: data.from_item}


CHECK = Kept
