"""A user's messages. Each is about something: a deal, or an order of the user's own.

An ``Announcement`` is the news, and ``compose`` makes a message to one user of it. ``sending`` is the write of one
message, for the transaction that it reports, and ``fanout`` sends thousands.
"""

from __future__ import annotations

from datetime import datetime

from shared import settings
from shared.data import item_types, keys
from shared.data.members.bulk import write_all
from shared.dynamodb import cursors
from shared.dynamodb.attributes import Item
from shared.dynamodb.entities import Entity
from shared.dynamodb.schema import GSI1, TTL_ATTRIBUTE, Key
from shared.dynamodb.table import Projection, Table
from shared.dynamodb.writes import Write, put_new, update
from shared.errors import AlreadyExists, NoSuchMessage
from shared.models.catalog import CATEGORIES, Deal
from shared.models.lists import Page
from shared.models.messages import AboutDeal, AboutOrder, Announcement, DealNews, Message
from shared.values import ksuids
from shared.values.times import to_iso

LIFETIME = settings.MESSAGE_LIFETIME

_MESSAGE = Entity(Message, apart=frozenset({"about", "unread"}))
_ABOUT_DEAL = Entity(AboutDeal)
_ABOUT_ORDER = Entity(AboutOrder)

_KEYS = Projection.of("PK", "SK")
_UNREAD = Projection.of("MessageId", TTL_ATTRIBUTE)
_UNREAD_OR_READ = Projection.of("MessageId", TTL_ATTRIBUTE, "ReadAt")

MOST_LEFT = 100
"""Messages that are looked for under a name that has no account; one delivery writes one."""


def of_deal(deal: Deal, kind: DealNews, correlation_id: str | None = None) -> Announcement:
    """The announcement of a deal. It is announced when it is posted, and again when it becomes hot.

    A deal that becomes hot within an hour is still the same announcement: nobody is told twice.
    """
    match kind:
        case "brand":
            subject = f"New from {deal.brand_name}: {deal.title}"
        case "category":
            subject = f"New in {CATEGORIES[deal.category]}: {deal.title}"
        case "hot":
            subject = f"Hot: {deal.title}"
    at = deal.created_at
    becomes_hot_later = deal.hot_at is not None and deal.hot_at - deal.created_at > settings.SAME_ANNOUNCEMENT
    if kind == "hot" and deal.hot_at is not None and becomes_hot_later:
        at = deal.hot_at
    return Announcement(
        kind, subject, AboutDeal(deal.deal_id, deal.title, deal.brand, deal.brand_name), at, correlation_id
    )


def message_id(announcement: Announcement, username: str) -> str:
    """The id of the message that tells a user an announcement: the same one however often it is sent.

    It holds the announcement's time, so that the newest announcements are at the top of the inbox. A deal is announced
    once whatever the reason; each new status of an order is told.
    """
    match announcement.about:
        case AboutDeal(deal_id=deal_id):
            identity = [deal_id]
        case AboutOrder(order_id=order_id):
            identity = [order_id, announcement.kind]
    return ksuids.derived(announcement.at, "message", *identity, username)


def compose(announcement: Announcement, username: str, now: datetime) -> Message:
    """The message that tells a user of something."""
    return Message(
        message_id=message_id(announcement, username),
        username=username,
        kind=announcement.kind,
        subject=announcement.subject,
        about=announcement.about,
        created_at=now,
        correlation_id=announcement.correlation_id,
    )


def sending(message: Message) -> Write:
    """The write that sends one message, for a transaction with what it tells of. Refused with AlreadyExists."""
    return put_new(to_item(message), refused=AlreadyExists())


def to_item(message: Message) -> Item:
    """The Message item, unread: in GSI1 until it is read, and gone 90 days after it was sent."""
    return {
        **keys.message(message.username, message.message_id),
        **keys.message_in_unread(message.username, message.message_id),
        "Type": item_types.MESSAGE,
        **_MESSAGE.write(message),
        **_about_to_item(message.about),
        TTL_ATTRIBUTE: int((message.created_at + LIFETIME).timestamp()),
    }


