"""A message as an item of the table: its place in GSI1 until it is read, and what it is about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shared import settings
from shared.data import item_types, keys
from shared.dynamodb.attributes import Item
from shared.dynamodb.entities import Entity
from shared.dynamodb.schema import TTL_ATTRIBUTE
from shared.models.messages import AboutDeal, AboutOrder, Message

_MESSAGE = Entity(Message, apart=frozenset({"about", "unread"}))
_ABOUT: Mapping[type, Entity[Any]] = {AboutDeal: Entity(AboutDeal), AboutOrder: Entity(AboutOrder)}


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
