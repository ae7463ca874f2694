"""Many messages at once, for a cohort of readers."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from shared.data import inserts, keys
from shared.data.members import message_items
from shared.dynamodb.table import Projection, Table
from shared.dynamodb.writes import update
from shared.errors import NoSuchMessage
from shared.models.messages import Message

_WAITING = Projection.of("PK", "SK", "ShownAt")


def insert(table: Table, composed: Sequence[Message]) -> int:
    """Insert messages, and leave those that exist as they are; returns how many were new. Raises Busy, Unavailable.

    But one that exists and waits for its hour is shown, where it is told at once now: it was for another reason.
    """
    new = inserts.insert(table, [message_items.to_item(message) for message in composed])
    if new < len(composed):
        _show(table, [message for message in composed if message.shown_at is None])
    return new


def _show(table: Table, told: Sequence[Message]) -> None:
    there = [keys.message(message.username, message.message_id) for message in told]
    for item in table.get_many(there, projection=_WAITING):
        if "ShownAt" in item:
            with suppress(NoSuchMessage):
                table.write(update(keys.primary(item), "REMOVE ShownAt", refused=NoSuchMessage(item["SK"])))
