"""Bulk writes: batches of new items, transactions of many writes for one account, and grouping of writes.

Inserts go 25 to a request, several requests in parallel; existing items stay. Writes for an account go 25 to a
transaction that requires the account, one after the other: five thousand messages take 200 transactions instead of
5,000 requests. In parallel they would throttle each other, since a partition takes 1,000 write units a second and a
transactional write is two. They are small because a throttled transaction has consumed its units for nothing. Repeating
a write changes nothing, so interrupted work is simply repeated, and continues where it stopped.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import partial
from typing import TypeVar

from shared import settings
from shared.data import keys
from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import Index
from shared.dynamodb.table import KEYS_ONLY, MAX_BATCH_WRITES, Table
from shared.dynamodb.writes import MOST_TOGETHER, Write, forget
from shared.errors import Busy, DealsError, Unavailable

T = TypeVar("T")

_RETRIED = {
    "ThrottlingError", "ProvisionedThroughputExceeded", "RequestLimitExceeded", "InternalServerError",
    "TransactionConflict",
}  # fmt: skip


class _Throttled(Exception):  # not an error, but a reason to retry
    """DynamoDB left some items of successful requests unprocessed."""


def insert(table: Table, items: Sequence[Item]) -> int:
    """Insert items that don't exist yet; returns how many were new.

    Raises Busy if items, or whole requests, were throttled for too long; then some weren't inserted.
    """
    pending = list(items)
    written = 0

    def once() -> None:
        nonlocal pending, written
        batches = [pending[start : start + MAX_BATCH_WRITES] for start in range(0, len(pending), MAX_BATCH_WRITES)]
        throttled: list[Item] = []
        for start in range(0, len(batches), settings.PARALLEL_BATCHES):
            together = batches[start : start + settings.PARALLEL_BATCHES]
            for new, left in table.gather([partial(_insert_batch, table, batch) for batch in together]):
                written += new
                throttled += left
        pending = throttled
        if pending:
            raise _Throttled

    table.retry(once, when=_Throttled, gave_up=Busy("Writing many items was throttled for too long."))
    return written


def _insert_batch(table: Table, batch: Sequence[Item]) -> tuple[int, list[Item]]:
    """Insert up to 25 items in one request; returns how many were new, and the items to retry.

    The refusal of an existing item is no failure.
    """
    refusals = table.insert_batch(batch)
    left = []
    for item, refusal in zip(batch, refusals, strict=True):
        if refusal in _RETRIED:
            left.append(item)
        elif refusal not in (None, "DuplicateItem"):
            raise Unavailable(f"An item was refused: {refusal}")
    return refusals.count(None), left


TOGETHER = 25
"""Writes in one transaction."""


def write_all(table: Table, writes: Sequence[Write], *, required: Write) -> int:
    """Make the writes, except those that are refused; returns how many were made.

    Raises the error of ``required``, and Busy; earlier transactions stay made.
    """
    batches = (writes[start : start + TOGETHER] for start in range(0, len(writes), TOGETHER))
    return sum(_write_together(table, batch, required) for batch in batches)


def forget_found(table: Table, partition: str, most: int, *, index: Index | None = None, required: Write) -> int:
    """Delete at most ``most`` items of a partition; returns how many. Raises as ``write_all`` does."""
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
        # One refused write refuses the transaction, so try each separately.
        return sum(_write_together(table, [write], required) for write in batch)
    return len(batch)


def together(things: Iterable[tuple[T, int, frozenset[Hashable]]]) -> Iterator[list[T]]:
    """Group things, in their order, so that each group's writes fit a transaction; each thing has a number of writes of
    its own, and shared ones."""
    part: list[T] = []
    own, shared = 0, frozenset[Hashable]()
    for thing, alone, others in things:
        if part and own + alone + len(shared | others) > MOST_TOGETHER:
            yield part
            part, own, shared = [], 0, frozenset()
        part.append(thing)
        own, shared = own + alone, shared | others
    if part:
        yield part
