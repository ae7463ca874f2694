"""Sessions, and the hashes of accounts' passwords.

A token is 256 random bits; the table stores its SHA-256. The password hash is a separate item, so that a role with
access to a user's collection can't read it: only signing in, proving a password and changing it do.
"""

from __future__ import annotations

import hashlib
import re
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from shared import settings
from shared.data import account_checks, keys
from shared.data.members import rate_limits
from shared.dynamodb import damage
from shared.dynamodb.attributes import Entity, Item
from shared.dynamodb.schema import GSI1, TTL_ATTRIBUTE
from shared.dynamodb.table import KEYS_ONLY, Projection, Table
from shared.dynamodb.writes import Write, delete, forget, put, put_new, require, update
from shared.errors import (
    AccountChanged,
    AlreadyExists,
    DealsError,
    NoSuchSession,
    NoSuchUser,
    NotSignedIn,
    Unavailable,
    UsernameTaken,
)
from shared.models.members import Role, Session, User
from shared.values import identifiers
from shared.values.times import to_iso


def with_password(table: Table, user: User) -> User:
    """Add the password hash to an account that was read before. Raises AccountChanged if there is none any more."""
    held = password_hash(table, user.username)
    if held is None:
        raise AccountChanged
    return replace(user, password_hash=held)


def password_hash(table: Table, username: str) -> str | None:
    """A user's password hash, or None. One consistent GetItem."""
    item = table.get(keys.password(username), consistent=True)
    return item["PasswordHash"] if item else None


def new_password(user: User) -> Write:
    """The write of a new account's hash."""
    return put_new(_password_item(user.username, user.password_hash or ""), refused=UsernameTaken(user.username))


def changed_password(username: str, password_hash: str, *, proved: str | None) -> Write:
    """The write of a new hash, which replaces the ``proved`` one if given. Refused with AccountChanged."""
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
    """Require that a hash is unchanged. Refused with AccountChanged."""
    return require(
        keys.password(username), "PasswordHash = :hash", values={":hash": password_hash}, refused=AccountChanged()
    )


def removed_password(username: str) -> Write:
    """The write that deletes a hash with its account. Refused with NoSuchUser."""
    return delete(keys.password(username), refused=NoSuchUser(username))


def _password_item(username: str, password_hash: str) -> Item:
    return {**keys.password(username), "Type": keys.PASSWORD, "Username": username, "PasswordHash": password_hash}


LIFETIME = settings.SESSION_LIFETIME

_SESSION = Entity(Session, apart=frozenset({"session_id", "account_id", "role", "expires_at"}))
"""The session's id is in its key; the account's id and role are the account's; the end is the TTL attribute, in
seconds."""

_ACCOUNT = Projection.of("AccountId", "Generation", "SignOuts", "Role")


def start(
    table: Table,
    user: User,
    now: datetime,
    entropy: bytes,
    *,
    address: str = "",
    browser: str | None = None,
    program: str | None = None,
) -> tuple[str, Session]:
    """Start a session; returns its token, made from 32 bytes of ``entropy``, and the session.

    ``address`` and ``browser`` are the request's, if there is one; or ``program`` is what the token is for.

    Raises AccountChanged if a new password, a removal or a sign-out everywhere came after the password check.
    """
    token = identifiers.token(entropy)
    generation = user.generation or generation_of({"Generation": first_generation(user.password_hash or "")})
    session = Session(
        session_id=id_of(token),
        username=user.username,
        account_id=user.account_id,
        role=user.role,
        generation=generation,
        created_at=now,
        expires_at=now + LIFETIME,
        used_at=now,
        browser=browser,
        network=network_of(address, user.account_id) if address else None,
        program=program,
    )
    item = {
        **keys.session(session.session_id),
        **keys.session_in_sessions(user.username, now),
        "Type": keys.SESSION,
        **_SESSION.write(session),
        TTL_ATTRIBUTE: int(session.expires_at.timestamp()),
    }
    proved = [] if user.password_hash is None else [unchanged_password(user.username, user.password_hash)]
    table.transact(unended(user.username, generation), *proved, put_new(item, refused=AlreadyExists()))
    return token, session


_ID = re.compile("[0-9a-f]{64}")


def id_of(token: str) -> str:
    """The id of a token's session: its hash, which signs nobody in."""
    return identifiers.hashed(token)


def authenticate(table: Table, token: str, now: datetime) -> Session:
    """The session of a token, whose use is noted if no request of the last hour has done so. Raises NotSignedIn."""
    session = find(table, token, now)
    if now - (session.used_at or session.created_at) >= settings.SESSION_NOTED:
        with suppress(_IsNoted, Unavailable):  # a request doesn't fail for it
            table.write(_used(session, now))
    return session


def find(table: Table, token: str, now: datetime) -> Session:
    """The session of a token, with its user's current role. Two consistent GetItems. Raises NotSignedIn.

    A session is valid while its account's generation is the one it started with, so a new generation ends all sessions
    at once, whatever an index shows. Expired ones are refused here, because TTL deletes late, by days, and so are
    those that weren't used for two weeks.
    """
    item = table.get(keys.session(id_of(token)), consistent=True)
    session = damage.read_or(item, partial(_authenticated, table, now), otherwise=None) if item else None
    if session is None:
        raise NotSignedIn
    return session


