"""A message as an item of the table: its place in GSI1 until it is read, and what it is about."""

from __future__ import annotations

from shared import settings
from shared.data import item_types, keys
from shared.dynamodb.attributes import Item
from shared.dynamodb.entities import Entity
from shared.dynamodb.schema import TTL_ATTRIBUTE
from shared.models.messages import AboutDeal, AboutOrder, Message

_MESSAGE = Entity(Message, apart=frozenset({"about", "unread"}))
_ABOUT_DEAL = Entity(AboutDeal)
_ABOUT_ORDER = Entity(AboutOrder)


def to_item(message: Message) -> Item:
    """The Message item, unread: in GSI1 until it is read, and gone 90 days after it was sent."""
    return {
        **keys.message(message.username, message.message_id),
        **keys.message_in_unread(message.username, message.message_id),
        "Type": item_types.MESSAGE,
        **_MESSAGE.write(message),
        **_about_to_item(message.about),
        TTL_ATTRIBUTE: int((message.created_at + settings.MESSAGE_LIFETIME).timestamp()),
    }


def from_item(item: Item) -> Message:
    return _MESSAGE.read(item, about=_about_from_item(item), unread="ReadAt" not in item)


def _about_to_item(about: AboutDeal | AboutOrder) -> Item:
    """The attributes that say what a message is about: those of a deal, or an order's."""
    match about:
        case AboutDeal():
            return _ABOUT_DEAL.write(about)
        case AboutOrder():
            return _ABOUT_ORDER.write(about)


def _about_from_item(item: Item) -> AboutDeal | AboutOrder:
    return (_ABOUT_ORDER if "OrderId" in item else _ABOUT_DEAL).read(item)
