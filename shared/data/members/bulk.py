"""Many conditional writes to one partition, such as those that mark a user's messages read: 25 to a transaction.

Five thousand messages are 200 transactions instead of 5,000 requests. One goes after the other: a partition takes 1,000
write units a second, a write in a transaction is two of them, and transactions side by side would throttle each other.
They are small because a transaction that is throttled has used its units for nothing. Each write has the same effect
however often it is made, so interrupted work is simply repeated, and goes on where it stopped.

Deletions without a condition go through ``Table.delete_many``, at one unit each.
"""

from __future__ import annotations

from collections.abc import Sequence

from shared.dynamodb.table import Table
from shared.dynamodb.writes import Write
from shared.errors import DealsError

TOGETHER = 25
"""Writes of one transaction."""


def write_all(table: Table, writes: Sequence[Write]) -> int:
    """Make all writes that are not refused; returns how many were made. Raises Busy, and then the first are made."""
    return sum(_write_together(table, writes[start : start + TOGETHER]) for start in range(0, len(writes), TOGETHER))


def _write_together(table: Table, batch: Sequence[Write]) -> int:
    if len(batch) == 1:
        return _write_alone(table, batch[0])
    refusals = tuple({type(write.refused) for write in batch if write.refused is not None})
    try:
        table.transact(*batch)
    except refusals:  # one of them refuses all: each by itself, then
        return sum(_write_alone(table, write) for write in batch)
    return len(batch)


def _write_alone(table: Table, write: Write) -> int:
    try:
        table.write(write)
    except DealsError as error:
        if error is not write.refused:
            raise
        return 0
    return 1
