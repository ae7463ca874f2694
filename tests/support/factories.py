"""The deals, users and topics that tests are about, with what a test does not care about filled in."""

from __future__ import annotations

import io
import secrets
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol, TypeVar

import pytest
from PIL import Image

from shared.data import bulk, removal
from shared.data.catalog import deals, feeds, offers, search, topics
from shared.data.members import follows, messages, sessions, users
from shared.dynamodb.table import Table
from shared.errors import DealTooLarge, UsernameTaken
from shared.models.catalog import ALL_DEALS, BRAND, CATEGORY, Deal, Feed, Page, Topic, feed_of
from shared.models.members import Role, User
from shared.models.messages import DealNews, Message
from shared.values import times

NOW = datetime(2050, 6, 15, 12, 0, tzinfo=UTC)
"""The tests' present. It lies ahead of every clock, so that no engine's own TTL deletes what a test still reads."""

LAUNCH = NOW - timedelta(days=14)
"""When the tests' tables were seeded."""

APPLE = Topic(BRAND, "apple")
ASICS = Topic(BRAND, "asics")
SHOES = Topic(CATEGORY, "shoes")
HOME = Topic(CATEGORY, "home")

FEEDS = (ALL_DEALS, feed_of(APPLE), feed_of(SHOES))
"""The three feeds that ``a_deal`` stands in."""

both_kinds = pytest.mark.parametrize("topic", [APPLE, SHOES], ids=["brand", "category"])
three_feeds = pytest.mark.parametrize("feed", FEEDS, ids=["all", "brand", "category"])


def ago(**how_long: float) -> datetime:
    """A time before the tests' present."""
    return NOW - timedelta(**how_long)


def ahead(**how_long: float) -> datetime:
    """A time after the tests' present."""
    return NOW + timedelta(**how_long)


def a_deal(created_at: datetime = NOW, *, entropy: bytes | None = None, **others: Any) -> Deal:
    """A deal of Apple's among the shoes."""
    fields: dict[str, Any] = {
        "title": "Trail runner",
        "link": "https://shop.example/trail-runner",
        "brand": "apple",
        "brand_name": "Apple",
        "category": "shoes",
        "price": "31.90",
        "list_price": "158.00",
        "currency": "USD",
        **others,
    }
    deal_id = deals.new_id(created_at, fields.get("source_id"), entropy or secrets.token_bytes(16))
    return Deal(deal_id=deal_id, created_at=created_at, **fields)


def as_large_as_allowed(deal: Deal) -> Deal:
    """A deal whose description fills it up to the last byte; its number is not counted."""
    with pytest.raises(DealTooLarge) as refusal:
        deals.check(replace(deal, description="x" * deals.MAX_BYTES))
    return replace(deal, description="x" * (2 * deals.MAX_BYTES - refusal.value.size))


def a_user(username: str = "ana", **others: Any) -> User:
    """A member; the password hash is none, as nobody signs in with it."""
    fields: dict[str, Any] = {
        "email": f"{username}@mail.example",
        "name": username.title(),
        "password_hash": "no-hash",
        "role": "member",
        "created_at": LAUNCH,
        "account_id": account_of(username),
        **others,
    }
    return User(username=username, **fields)


def account_of(username: str) -> str:
    """The id of the account that ``a_user`` makes."""
    return f"account-{username}"


def token_of_new(table: Table, username: str, role: Role = "member") -> str:
    """The token of someone new who is signed in."""
    user = a_user(username, role=role, created_at=times.now())
    users.create(table, user)
    return sessions.start(table, user, times.now(), username.encode().ljust(32, b"-")[:32])[0]


def send(table: Table, message: Message) -> None:
    """Send one message by itself. Raises AlreadyExists where it was sent before."""
    table.write(messages.sending(message))


