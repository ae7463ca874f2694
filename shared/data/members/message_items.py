"""A message as an item of the table: its place in GSI1 until it is read, what it is about; and many put at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from shared import settings
from shared.data import inserts, item_types, keys
from shared.dynamodb.attributes import Item
from shared.dynamodb.entities import Entity, Form
from shared.dynamodb.schema import TTL_ATTRIBUTE
from shared.dynamodb.table import Projection, Table
from shared.dynamodb.writes import update
from shared.errors import NoSuchMessage
from shared.models.messages import AboutDeal, AboutOrder, Message
from shared.values.money import amount

_MESSAGE = Entity(Message, apart=frozenset({"about", "unread"}))
_WAITING = Projection.of("PK", "SK", "ShownAt")
_ABOUT: Mapping[type, Entity[Any]] = {
    AboutDeal: Entity(AboutDeal, forms={"price": Form(str, amount)}),
    AboutOrder: Entity(AboutOrder),
}


def to_item(message: Message) -> Item:
    """The Message item, unread: in GSI1 until it is read, and gone 90 days after it was sent."""
    return {
        **keys.message(message.username, message.message_id),
        **keys.message_in_unread(message.username, message.message_id),
        "Type": item_types.MESSAGE,
        **_MESSAGE.write(message),
        **_ABOUT[type(message.about)].write(message.about),
        TTL_ATTRIBUTE: int((message.created_at + settings.MESSAGE_LIFETIME).timestamp()),
    }


def from_item(item: Item) -> Message:
    about = _ABOUT[AboutOrder if "OrderId" in item else AboutDeal].read(item)
    return _MESSAGE.read(item, about=about, unread="ReadAt" not in item)


def insert(table: Table, composed: Sequence[Message]) -> int:
    """Insert messages, and leave those that exist as they are; returns how many were new. Raises Busy, Unavailable.

    But one that exists and waits for its hour is shown, where it is told at once now: it was for another reason.
    """
    new = inserts.insert(table, [to_item(message) for message in composed])
    if new < len(composed):
        _show(table, [message for message in composed if message.shown_at is None])
    return new


def _show(table: Table, told: Sequence[Message]) -> None:
    there = [keys.message(message.username, message.message_id) for message in told]
    for item in table.get_many(there, projection=_WAITING):
        if "ShownAt" in item:
            with suppress(NoSuchMessage):
                table.write(update(keys.primary(item), "REMOVE ShownAt", refused=NoSuchMessage(item["SK"])))
