"""Private feeds in tests of all features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from features.private_feeds.data import feed_keys, keys
from shared.data.invariants import PARTNERS
from shared.data.members import users
from shared.dynamodb.attributes import Item
from shared.dynamodb.table import Table
from shared.models.catalog import Deal
from shared.values.identifiers import token
from tests.support.site import Site, Visitor
from tests.support.states import State


def own(table: Table, _deal: Deal, username: str, now: datetime) -> None:
    """A member makes a feed, with a key of zeros; a second time, it stays."""
    if feed_keys.of(table, username) is None:
        account_id = users.get(table, username, consistent=True).account_id
        feed_keys.make(table, username, account_id, now, username.encode().ljust(32, b"0")[:32])


OWNS = (own,)

GOLDEN = (
    (keys.feed_key, ("9f86d081",), {"PK": "FEEDKEY#9f86d081", "SK": "FEEDKEY#9f86d081"}),
    (keys.feed, ("ana",), {"PK": "FEED#ana", "SK": "FEED#ana"}),
)


def _reading(item: Item) -> Callable[[Table], Any]:
    if "AccountId" in item:
        return partial(feed_keys.reader, key=token(b"ana".ljust(32, b"0")))
    return partial(feed_keys.of, username="ana")


READ_BY = {keys.FEED_KEY: _reading}

LOST = {
    "the note of a feed's key is lost": (
        PARTNERS,
        True,
        lambda items: [each for each in items if each["PK"] != keys.feed("ana")["PK"]],
    ),
}


def _make(_site: Site, member: Visitor, _other: Visitor, _deal_ids: Sequence[str]) -> None:
    """Make a feed, another one, and revoke it."""
    for answer in (member.post("/me/feed"), member.post("/me/feed"), member.delete("/me/feed")):
        assert answer.status_code in (201, 204)
    assert member.get("/me/feed").json() == {"createdAt": None, "ended": False}


USES = (_make,)

FORMS = {"feed's address": State("/my/feed", who="ana", form={})}

COMMANDS = {"A private feed": ("messages new-feed ana", ["GetItem", "GetItem", "GetItem", "TransactWriteItems"])}
