"""The key of a member's private feed: whoever knows it reads the messages, without a session, until it is revoked.

The table knows only its SHA-256, as of a session's token: under the hash is whose feed it opens, and under the owner's
name is the hash, so that a new key takes the place of the old one. Both are written and deleted together.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from shared.data import account_checks, item_types, keys
from shared.dynamodb.attributes import Item
from shared.dynamodb.table import Projection, Table
from shared.dynamodb.writes import Write, delete, forget, put_new, put_over
from shared.errors import FeedChanged, NoSuchFeed
from shared.values import tokens
from shared.values.times import from_iso, to_iso

_ACCOUNT = Projection.of("AccountId")
_BECAUSE = "its owner's note of it goes in the same transaction, and is what is required"


@dataclass(frozen=True, slots=True)
class Reader:
    """Whose feed a key opens."""

    username: str
    account_id: str


def make(table: Table, username: str, account_id: str, now: datetime, entropy: bytes) -> str:
    """A new key, made of 32 bytes of randomness, in place of the one before. Raises FeedChanged, NotSignedIn."""
    key = tokens.of(entropy)
    before = _note(table, username)
    common = {"Type": item_types.FEED_KEY, "CreatedAt": to_iso(now)}
    whose = {**keys.feed_key(tokens.hashed(key)), **common, "Username": username, "AccountId": account_id}
    note = {**keys.feed(username), **common, "TokenHash": tokens.hashed(key)}
    noted = [put_new(note, refused=FeedChanged())]
    if before is not None:
        old, refused = before["TokenHash"], FeedChanged()
        noted = [put_over(note, "TokenHash = :old", {":old": old}, refused=refused)]
        noted.append(forget(keys.feed_key(old), because=_BECAUSE))
    table.transact(account_checks.required(username, account_id), put_new(whose, refused=FeedChanged()), *noted)
    return key


def made_at(table: Table, username: str) -> datetime | None:
    """When a member's key was made; None where there is none. One GetItem, consistent."""
    note = _note(table, username)
    return from_iso(note["CreatedAt"]) if note else None


def revoke(table: Table, username: str, account_id: str | None = None) -> None:
    """Revoke a member's key, whether or not there is one. Raises FeedChanged, NotSignedIn, NoSuchUser."""
    required = account_checks.required(username, account_id)
    if not _removed(table, username, required):
        table.transact(required)


def remove_some(table: Table, username: str, _most: int, *, required: Write) -> int:
    """Remove the key of an account that is being removed; returns 0, as nothing of it is left."""
    _removed(table, username, required)
    return 0


def reader(table: Table, key: str) -> Reader:
    """Whose feed a key opens. Raises NoSuchFeed, also where the account is gone. Two GetItems, consistent."""
    item = table.get(keys.feed_key(tokens.hashed(key)), consistent=True)
    if item is None:
        raise NoSuchFeed
    found = Reader(item["Username"], item["AccountId"])
    account = table.get(keys.user(found.username), consistent=True, projection=_ACCOUNT)
    if account is None or account.get("AccountId") != found.account_id:
        raise NoSuchFeed
    return found


def _removed(table: Table, username: str, required: Write) -> bool:
    """Remove a key, and return whether there was one."""
    note = _note(table, username)
    if note is None:
        return False
    old = note["TokenHash"]
    table.transact(
        required,
        delete(keys.feed(username), condition="TokenHash = :old", values={":old": old}, refused=FeedChanged()),
        forget(keys.feed_key(old), because=_BECAUSE),
    )
    return True


def _note(table: Table, username: str) -> Item | None:
    return table.get(keys.feed(username), consistent=True)
