"""Many messages at once, for a cohort of readers."""

from __future__ import annotations

from collections.abc import Sequence

from shared.data import inserts
from shared.data.members import message_items
from shared.dynamodb.table import Table
from shared.models.messages import Message


def insert(table: Table, composed: Sequence[Message]) -> int:
    """Insert messages, and leave those that exist as they are; returns how many were new. Raises Busy, Unavailable."""
    return inserts.insert(table, [message_items.to_item(message) for message in composed])
