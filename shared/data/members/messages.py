"""Patterns 18-20: a user's messages. Issue B's fan-out writes them by the thousand; ``to_item`` is what it writes."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from functools import partial

from shared import settings
from shared.data import keys
from shared.dynamodb import cursors
from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import GSI1
from shared.dynamodb.table import Projection, Table
from shared.dynamodb.writes import forget, put_new, update
from shared.errors import AlreadyExists, NoSuchMessage
from shared.models import Deal, Message, MessageKind, Page
from shared.values import ksuids
from shared.values.times import from_iso, to_iso

LIFETIME = settings.MESSAGE_LIFETIME
PARALLEL_MARKS = 16

_KEYS = Projection.of("PK", "SK")
_UNREAD = Projection.of("MessageId", "ExpiresAt")


def message_id(deal: Deal, username: str) -> str:
    """The one id of the message that tells a user of a deal, whatever the reason and however often it is sent."""
    return ksuids.derived(deal.created_at, "message", deal.deal_id, username)


def compose(
    deal: Deal, username: str, kind: MessageKind, subject: str, now: datetime, correlation_id: str | None = None
) -> Message:
    """The message that tells a user of a deal."""
    return Message(
        message_id=message_id(deal, username),
        username=username,
        kind=kind,
        subject=subject,
        deal_id=deal.deal_id,
        deal_title=deal.title,
        brand=deal.brand,
        brand_name=deal.brand_name,
        created_at=now,
        correlation_id=correlation_id,
    )


def send(table: Table, message: Message) -> None:
    """Put one message, unless it was sent before. Raises AlreadyExists."""
    table.write(put_new(to_item(message), refused=AlreadyExists()))


def to_item(message: Message) -> Item:
    """The Message item, unread: in GSI1 until it is read, and gone 90 days after it was sent."""
    return {
        **keys.message(message.username, message.message_id),
        **keys.message_in_unread(message.username, message.message_id),
        "Type": "Message",
        "MessageId": message.message_id,
        "Username": message.username,
        "Kind": message.kind,
        "Subject": message.subject,
        "DealId": message.deal_id,
        "DealTitle": message.deal_title,
        "Brand": message.brand,
        "BrandName": message.brand_name,
        "CreatedAt": to_iso(message.created_at),
        "ExpiresAt": int((message.created_at + LIFETIME).timestamp()),
        **({"CorrelationId": message.correlation_id} if message.correlation_id else {}),
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
        if item["ExpiresAt"] > now.timestamp():
            found.append(_from_item(item))
            if len(found) > limit:
                break
    page = tuple(found[:limit])
    return Page(page, cursors.encode(scope, page[-1].message_id) if len(found) > limit else None)


def unread_count(table: Table, username: str, now: datetime) -> int:
    """How many messages a user has not read."""
    return len(_unread_ids(table, username, now))


def mark_read(table: Table, username: str, message_id: str, now: datetime) -> Message:
    """Mark a message read, as often as one likes; it leaves GSI1. Raises NoSuchMessage, and makes no phantom."""
    if not ksuids.is_ksuid(message_id):
        raise NoSuchMessage(message_id)
    item = table.write(
        update(
            keys.message(username, message_id),
            "SET ReadAt = if_not_exists(ReadAt, :now) REMOVE GSI1PK, GSI1SK",
            condition="attribute_exists(PK) AND ExpiresAt > :seconds",
            values={":now": to_iso(now), ":seconds": int(now.timestamp())},
            refused=NoSuchMessage(message_id),
        ),
        returning="ALL_NEW",
    )
    return _from_item(item)


def mark_all_read(table: Table, username: str, now: datetime) -> int:
    """Mark all of a user's messages read; returns how many were unread."""
    unread = _unread_ids(table, username, now)
    for start in range(0, len(unread), PARALLEL_MARKS):
        marks = [partial(_mark_if_there, table, username, i, now) for i in unread[start : start + PARALLEL_MARKS]]
        table.gather(marks)
    return len(unread)


def remove_all(table: Table, username: str) -> None:
    """Remove all of a user's messages."""
    for item in list(table.query(keys.messages(username), projection=_KEYS, consistent=True)):
        table.write(forget(keys.primary(item), because="a message that is gone is removed"))


def _mark_if_there(table: Table, username: str, message_id: str, now: datetime) -> None:
    with suppress(NoSuchMessage):  # expired since it was listed
        mark_read(table, username, message_id, now)


def _unread_ids(table: Table, username: str, now: datetime) -> list[str]:
    items = table.query(keys.messages(username), index=GSI1, projection=_UNREAD)
    return [item["MessageId"] for item in items if item["ExpiresAt"] > now.timestamp()]


def _from_item(item: Item) -> Message:
    return Message(
        message_id=item["MessageId"],
        username=item["Username"],
        kind=item["Kind"],
        subject=item["Subject"],
        deal_id=item["DealId"],
        deal_title=item["DealTitle"],
        brand=item["Brand"],
        brand_name=item["BrandName"],
        created_at=from_iso(item["CreatedAt"]),
        unread="ReadAt" not in item,
        correlation_id=item.get("CorrelationId"),
    )
