"""Private feed keys: a key reads its member's messages without a session, until it is revoked or ends.

The table stores only its SHA-256: one item by hash names the member, another by member has the hash, so that a new key
replaces the old one. Both are written and deleted together. Like a session, a key ends with the account's generation:
at a new password or a sign-out everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from features.private_feeds.data import keys
from shared.data import account_checks
from shared.data.members import sessions
from shared.dynamodb import damage
from shared.dynamodb.attributes import Item
from shared.dynamodb.table import Table
from shared.dynamodb.writes import Write, delete, forget, put_new, put_over
from shared.errors import Conflict, NotFound, NotSignedIn
from shared.values import identifiers
from shared.values.times import from_iso, to_iso

_WHOSE = ("Username", "AccountId")
_BECAUSE = "its owner's note of it goes in the same transaction, and is what is required"


class NoSuchFeed(NotFound):
    text = "There is no such feed: its address was revoked or is incomplete."


class FeedChanged(Conflict):
    text = "The feed's address was changed in another window."


@dataclass(frozen=True, slots=True)
class Reader:
    """The member whose feed a key opens."""

    username: str
    account_id: str


@dataclass(frozen=True, slots=True)
class FeedKey:
    """When a member's key was made, and whether it has ended with an older generation of the account."""

    made_at: datetime
    ended: bool


def make(
    table: Table, username: str, account_id: str, now: datetime, entropy: bytes, *, generation: str | None = None
) -> str:
    """Make a key from 32 random bytes, in place of the one before. Raises FeedChanged, NotSignedIn, AccountChanged.

    ``generation`` is that of the session that asks: once all sessions were ended, it makes no key that stays.
    """
    key = identifiers.token(entropy)
    before, account = _note(table, username), sessions.account(table, username)
    if account.get("AccountId") != account_id:
        raise account_checks.account_missing(username, account_id)
    now_it_is = sessions.generation_of(account)
    if generation not in (None, now_it_is):
        raise NotSignedIn
    common = {"Type": keys.FEED_KEY, "CreatedAt": to_iso(now), "Generation": now_it_is}
    whose = {**keys.feed_key(identifiers.hashed(key)), **common, "Username": username, "AccountId": account_id}
    note = {**keys.feed(username), **common, "TokenHash": identifiers.hashed(key)}
    noted = [put_new(note, refused=FeedChanged())]
    if before is not None:
        condition, values, gone = _as_read(before)
        noted = [put_over(note, condition, values, refused=FeedChanged()), *gone]
    table.transact(sessions.unended(username, now_it_is), put_new(whose, refused=FeedChanged()), *noted)
    return key


def of(table: Table, username: str) -> FeedKey | None:
    """A member's key; None if there is none, or it is unreadable. Two consistent GetItems."""
    note, account = _note(table, username), sessions.account(table, username)

    def read(item: Item) -> FeedKey:
        return FeedKey(from_iso(item["CreatedAt"]), ended=not _is_of(item, account))

    return damage.read_or(note, read, otherwise=None) if note else None


def revoke(table: Table, username: str, account_id: str | None = None) -> None:
    """Revoke a member's key, if there is one. Raises FeedChanged, NotSignedIn, NoSuchUser."""
    required = account_checks.required(username, account_id)
    if not _removed(table, username, required):
        table.transact(required)


def remove_some(table: Table, username: str, _most: int, *, required: Write) -> int:
    """Remove the key of an account that is being removed; returns 0, because nothing is left."""
    _removed(table, username, required)
    return 0


def reader(table: Table, key: str) -> Reader:
    """The member whose feed a key opens. Raises NoSuchFeed, also for an ended key. Two consistent GetItems."""
    item = table.get(keys.feed_key(identifiers.hashed(key)), consistent=True)
    if item is None:
        raise NoSuchFeed
    found = damage.read(item, lambda each: Reader(*(damage.attribute(each, name, str) for name in _WHOSE)))
    account = sessions.account(table, found.username)
    if account.get("AccountId") != found.account_id or not _is_of(item, account):
        raise NoSuchFeed
    return found


def _is_of(item: Item, account: Item) -> bool:
    """Whether a key has its account's generation; one without a generation, of an earlier development, has not."""
    return "Generation" in account and item.get("Generation") == sessions.generation_of(account)


def _removed(table: Table, username: str, required: Write) -> bool:
    """Remove a key; returns whether there was one."""
    note = _note(table, username)
    if note is None:
        return False
    condition, values, gone = _as_read(note)
    key = keys.feed(username)
    table.transact(required, delete(key, condition=condition, values=values, refused=FeedChanged()), *gone)
    return True


def _as_read(note: Item) -> tuple[str, dict[str, str | int], list[Write]]:
    """The condition that a note is unchanged since it was read, and the write that removes its key, if readable."""
    old = damage.attribute_or(note, "TokenHash", str, None)
    if old is None:
        return "NOT attribute_type(TokenHash, :text)", {":text": "S"}, []
    return "TokenHash = :old", {":old": old}, [forget(keys.feed_key(old), because=_BECAUSE)]


def _note(table: Table, username: str) -> Item | None:
    return table.get(keys.feed(username), consistent=True)
