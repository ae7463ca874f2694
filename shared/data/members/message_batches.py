"""Many messages at once, for a cohort of readers: 25 to a request, several requests side by side."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from shared import settings
from shared.data.members import message_items
from shared.dynamodb.table import Table
from shared.errors import Busy, Unavailable
from shared.models.messages import Message

BATCH = 25
"""Statements one BatchExecuteStatement takes."""

_RETRIED = {
    "ThrottlingError", "ProvisionedThroughputExceeded", "RequestLimitExceeded", "InternalServerError",
    "TransactionConflict",
}  # fmt: skip


class _Throttled(Exception):  # it is no error, but a reason to try again
    """Some messages of requests that succeeded are to be tried again."""


def insert(table: Table, composed: Sequence[Message]) -> int:
    """Insert messages, and leave those that exist as they are; returns how many were new.

    Raises Busy where messages, or whole requests, were throttled for too long: then some were not inserted.
    """
    pending = list(composed)
    written = 0

    def once() -> None:
        nonlocal pending, written
        batches = [pending[start : start + BATCH] for start in range(0, len(pending), BATCH)]
        throttled: list[Message] = []
        for start in range(0, len(batches), settings.PARALLEL_BATCHES):
            together = batches[start : start + settings.PARALLEL_BATCHES]
            for new, left in table.gather([partial(_insert_batch, table, batch) for batch in together]):
                written += new
                throttled += left
        pending = throttled
        if pending:
            raise _Throttled

    table.retry(once, when=_Throttled, gave_up=Busy("Writing messages was throttled for too long."))
    return written


def _insert_batch(table: Table, batch: Sequence[Message]) -> tuple[int, list[Message]]:
    """Insert up to 25 messages in one request; returns how many were new, and those to be tried again.

    What exists is refused, rightly.
    """
    refusals = table.insert_batch([message_items.to_item(message) for message in batch])
    left = []
    for message, refusal in zip(batch, refusals, strict=True):
        if refusal in _RETRIED:
            left.append(message)
        elif refusal not in (None, "DuplicateItem"):
            raise Unavailable(f"A message was refused: {refusal}")
    return refusals.count(None), left