def a_message(
    about: Deal | None = None, username: str = "ana", kind: DealNews = "brand", now: datetime | None = None
) -> Message:
    """A message that tells a user of a deal, at another time than the announcement's where a test says so."""
    message = messages.compose(messages.of_deal(about or a_deal(), kind), username)
    return message if now is None else replace(message, created_at=now)


def join(table: Table, *usernames: str) -> None:
    """Make accounts of those names where there are none: only who has one likes, watches and signs in."""
    for username in usernames:
        with suppress(UsernameTaken):
            users.create(table, a_user(username))


def let_watch(table: Table, topic: Topic, *usernames: str, now: datetime = NOW) -> None:
    """Have users watch a topic, with accounts made where there are none."""
    join(table, *usernames)
    for username in usernames:
        follows.watch(table, topic, username, now)


def leave(table: Table, username: str = "ana") -> None:
    """Remove an account."""
    removal.remove_account(table, users.get(table, username, consistent=True), NOW)


def open_brands(table: Table) -> None:
    """Create the brands that deals are made of here."""
    topics.create_brand(table, "apple", "Apple", LAUNCH)
    topics.create_brand(table, "asics", "ASICS", LAUNCH)


def post(table: Table, posted: Iterable[Deal], now: datetime = NOW) -> list[Deal]:
    """Create deals, as many to a transaction as the data layer allows; returns them newest first."""
    return newest_first(deals.create_many(table, [*posted], now))


def worded(table: Table, new: Sequence[Deal]) -> None:
    """File the words of new deals, as many in a transaction as fit: at once, they would wait for one another."""
    found_by = [frozenset(search.filed_under(deal)) for deal in new]
    for together in bulk.together(zip(new, map(len, found_by), found_by, strict=True)):
        table.transact(*search.filing(together))


def offered(table: Table, new: Sequence[Deal]) -> None:
    """File the offers of new deals, twenty in a transaction."""
    for start in range(0, len(new), 20):
        table.transact(*(offers.filing(deal) for deal in new[start : start + 20]))


def indexed(table: Table, some: list[Deal]) -> list[Deal]:
    """Deals with the words, offers and verdicts that the stream would have written."""
    worded(table, some)
    offered(table, some)
    for deal in some:
        offers.judge_anew(table, None, deal)
    known = {deal.deal_id: deal for deal in some}
    for judged in deals.get_many(table, list(known), consistent=True):
        if judged.verdict:  # which the stream brings, too
            offers.file(table, judged, judged)
            search.file(table, known[judged.deal_id], judged)
    return some


def newest_first(some: Iterable[Deal]) -> list[Deal]:
    """Deals in the order of a feed: by id, that is by second and then by chance."""
    return sorted(some, key=lambda deal: deal.deal_id, reverse=True)


class Paged(Protocol):
    """A page of a list, which may have another one."""

    @property
    def next(self) -> str | None:
        """The cursor of the next page."""


P = TypeVar("P", bound=Paged)


def every_page(read: Callable[[str | None], P]) -> list[P]:
    """All pages of a list, by following the cursors."""
    pages = [read(None)]
    while pages[-1].next is not None:
        pages.append(read(pages[-1].next))
    return pages


def walk(table: Table, feed: Feed, *, limit: int = 25, now: datetime = NOW) -> list[Page[Deal]]:
    """All pages of a feed."""
    return every_page(lambda cursor: feeds.read(table, feed, limit=limit, now=now, cursor=cursor))


def listed(table: Table, feed: Feed, *, now: datetime = NOW) -> list[str]:
    """The ids of all deals of a feed."""
    return [deal.deal_id for page in walk(table, feed, limit=100, now=now) for deal in page.items]


def ids(some: Iterable[Deal]) -> list[str]:
    return [deal.deal_id for deal in some]


def plain_picture(width: int = 40, height: int = 30) -> bytes:
    """A PNG file of one colour."""
    file = io.BytesIO()
    Image.new("RGB", (width, height), (200, 30, 30)).save(file, "PNG")
    return file.getvalue()
