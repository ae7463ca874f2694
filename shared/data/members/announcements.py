"""The news of a deal or of something else, the message that notifies one user of it, and that message as an item.

An item has its place in GSI1 until it is read; many are put at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from itertools import chain

from shared import features, settings
from shared.data import bulk, item_types, keys
from shared.dynamodb import damage
from shared.dynamodb.attributes import Codec, Entity, Item
from shared.dynamodb.schema import TTL_ATTRIBUTE
from shared.dynamodb.table import Projection, Table
from shared.dynamodb.writes import update
from shared.errors import NoSuchMessage
from shared.models.catalog import CATEGORIES, Deal
from shared.models.members import Alert, WordsAlert
from shared.models.messages import AboutDeal, AboutOther, Announcement, DealNews, Message
from shared.values import identifiers, money
from shared.values.money import amount

_MESSAGE = Entity(Message, apart=frozenset({"about", "unread"}))
_WAITING = Projection.of("PK", "SK", "ShownAt")
_ABOUT_DEAL = Entity(AboutDeal, forms={"price": Codec(str, amount)})
_OTHERS = {f"{news.thing.capitalize()}Id": news.thing for news in chain.from_iterable(features.of("news"))}
"""The attributes that name what else messages are about."""


def to_item(message: Message) -> Item:
    """The Message item, unread: in GSI1 until it is read, and gone 90 days after it was sent."""
    return {
        **keys.message(message.username, message.message_id),
        **keys.message_in_unread(message.username, message.message_id),
        "Type": item_types.MESSAGE,
        **_MESSAGE.write(message),
        **_written(message.about),
        TTL_ATTRIBUTE: int((message.created_at + settings.MESSAGE_LIFETIME).timestamp()),
    }


def from_item(item: Item) -> Message:
    return _MESSAGE.read(item, about=_about(item), unread="ReadAt" not in item)


def _written(about: AboutDeal | AboutOther) -> Item:
    if isinstance(about, AboutOther):
        return {name: about.id for name, thing in _OTHERS.items() if thing == about.thing}
    return _ABOUT_DEAL.write(about)


def _about(item: Item) -> AboutDeal | AboutOther:
    for name, thing in _OTHERS.items():
        if name in item:
            return AboutOther(thing, damage.attribute(item, name, str))
    return _ABOUT_DEAL.read(item)


def insert(table: Table, composed: Sequence[Message]) -> int:
    """Insert messages, and leave those that exist as they are; returns how many were new. Raises Busy, Unavailable.

    But one that exists and waits for its hour is shown, where it is now to be sent at once: it was for another reason.
    """
    new = bulk.insert(table, [to_item(message) for message in composed])
    if new < len(composed):
        _show(table, [message for message in composed if message.shown_at is None])
    return new


def _show(table: Table, waiting: Sequence[Message]) -> None:
    there = [keys.message(message.username, message.message_id) for message in waiting]
    for item in table.get_many(there, projection=_WAITING):
        if "ShownAt" in item:
            with suppress(NoSuchMessage):
                table.write(update(keys.primary(item), "REMOVE ShownAt", refused=NoSuchMessage(item["SK"])))


def of_deal(
    deal: Deal,
    kind: DealNews,
    correlation_id: str | None = None,
    watched: str | None = None,
    *also: str,
    fell: bool = False,
) -> Announcement:
    """The announcement of a deal. It is announced when it is posted, when its price falls, and when it becomes hot.

    A deal that becomes hot within an hour is still the same announcement: no reader gets two. ``watched`` names the
    brand or category that it was announced for, as an editor may have moved it since, or the first alert that it meets,
    and ``also`` the other alerts.
    """
    match kind:
        case "brand":
            watched = watched or deal.brand_name
            subject = f"New from {watched}: {deal.title}"
        case "category":
            watched = watched or CATEGORIES[deal.category]
            subject = f"New in {watched}: {deal.title}"
        case "hot":
            subject = f"Hot: {deal.title}"
        case "words":
            subject = f"New: {deal.title}"
        case "price":
            subject = f"{money.text(deal.price, deal.currency)}: {deal.title}"
    at = deal.changed_at if fell else deal.created_at
    becomes_hot_later = deal.hot_at is not None and deal.hot_at - deal.created_at > settings.SAME_ANNOUNCEMENT
    if kind == "hot" and deal.hot_at is not None and becomes_hot_later:
        at = deal.hot_at
    names = watched, list(also) or None
    about = AboutDeal(deal.deal_id, deal.title, deal.brand, deal.brand_name, deal.price, deal.currency, *names)
    return Announcement(kind, subject, about, at, correlation_id, about_price=fell)


def name_of(alert: Alert) -> str:
    """The name of an alert in the messages that it causes."""
    if isinstance(alert, WordsAlert):
        return f"“{alert.limits.words}”"
    return f"this product at {money.text(alert.limits.ceiling or '0.00', alert.limits.currency or '')} or less"


def message_id(announcement: Announcement, username: str) -> str:
    """The id of a user's message of an announcement: the same one however often it is sent.

    It holds the announcement's time, so that the newest announcements are at the top of the inbox. A deal is announced
    once whatever the reason, and again at a lower price; all other news are sent.
    """
    match announcement.about:
        case AboutDeal(deal_id=deal_id, price=price):
            identity = [deal_id, *([price] if announcement.about_price else [])]
        case AboutOther(id=id_):
            identity = [id_, announcement.kind, announcement.at.isoformat()]  # the same may be sent again
    return identifiers.derived(announcement.at, "message", *identity, username)


def compose(announcement: Announcement, username: str, shown_at: datetime | None = None) -> Message:
    """A user's message of an announcement, shown at once or from a time on. It has the announcement's time."""
    return Message(
        message_id=message_id(announcement, username),
        username=username,
        kind=announcement.kind,
        subject=announcement.subject,
        about=announcement.about,
        created_at=announcement.at,
        correlation_id=announcement.correlation_id,
        shown_at=shown_at,
    )