def latest(
    table: Table, username: str, *, limit: int, now: datetime, unread: bool = False, cursor: str | None = None
) -> Page[Message]:
    """A page of a user's messages, newest first; with ``unread`` only those, from GSI1. Raises InvalidCursor."""
    scope = f"messages/{username}/{'unread' if unread else 'all'}"
    after = keys.message_sort_key(cursors.decode(scope, cursor)) if cursor is not None else None
    found: list[Message] = []
    # Expired messages are filtered here and not by a limit on the query, so that none of them shortens the page.
    for item in table.query(
        keys.messages(username), index=GSI1 if unread else None, after=after, newest_first=True, page_size=limit + 1
    ):
        if item[TTL_ATTRIBUTE] > now.timestamp():
            found.append(_from_item(item))
            if len(found) > limit:
                break
    page = tuple(found[:limit])
    return Page(page, cursors.encode(scope, page[-1].message_id) if len(found) > limit else None)


def unread_count(table: Table, username: str, now: datetime, *, most: int | None = None) -> int:
    """How many messages a user has not read; with ``most``, at most so many are counted."""
    return len(_unread_ids(table, username, now, most))


def mark_read(table: Table, username: str, message_id: str, now: datetime) -> Message:
    """Mark a message read; repeating it changes nothing. It leaves GSI1. Raises NoSuchMessage, and creates no item."""
    if not ksuids.is_ksuid(message_id):
        raise NoSuchMessage(message_id)
    return _from_item(table.write(_reading(username, message_id, now), returning="ALL_NEW"))


def mark_all_read(table: Table, username: str, now: datetime) -> int:
    """Mark all of a user's messages read; returns how many were marked. Raises Busy: what is marked stays so.

    A consistent Query of all messages: GSI1 may not show the newest yet, and ids do not tell which were written last,
    because they hold the announcement's time. The newest announcements are marked first, as the inbox shows them.
    """
    items = table.query(keys.messages(username), newest_first=True, consistent=True, projection=_UNREAD_OR_READ)
    unread = [item["MessageId"] for item in items if "ReadAt" not in item and item[TTL_ATTRIBUTE] > now.timestamp()]
    return write_all(table, [_reading(username, message_id, now) for message_id in unread])


def remove_all(table: Table, username: str) -> None:
    """Remove all of a user's messages."""
    found = table.query(keys.messages(username), projection=_KEYS, consistent=True)
    table.delete_many([keys.primary(item) for item in found])


def left_under(table: Table, username: str) -> list[Key]:
    """The keys of messages under a name, for one that has no account: a delivery that ran beside the removal of its
    last owner may have left some."""
    found = table.query(keys.messages(username), limit=MOST_LEFT, projection=_KEYS, consistent=True)
    return [keys.primary(item) for item in found]


def _reading(username: str, message_id: str, now: datetime) -> Write:
    """The write that marks a message read. Refused with NoSuchMessage for one that is gone or has expired."""
    return update(
        keys.message(username, message_id),
        "SET ReadAt = if_not_exists(ReadAt, :now) REMOVE GSI1PK, GSI1SK",
        condition=f"attribute_exists(PK) AND {TTL_ATTRIBUTE} > :seconds",
        values={":now": to_iso(now), ":seconds": int(now.timestamp())},
        refused=NoSuchMessage(message_id),
    )


def _unread_ids(table: Table, username: str, now: datetime, most: int | None = None) -> list[str]:
    # The newest first: what has expired and waits for its deletion is at the end, and takes no other's place.
    items = table.query(keys.messages(username), index=GSI1, newest_first=True, limit=most, projection=_UNREAD)
    return [item["MessageId"] for item in items if item[TTL_ATTRIBUTE] > now.timestamp()]


def _from_item(item: Item) -> Message:
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