def _used(session: Session, now: datetime) -> Write:
    """The write that notes a session's use, unless another request has done so, or the session has ended."""
    return update(
        keys.session(session.session_id),
        "SET UsedAt = :now",
        condition="attribute_exists(PK) AND (attribute_not_exists(UsedAt) OR UsedAt <= :then)",
        values={":now": to_iso(now), ":then": to_iso(now - settings.SESSION_NOTED)},
        refused=_IsNoted(),
    )


class _IsNoted(DealsError):
    """The session's use is noted, or it has ended."""


def _authenticated(table: Table, now: datetime, item: Item) -> Session:
    if item[TTL_ATTRIBUTE] <= now.timestamp():
        raise NotSignedIn
    found = account(table, item["Username"])
    if "AccountId" not in found or generation_of(found) != item["Generation"]:
        raise NotSignedIn
    session = _from_item(item, found["AccountId"], found.get("Role", "member"))
    if _is_idle(session, now):
        raise NotSignedIn
    return session


def _from_item(item: Item, account_id: str, role: Role) -> Session:
    expires_at = datetime.fromtimestamp(item[TTL_ATTRIBUTE], UTC)
    return _SESSION.read(
        item, session_id=keys.id_in(item["PK"]), account_id=account_id, role=role, expires_at=expires_at
    )


def _is_idle(session: Session, now: datetime) -> bool:
    return session.used_at is not None and now - session.used_at >= settings.SESSION_IDLE


def account(table: Table, username: str) -> Item:
    """The account attributes that decide whether its sessions and keys are valid; empty if there is no account."""
    return table.get(keys.user(username), consistent=True, projection=_ACCOUNT) or {}


def generation_of(account: Item) -> str:
    """The generation of an account's sessions, which each new password and sign-out everywhere changes."""
    return f"{account['Generation']}.{account.get('SignOuts', 0)}"


def is_of(generation: str) -> tuple[str, dict[str, str | int]]:
    """The condition, with values, that a User item has a generation."""
    signed_out, counted = has_sign_outs_of(generation)
    return f"Generation = :generation AND {signed_out}", {":generation": generation.rpartition(".")[0], **counted}


def has_sign_outs_of(generation: str) -> tuple[str, dict[str, int]]:
    """The condition, with values, that all sessions of a User item were ended as often as in a generation."""
    sign_outs = int(generation.rpartition(".")[2])
    if not sign_outs:
        return "attribute_not_exists(SignOuts)", {}
    return "SignOuts = :sign_outs", {":sign_outs": sign_outs}


def unended(username: str, generation: str) -> Write:
    """Require that the sessions of a generation haven't been ended. Refused with AccountChanged."""
    condition, values = is_of(generation)
    return require(keys.user(username), condition, values=values, refused=AccountChanged())


def signed_out_once_more(user: User) -> User:
    """A user as read, after a write that added one to ``SignOuts``, and no other."""
    password, _, sign_outs = user.generation.rpartition(".")
    return replace(user, generation=f"{password}.{int(sign_outs) + 1}")


def first_generation(password_hash: str) -> str:
    """The ``Generation`` after a password change, from its hash, whose salt makes it new."""
    return hashlib.sha256(password_hash.encode()).hexdigest()[:16]


def end(table: Table, token: str) -> None:
    """Sign out."""
    table.write(forget(keys.session(id_of(token)), because="a session that is gone is signed out"))


def of_user(table: Table, whose: User | Session, now: datetime) -> list[Session]:
    """The newest valid sessions of a user, or of a valid session's user. One Query of GSI1, which may lack a session of
    this second."""
    items = table.query(keys.sessions(whose.username), index=GSI1, newest_first=True, limit=settings.SESSIONS_SHOWN)
    begun = (item for item in items if item["Generation"] == whose.generation)
    read = damage.readable(begun, partial(_from_item, account_id=whose.account_id, role=whose.role))
    return [each for each in read if each.expires_at > now and not _is_idle(each, now)]


def end_one(table: Table, username: str, session_id: str) -> None:
    """End one of a user's sessions. Raises NoSuchSession for another's, or one that has ended."""
    if not _ID.fullmatch(session_id):
        raise NoSuchSession(session_id)
    ended = delete(
        keys.session(session_id),
        condition="Username = :username",
        values={":username": username},
        refused=NoSuchSession(session_id),
    )
    table.write(ended)


def network_of(address: str, account_id: str) -> str:
    """Four digits that recognize a network for one account (``Session.network``)."""
    return hashlib.sha256(f"{account_id} {rate_limits.home_of(address)}".encode()).hexdigest()[:4]


def end_all(table: Table, username: str, account_id: str | None = None) -> None:
    """Sign a user out everywhere by one write; useless session items stay until TTL. Raises NotSignedIn, NoSuchUser."""
    table.write(account_checks.change(username, "ADD SignOuts :one", account_id, values={":one": 1}))


def running(table: Table, username: str) -> int:
    """How many of a user's session items GSI1 shows, for ``btd``'s report when it ends them."""
    return sum(1 for _ in table.query(keys.sessions(username), index=GSI1, projection=KEYS_ONLY))
