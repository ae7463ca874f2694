"""The messages of a user's inbox, and the announcements that they are composed from.

A message is in GSI1 until it is read. ``fanout`` sends most of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import islice

from shared import features, hooks, settings
from shared.data import account_checks, bulk, keys
from shared.dynamodb import damage
from shared.dynamodb.attributes import Codec, Entity, Item
from shared.dynamodb.schema import GSI1, TTL_ATTRIBUTE
from shared.dynamodb.table import Projection, Table
from shared.dynamodb.writes import Write, put_new, update
from shared.errors import AlreadyExists, NoSuchMessage
from shared.models.catalog import CATEGORIES, Deal, Page
from shared.models.members import Alert, WordsAlert
from shared.models.messages import AboutDeal, AboutOther, Announcement, DealNews, Message
from shared.values import identifiers, links, money
from shared.values.directions import isolated
from shared.values.money import amount
from shared.values.times import to_iso

_MESSAGE = Entity(Message, apart=frozenset({"about", "unread"}))
_ABOUT_DEAL = Entity(AboutDeal, forms={"price": Codec(str, amount)})
_OTHERS = {f"{news.thing.capitalize()}Id": news.thing for each in features.roles(hooks.Fields) for news in each.NEWS}
"""The attributes that name a message's subject if it isn't a deal."""

_TIMES = Projection.of("PK", "SK", TTL_ATTRIBUTE, "ShownAt", "ReadAt")


def to_item(message: Message) -> Item:
    """The item of an unread message: in GSI1 until it is read, deleted by TTL 90 days after it was sent."""
    return {
        **keys.message(message.username, message.message_id),
        **keys.message_in_unread(message.username, message.message_id),
        "Type": keys.MESSAGE,
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


def message_id(announcement: Announcement, username: str) -> str:
    """The id of a user's message of an announcement, the same however often it is sent.

    Ids begin with the announcement's time, so the newest announcements head the inbox. A deal is announced once
    whatever the reason, and again at a lower price; other news are always sent.
    """
    match announcement.about:
        case AboutDeal(deal_id=deal_id, price=price):
            identity = [deal_id, *([price] if announcement.about_price else [])]
        case AboutOther(id=id_):
            identity = [id_, announcement.kind, announcement.at.isoformat()]  # all of these are sent
    return identifiers.derived(announcement.at, "message", *identity, username)


def latest(
    table: Table, username: str, *, limit: int, now: datetime, unread: bool = False, cursor: str | None = None
) -> Page[Message]:
    """A page of a user's messages, newest first; with ``unread`` only unread ones, from GSI1. Raises InvalidCursor."""
    scope = f"messages/{username}/{'unread' if unread else 'all'}"
    after = keys.message_sort_key(identifiers.read_cursor(scope, cursor)) if cursor is not None else None
    index = GSI1 if unread else None
    items = table.query(keys.messages(username), index=index, after=after, newest_first=True, page_size=limit + 1)
    # Expired messages are filtered here, after the query's limit, so that no page is short.
    shown = (message for item in items if _lives(item, now) for message in damage.readable([item], from_item))
    found = list(islice(shown, limit + 1))
    return Page(tuple(found[:limit]), identifiers.next_cursor(scope, [each.message_id for each in found], limit))


def unread_count(table: Table, username: str, now: datetime, *, most: int | None = None) -> int:
    """Count a user's unread messages, up to ``most``."""
    # Newest first, so that expired messages come last. Messages not shown yet are filtered before the limit.
    items = table.query(keys.messages(username), index=GSI1, newest_first=True, page_size=most, projection=_TIMES)
    return sum(1 for _ in islice((item for item in items if _lives(item, now)), most))


def mark_read(table: Table, username: str, message_id: str, now: datetime) -> Message:
    """Mark a message read, which removes it from GSI1; repeating it changes nothing. Raises NoSuchMessage."""
    if not identifiers.is_ksuid(message_id):
        raise NoSuchMessage(message_id)
    return damage.read(table.write(_reading(username, message_id, now), returning="ALL_NEW"), from_item)


def mark_all_read(table: Table, username: str, now: datetime, account_id: str | None = None) -> int:
    """Mark all of a user's messages read; returns how many were unread. Raises Busy, NotSignedIn, NoSuchUser.

    One consistent Query of all messages: GSI1 may lack the newest, and ids don't say which were written last. The
    newest announcements are marked first, as the inbox shows them.
    """
    items = table.query(keys.messages(username), newest_first=True, consistent=True, projection=_TIMES)
    unread = [keys.id_in(item["SK"]) for item in items if "ReadAt" not in item and _lives(item, now)]
    required = account_checks.required(username, account_id)
    return bulk.write_all(table, [_reading(username, message_id, now) for message_id in unread], required=required)


def _reading(username: str, message_id: str, now: datetime) -> Write:
    """The write that marks a message read. Refused with NoSuchMessage if it is gone or has expired."""
    return update(
        keys.message(username, message_id),
        "SET ReadAt = if_not_exists(ReadAt, :now) REMOVE GSI1PK, GSI1SK",
        condition=f"attribute_exists(PK) AND {TTL_ATTRIBUTE} > :seconds",
        values={":now": to_iso(now), ":seconds": int(now.timestamp())},
        refused=NoSuchMessage(message_id),
    )


