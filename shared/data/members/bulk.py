"""Many writes of one kind: a hundred to a transaction, and transactions side by side.

Five thousand messages are 50 transactions instead of 5,000 requests one after the other. Each write has the
same effect however often it is made, so interrupted work is simply repeated, and goes on where it stopped.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from shared.dynamodb.table import Table
from shared.dynamodb.writes import MOST_TOGETHER, Write
from shared.errors import DealsError

SIDE_BY_SIDE = 8
"""Transactions under way at once: as many as keep a function's share of a processor busy."""


def write_all(table: Table, writes: Sequence[Write]) -> int:
    """Make all writes that are not refused; returns how many were made. Raises Busy, and then some were made."""
    batches = [writes[start : start + MOST_TOGETHER] for start in range(0, len(writes), MOST_TOGETHER)]
    made = 0
    for start in range(0, len(batches), SIDE_BY_SIDE):
        together = batches[start : start + SIDE_BY_SIDE]
        made += sum(table.gather([partial(_write_together, table, batch) for batch in together]))
    return made


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
