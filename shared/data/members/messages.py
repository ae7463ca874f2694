"""A user's messages: one sent, a page of them, and marked read. ``fanout`` sends thousands."""

from __future__ import annotations

import math
from datetime import datetime
from itertools import islice

from shared.data import account_checks, keys
from shared.data.bulk import write_all
from shared.data.members.announcements import from_item, to_item
from shared.dynamodb import cursors, damage
from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import GSI1, TTL_ATTRIBUTE
from shared.dynamodb.table import Projection, Table
from shared.dynamodb.writes import Write, put_new, update
from shared.errors import AlreadyExists, NoSuchMessage
from shared.models.catalog import Page
from shared.models.messages import Message
from shared.values import identifiers
from shared.values.times import to_iso

_TIMES = Projection.of("PK", "SK", TTL_ATTRIBUTE, "ShownAt", "ReadAt")


def sending(message: Message) -> Write:
    """The write that sends one message, for a transaction with what it is about. Refused with AlreadyExists."""
    return put_new(to_item(message), refused=AlreadyExists())


def naming(message: Message, name: str, shown_at: datetime | None) -> Write:
    """The write with which an existing message names one more alert, and is shown unless that waits for the digest.

    Refused with NoSuchMessage where the message names it already, or is gone.
    """
    return update(
        keys.message(message.username, message.message_id),
        "SET Also = list_append(if_not_exists(Also, :none), :names)" + ("" if shown_at else " REMOVE ShownAt"),
        condition="attribute_exists(PK) AND (attribute_not_exists(Watched) OR Watched <> :name)"
        " AND (attribute_not_exists(Also) OR NOT contains(Also, :name))",
        values={":none": [], ":names": [name], ":name": name},
        refused=NoSuchMessage(message.message_id),
    )


def latest(
    table: Table, username: str, *, limit: int, now: datetime, unread: bool = False, cursor: str | None = None
) -> Page[Message]:
    """A page of a user's messages, newest first; with ``unread`` only those, from GSI1. Raises InvalidCursor."""
    scope = f"messages/{username}/{'unread' if unread else 'all'}"
    after = keys.message_sort_key(cursors.decode(scope, cursor)) if cursor is not None else None
    index = GSI1 if unread else None
    items = table.query(keys.messages(username), index=index, after=after, newest_first=True, page_size=limit + 1)
    # Expired messages are filtered here and not by a limit on the query, so that a page is never short.
    shown = (message for item in items if _lives(item, now) for message in damage.readable([item], from_item))
    found = list(islice(shown, limit + 1))
    page = tuple(found[:limit])
    return Page(page, cursors.encode(scope, page[-1].message_id) if len(found) > limit else None)


def unread_count(table: Table, username: str, now: datetime, *, most: int | None = None) -> int:
    """How many messages a user has not read; with ``most``, at most so many are counted."""
    # Newest first: what has expired is at the end. Messages that wait for their hour are left out before the limit.
    items = table.query(keys.messages(username), index=GSI1, newest_first=True, page_size=most, projection=_TIMES)
    return sum(1 for _ in islice((item for item in items if _lives(item, now)), most))


def mark_read(table: Table, username: str, message_id: str, now: datetime) -> Message:
    """Mark a message read; repeating it changes nothing. It leaves GSI1. Raises NoSuchMessage, and creates no item."""
    if not identifiers.is_ksuid(message_id):
        raise NoSuchMessage(message_id)
    return damage.read(table.write(_reading(username, message_id, now), returning="ALL_NEW"), from_item)


def mark_all_read(table: Table, username: str, now: datetime, account_id: str | None = None) -> int:
    """Mark all of a user's messages read; returns how many were marked. Raises Busy, NotSignedIn, NoSuchUser.

    A consistent Query of all messages: GSI1 may not show the newest yet, and ids do not say which were written last,
    because they hold the announcement's time. The newest announcements are marked first, as the inbox shows them.
    """
    items = table.query(keys.messages(username), newest_first=True, consistent=True, projection=_TIMES)
    unread = [keys.id_in(item["SK"]) for item in items if "ReadAt" not in item and _lives(item, now)]
    required = account_checks.required(username, account_id)
    return write_all(table, [_reading(username, message_id, now) for message_id in unread], required=required)


def _reading(username: str, message_id: str, now: datetime) -> Write:
    """The write that marks a message read. Refused with NoSuchMessage for one that is gone or has expired."""
    return update(
        keys.message(username, message_id),
        "SET ReadAt = if_not_exists(ReadAt, :now) REMOVE GSI1PK, GSI1SK",
        condition=f"attribute_exists(PK) AND {TTL_ATTRIBUTE} > :seconds",
        values={":now": to_iso(now), ":seconds": int(now.timestamp())},
        refused=NoSuchMessage(message_id),
    )


def _lives(item: Item, now: datetime) -> bool:
    """Whether a message is shown: not before its time, nor after its end, as TTL deletes late."""
    ends = damage.attribute_or(item, TTL_ATTRIBUTE, int, math.inf)
    return str(item.get("ShownAt", "")) <= to_iso(now) and ends > now.timestamp()