def _lives(item: Item, now: datetime) -> bool:
    """Whether a message is shown: from ``ShownAt`` until it expires, as TTL deletes late."""
    ends = damage.attribute_or(item, TTL_ATTRIBUTE, int, math.inf)
    return str(item.get("ShownAt", "")) <= to_iso(now) and ends > now.timestamp()


def sending(message: Message) -> Write:
    """The write that sends one message, for a transaction with its cause. Refused with AlreadyExists."""
    return put_new(to_item(message), refused=AlreadyExists())


def insert(table: Table, composed: Sequence[Message]) -> int:
    """Insert messages that don't exist yet; returns how many were new. Raises Busy, Unavailable.

    An existing message that waits for the digest is shown at once if it is now sent for a reason that doesn't wait.
    """
    new = bulk.insert(table, [to_item(message) for message in composed])
    if new < len(composed):
        _show(table, [message for message in composed if message.shown_at is None])
    return new


_WAITING = Projection.of("PK", "SK", "ShownAt")


def _show(table: Table, waiting: Sequence[Message]) -> None:
    there = [keys.message(message.username, message.message_id) for message in waiting]
    for item in table.get_many(there, projection=_WAITING):
        if "ShownAt" in item:
            with suppress(NoSuchMessage):
                table.write(update(keys.primary(item), "REMOVE ShownAt", refused=NoSuchMessage(item["SK"])))


def naming(message: Message, name: str, shown_at: datetime | None) -> Write:
    """The write that adds an alert's name to an existing message, and shows it unless ``shown_at`` is set.

    Refused with NoSuchMessage if the message has the name already, or is gone.
    """
    return update(
        keys.message(message.username, message.message_id),
        "SET Also = list_append(if_not_exists(Also, :none), :names)" + ("" if shown_at else " REMOVE ShownAt"),
        condition="attribute_exists(PK) AND (attribute_not_exists(Watched) OR Watched <> :name)"
        " AND (attribute_not_exists(Also) OR NOT contains(Also, :name))",
        values={":none": [], ":names": [name], ":name": name},
        refused=NoSuchMessage(message.message_id),
    )


def of_deal(
    deal: Deal,
    kind: DealNews,
    correlation_id: str | None = None,
    watched: str | None = None,
    *also: str,
    fell: bool = False,
) -> Announcement:
    """The announcement of a deal: when it is posted, when its price falls (``fell``), and when it becomes hot.

    A deal that becomes hot within an hour has the same announcement, so no reader gets two. ``watched`` is the name of
    the announced brand or category (an editor may have moved the deal since), or of the first matching alert; ``also``
    names the other alerts.
    """
    title = isolated(deal.title)
    match kind:
        case "brand":
            watched = watched or deal.brand_name
            subject = f"New from {isolated(watched)}: {title}"
        case "category":
            watched = watched or CATEGORIES[deal.category]
            subject = f"New in {isolated(watched)}: {title}"
        case "hot":
            subject = f"Hot: {title}"
        case "words":
            subject = f"New: {title}"
        case "price":
            subject = f"{money.text(deal.price, deal.currency)}: {title}"
    at = deal.changed_at if fell else deal.created_at
    becomes_hot_later = deal.hot_at is not None and deal.hot_at - deal.created_at > settings.SAME_ANNOUNCEMENT
    if kind == "hot" and deal.hot_at is not None and becomes_hot_later:
        at = deal.hot_at
    names = watched, list(also) or None, links.alike(deal.link, deal.title, deal.brand)
    about = AboutDeal(deal.deal_id, deal.title, deal.brand, deal.brand_name, deal.price, deal.currency, *names)
    return Announcement(kind, subject, about, at, correlation_id, about_price=fell)


def name_of(alert: Alert) -> str:
    """An alert's name in its messages."""
    if isinstance(alert, WordsAlert):
        return f"“{alert.limits.words}”"
    return f"this product at {money.text(alert.limits.ceiling or '0.00', alert.limits.currency or '')} or less"


def compose(announcement: Announcement, username: str, shown_at: datetime | None = None) -> Message:
    """A user's message of an announcement, at the announcement's time, shown at once or from ``shown_at`` on."""
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


def unread_rows(table: Table, username: str, now: datetime, *, most: int) -> tuple[int, bool]:
    """Count a user's unread messages as the inbox shows them, ``together``, and whether these are all.

    At most ``most`` of the newest messages are read.
    """
    items = table.query(keys.messages(username), index=GSI1, newest_first=True, page_size=most + 1)
    shown = list(islice((item for item in items if _lives(item, now)), most + 1))
    return len(together(damage.readable(shown[:most], from_item))), len(shown) <= most


def together(shown: Iterable[Message]) -> list[list[Message]]:
    """Group the messages of a day that were sent for one reason, about colours and sizes of one product at one price.

    Each group is at its first message's position.
    """
    found = list(shown)
    groups: dict[int, list[Message]] = {}
    for number, message in zip(links.numbered(map(_likeness, found)), found, strict=True):
        groups.setdefault(number, []).append(message)
    return [*groups.values()]


def _likeness(message: Message) -> tuple[Sequence[str], str]:
    """What ``links.numbered`` groups a message by: the texts of its product, and what must be the same beside."""
    about = message.about
    if isinstance(about, AboutOther) or about.alike is None:
        return [message.message_id], ""
    reason = (message.kind == "hot", about.watched, about.also, message.created_at.date())
    return about.alike.split(), f"{about.price} {about.currency} {reason}"
