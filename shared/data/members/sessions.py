"""The session store. A token is 256 random bits; the table knows only its SHA-256."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from functools import partial

from shared import settings
from shared.data import account_checks, item_types, keys
from shared.data.members import credentials
from shared.dynamodb import damage
from shared.dynamodb.attributes import Item
from shared.dynamodb.entities import Entity
from shared.dynamodb.schema import GSI1, TTL_ATTRIBUTE
from shared.dynamodb.table import KEYS_ONLY, Projection, Table
from shared.dynamodb.writes import forget, put_new, require
from shared.errors import AccountChanged, AlreadyExists, NotSignedIn
from shared.models.members import Session, User
from shared.values import identifiers

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
        "Type": item_types.SESSION,
        **_SESSION.write(session),
        TTL_ATTRIBUTE: int(session.expires_at.timestamp()),
        "Generation": generation,
    }
    condition, values = is_of(generation)
    still = require(keys.user(user.username), condition, values=values, refused=AccountChanged())
    proved = [] if user.password_hash is None else [credentials.unchanged(user.username, user.password_hash)]
    table.transact(still, *proved, put_new(item, refused=AlreadyExists()))
    return token, session


def authenticate(table: Table, token: str, now: datetime) -> Session:
    """The session of a token, with the role that its user has now. Two consistent GetItems. Raises NotSignedIn.

    A session is valid while its account's generation is the one it started with: a new one ends all sessions at once,
    whether or not an index shows them yet. TTL deletes late, by days: what has expired is refused here.
    """
    item = table.get(keys.session(identifiers.hashed(token)), consistent=True)
    session = damage.whole(item, partial(_authenticated, table, now), otherwise=None) if item else None
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
    """The attributes of an account that tell whether its sessions and keys still count; empty where there is none."""
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
    """How many session items of a user GSI1 shows: what ``btd`` tells when it ends them. Nothing depends on it."""
    return sum(1 for _ in table.query(keys.sessions(username), index=GSI1, projection=KEYS_ONLY))
