"""Many new items at once: 25 to a request, several requests side by side. Items that exist stay as they are."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from shared import settings
from shared.dynamodb.attributes import Item
from shared.dynamodb.table import MAX_BATCH_WRITES, Table
from shared.errors import Busy, Unavailable

_RETRIED = {
    "ThrottlingError", "ProvisionedThroughputExceeded", "RequestLimitExceeded", "InternalServerError",
    "TransactionConflict",
}  # fmt: skip


class _Throttled(Exception):  # it is no error, but a reason to try again
    """Some items of requests that succeeded are to be tried again."""


def insert(table: Table, items: Sequence[Item]) -> int:
    """Insert items, and leave those that exist as they are; returns how many were new.

    Raises Busy where items, or whole requests, were throttled for too long: then some were not inserted.
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
    """Insert up to 25 items in one request; returns how many were new, and those to be tried again.

    What exists is refused, rightly.
    """
    refusals = table.insert_batch(batch)
    left = []
    for item, refusal in zip(batch, refusals, strict=True):
        if refusal in _RETRIED:
            left.append(item)
        elif refusal not in (None, "DuplicateItem"):
            raise Unavailable(f"An item was refused: {refusal}")
    return refusals.count(None), left
