"""The session store, and the hash of an account's password.

A token is 256 random bits; the table knows only its SHA-256. The hash of a password is an item of its own, so that a
role that reads a user's collection cannot see it: only signing in, proving a password and changing one read it.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from shared import settings
from shared.data import account_checks, keys
from shared.dynamodb import damage
from shared.dynamodb.attributes import Entity, Item
from shared.dynamodb.schema import GSI1, TTL_ATTRIBUTE
from shared.dynamodb.table import KEYS_ONLY, Projection, Table
from shared.dynamodb.writes import Write, delete, forget, put, put_new, require, update
from shared.errors import AccountChanged, AlreadyExists, NoSuchUser, NotSignedIn, UsernameTaken
from shared.models.members import Session, User
from shared.values import identifiers


def with_password(table: Table, user: User) -> User:
    """An account, which was read before, with its password's hash. Raises AccountChanged where it has none any more."""
    held = password_hash(table, user.username)
    if held is None:
        raise AccountChanged
    return replace(user, password_hash=held)


def password_hash(table: Table, username: str) -> str | None:
    """The hash of a user's password, or None where there is none. One consistent GetItem."""
    item = table.get(keys.password(username), consistent=True)
    return item["PasswordHash"] if item else None


def new_password(user: User) -> Write:
    """The write that keeps a new account's hash."""
    return put_new(_password_item(user.username, user.password_hash or ""), refused=UsernameTaken(user.username))


def changed_password(username: str, password_hash: str, *, proved: str | None) -> Write:
    """The write that keeps another hash, in place of the proved one if that is known. Refused with AccountChanged."""
    if proved is None:
        return put(
            _password_item(username, password_hash), because="one who sets a password need not know the one before"
        )
    return update(
        keys.password(username),
        "SET PasswordHash = :hash",
        condition="PasswordHash = :proved",
        values={":hash": password_hash, ":proved": proved},
        refused=AccountChanged(),
    )


def unchanged_password(username: str, password_hash: str) -> Write:
    """Require that a hash still holds. Refused with AccountChanged."""
    return require(
        keys.password(username), "PasswordHash = :hash", values={":hash": password_hash}, refused=AccountChanged()
    )


def removed_password(username: str) -> Write:
    """The write that takes a hash away with its account. Refused with NoSuchUser."""
    return delete(keys.password(username), refused=NoSuchUser(username))


def _password_item(username: str, password_hash: str) -> Item:
    return {**keys.password(username), "Type": keys.PASSWORD, "Username": username, "PasswordHash": password_hash}


LIFETIME = settings.SESSION_LIFETIME

_SESSION = Entity(Session, apart=frozenset({"account_id", "role", "expires_at"}))
"""Id and role are the account's; the end is the TTL attribute, in seconds."""

_ACCOUNT = Projection.of("AccountId", "Generation", "SignOuts", "Role")


def start(table: Table, user: User, now: datetime, entropy: bytes) -> tuple[str, Session]:
    """Sign a user in: a session and its token, made of 32 bytes of the caller's randomness.

    Raises AccountChanged if the account changed since its password was checked: a new password, its removal and a
    sign-out everywhere end a sign-in that is under way, too.
    """
    token = identifiers.token(entropy)
    session = Session(user.username, user.account_id, user.role, created_at=now, expires_at=now + LIFETIME)
    generation = user.generation or generation_of({"Generation": first_generation(user.password_hash or "")})
    item = {
        **keys.session(identifiers.hashed(token)),
        **keys.session_in_sessions(user.username, now),
        "Type": keys.SESSION,
        **_SESSION.write(session),
        TTL_ATTRIBUTE: int(session.expires_at.timestamp()),
        "Generation": generation,
    }
    condition, values = is_of(generation)
    still = require(keys.user(user.username), condition, values=values, refused=AccountChanged())
    proved = [] if user.password_hash is None else [unchanged_password(user.username, user.password_hash)]
    table.transact(still, *proved, put_new(item, refused=AlreadyExists()))
    return token, session


def authenticate(table: Table, token: str, now: datetime) -> Session:
    """The session of a token, with the role that its user has now. Two consistent GetItems. Raises NotSignedIn.

    A session is valid while its account's generation is the one it started with: a new one ends all sessions at once,
    whether or not an index shows them yet. TTL deletes late, by days: what has expired is refused here.
    """
    item = table.get(keys.session(identifiers.hashed(token)), consistent=True)
    session = damage.read_or(item, partial(_authenticated, table, now), otherwise=None) if item else None
    if session is None:
        raise NotSignedIn
    return session


def _authenticated(table: Table, now: datetime, item: Item) -> Session:
    if item[TTL_ATTRIBUTE] <= now.timestamp():
        raise NotSignedIn
    found = account(table, item["Username"])
    if "AccountId" not in found or generation_of(found) != item["Generation"]:
        raise NotSignedIn
    expires_at = datetime.fromtimestamp(item[TTL_ATTRIBUTE], UTC)
    return _SESSION.read(item, account_id=found["AccountId"], role=found["Role"], expires_at=expires_at)


def account(table: Table, username: str) -> Item:
    """The attributes of an account that say whether its sessions and keys are valid; empty where there is none."""
    return table.get(keys.user(username), consistent=True, projection=_ACCOUNT) or {}


def generation_of(account: Item) -> str:
    """The generation of an account's sessions: another one after each new password and sign-out everywhere."""
    return f"{account['Generation']}.{account.get('SignOuts', 0)}"


def is_of(generation: str) -> tuple[str, dict[str, str | int]]:
    """The condition that a User item is of a generation of sessions, and its values."""
    began, _, sign_outs = generation.rpartition(".")
    signed_out = "SignOuts = :sign_outs" if int(sign_outs) else "attribute_not_exists(SignOuts)"
    counted = {":sign_outs": int(sign_outs)} if int(sign_outs) else {}
    return f"Generation = :generation AND {signed_out}", {":generation": began, **counted}


def first_generation(password_hash: str) -> str:
    """The ``Generation`` of an account that has just been given a password: the hash has a salt, so it is new."""
    return hashlib.sha256(password_hash.encode()).hexdigest()[:16]


def end(table: Table, token: str) -> None:
    """Sign out."""
    table.write(forget(keys.session(identifiers.hashed(token)), because="a session that is gone is signed out"))


def end_all(table: Table, username: str, account_id: str | None = None) -> None:
    """Sign a user out everywhere, by one write: items stay, of no use, until TTL. Raises NotSignedIn, NoSuchUser."""
    table.write(account_checks.change(username, "ADD SignOuts :one", account_id, values={":one": 1}))


def running(table: Table, username: str) -> int:
    """How many session items of a user GSI1 shows: what ``btd`` reports when it ends them. Nothing depends on it."""
    return sum(1 for _ in table.query(keys.sessions(username), index=GSI1, projection=KEYS_ONLY))
