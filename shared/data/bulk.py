"""Many writes for one account, such as those that mark its messages read: 25 to a transaction, which requires it.

Five thousand messages are 200 transactions instead of 5,000 requests. One goes after the other: a partition takes 1,000
write units a second, a write in a transaction is two of them, and transactions side by side would throttle each other.
They are small because a transaction that is throttled has used its units for nothing. Each write has the same effect
however often it is made, so interrupted work is simply repeated, and goes on where it stopped.
"""

from __future__ import annotations

from collections.abc import Sequence

from shared.data import keys
from shared.dynamodb.schema import Index
from shared.dynamodb.table import KEYS_ONLY, Table
from shared.dynamodb.writes import Write, forget
from shared.errors import DealsError

TOGETHER = 25
"""Writes of one transaction."""


def write_all(table: Table, writes: Sequence[Write], *, required: Write) -> int:
    """Make all writes that are not refused; returns how many were made.

    Raises the error of what is ``required`` of the account, and Busy; then the first are made.
    """
    batches = (writes[start : start + TOGETHER] for start in range(0, len(writes), TOGETHER))
    return sum(_write_together(table, batch, required) for batch in batches)


def forget_found(table: Table, partition: str, most: int, *, index: Index | None = None, required: Write) -> int:
    """Delete what a partition holds, ``most`` items of it; returns how many. Raises as ``write_all`` does."""
    found = list(table.query(partition, index=index, limit=most, projection=KEYS_ONLY, consistent=True))
    gone = "another run of the removal may have been here first"
    return write_all(table, [forget(keys.primary(item), because=gone) for item in found], required=required)


def _write_together(table: Table, batch: Sequence[Write], required: Write) -> int:
    try:
        table.transact(required, *batch)
    except DealsError as error:
        if all(error is not write.refused for write in batch):
            raise
        if len(batch) == 1:
            return 0
        # One of them refuses all: each by itself, then.
        return sum(_write_together(table, [write], required) for write in batch)
    return len(batch)
