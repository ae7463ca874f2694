"""Passkeys, recovery codes, half-sessions and challenges in the table. Checking a signature is ``ceremonies.py``.

A right password of an account with a second factor starts a half-session: an item of its own type, which no function
but that of passkeys reads, and that names nobody. It ends after ten minutes or ten tries. A challenge belongs to the
session or half-session for which it was made, and is deleted by the request that brings its answer, right or wrong.
Every new or removed passkey ends all sessions of its account in the same transaction.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from features.passkeys import keys
from features.passkeys.models import Passkey, passkeys_of
from shared.data import keys as core_keys
from shared.data.members import sessions, users
from shared.dynamodb import damage
from shared.dynamodb.attributes import Entity, Item
from shared.dynamodb.schema import TTL_ATTRIBUTE
from shared.dynamodb.table import Table
from shared.dynamodb.writes import Write, delete, forget, put, put_new, update
from shared.errors import AccountChanged, AlreadyExists, Busy, Conflict, Forbidden, NoSuchUser, NotFound
from shared.models.members import User
from shared.values import identifiers
from shared.values.naming import normalise_username
from shared.values.times import to_iso

HALF_LIFETIME = timedelta(minutes=10)
"""How long the second step of signing in may take."""

TRIES = 10
"""Passkeys and recovery codes that may be tried in a half-session."""

CHALLENGE_LIFETIME = timedelta(minutes=5)
"""How long a challenge may be answered: browsers give a user a minute or two."""

MOST = 10
"""Passkeys of an account."""

CODES = 10
CODE_BYTES = 15
"""A recovery code has 120 random bits. From 112 on, OWASP's ASVS (5.0, 6.5.2) takes a plain hash for enough."""

Purpose = Literal["register", "sign in"]


class NoSuchPasskey(NotFound):
    text = "There is no such passkey. It may have been removed."


class TooManyPasskeys(Conflict):
    text = f"An account can have {MOST} passkeys. Remove one first."


class StepExpired(Forbidden):
    text = "This step of signing in has expired. Sign in again."


class NotProved(Forbidden):
    text = "We couldn't verify this passkey. Try again."


class WrongCode(Forbidden):
    text = "This recovery code is wrong, or was used before."


_PASSKEY = Entity(Passkey, apart=frozenset({"passkey_id"}))


@dataclass(frozen=True, slots=True)
class Half:
    """A half-session: its id, and the account whose password was right."""

    half_id: str
    user: User


def begin(table: Table, user: User, now: datetime, entropy: bytes) -> str:
    """Start a half-session for a user whose password was checked; returns its token."""
    token = f"{user.username}.{identifiers.token(entropy)}"
    item = {
        **keys.half_session(_half_id(token, user)),
        "Type": keys.HALF_SESSION,
        TTL_ATTRIBUTE: int((now + HALF_LIFETIME).timestamp()),
    }
    table.write(put_new(item, refused=AlreadyExists()))
    return token


def half_of(table: Table, token: str, now: datetime) -> Half:
    """The half-session of a token. Raises StepExpired, also after a new password, another role or ten tries."""
    try:
        user = users.get(table, normalise_username(token.rpartition(".")[0]), consistent=True)
    except (ValueError, NoSuchUser) as error:
        raise StepExpired from error
    half_id = _half_id(token, user)
    item = table.get(keys.half_session(half_id), consistent=True)
    if item is None or item[TTL_ATTRIBUTE] <= now.timestamp() or item.get("Tries", 0) >= TRIES:
        raise StepExpired
    return Half(half_id, user)


def count_try(table: Table, half: Half) -> None:
    """Count a try of a half-session's second step. Raises StepExpired after ten."""
    counted = update(
        keys.half_session(half.half_id),
        "ADD Tries :one",
        condition="attribute_exists(PK) AND (attribute_not_exists(Tries) OR Tries < :most)",
        values={":one": 1, ":most": TRIES},
        refused=StepExpired(),
    )
    table.write(counted)


def finish(table: Table, half: Half) -> None:
    """Use a half-session up. Raises StepExpired for one that another request has used."""
    table.write(delete(keys.half_session(half.half_id), refused=StepExpired()))


def keep_challenge(table: Table, challenge: bytes, purpose: Purpose, owner: str, now: datetime) -> None:
    """Keep the hash of a challenge for its ``owner``: the id of a session or half-session."""
    item = {
        **keys.challenge(_hash(challenge)),
        "Type": keys.CHALLENGE,
        "Purpose": purpose,
        "Owner": owner,
        TTL_ATTRIBUTE: int((now + CHALLENGE_LIFETIME).timestamp()),
    }
    table.write(put_new(item, refused=AlreadyExists()))


def spend_challenge(table: Table, challenge: bytes, purpose: Purpose, owner: str, now: datetime) -> None:
    """Use a challenge up, before its answer is checked. Raises NotProved for any but one of its owner's, in time."""
    spent = delete(
        keys.challenge(_hash(challenge)),
        condition="Purpose = :purpose AND #owner = :owner AND ExpiresAt > :now",
        names={"#owner": "Owner"},
        values={":purpose": purpose, ":owner": owner, ":now": int(now.timestamp())},
        refused=NotProved(),
    )
    table.write(spent)


def of_user(table: Table, username: str) -> list[Passkey]:
    """A user's passkeys, in no order. One Query."""
    items = table.query(keys.passkeys(username), prefix="PASSKEY", consistent=True)
    return damage.readable(items, _read)


def get(table: Table, username: str, credential_id: str) -> Passkey:
    """One of a user's passkeys, by the authenticator's id of it. Raises NotProved for another's, or an unknown one."""
    item = table.get(keys.passkey(username, passkey_id(credential_id)), consistent=True)
    if item is None:
        raise NotProved
    return damage.read(item, _read)


def add(table: Table, user: User, passkey: Passkey, *, first: bool) -> User:
    """Add a passkey, and end all of the account's sessions; returns the account as it is then.

    A ``first`` one is refused if the account has any by then: a right password alone adds no second one. Raises
    TooManyPasskeys, AlreadyExists, AccountChanged.
    """
    if passkeys_of(user) >= (1 if first else MOST):
        raise TooManyPasskeys
    item = {
        **keys.passkey(user.username, passkey.passkey_id),
        "Type": keys.PASSKEY,
        "Username": user.username,
        **_PASSKEY.write(passkey),
    }
    table.transact(
        _changed(user, "ADD Passkeys :more, SignOuts :one", {":more": 1}),
        put_new(item, refused=AlreadyExists("This passkey is registered already.")),
    )
    return sessions.signed_out_once_more(user)


def remove(table: Table, user: User, passkey_id: str) -> User:
    """Remove a passkey, with the last one the recovery codes, and end all sessions; returns the account as it is then.
    Raises NoSuchPasskey, AccountChanged."""
    gone: list[Write] = [delete(keys.passkey(user.username, passkey_id), refused=NoSuchPasskey())]
    if passkeys_of(user) <= 1:
        gone.append(forget(keys.recovery_codes(user.username), because="codes of no passkey are of no use"))
    table.transact(_changed(user, "ADD Passkeys :more, SignOuts :one", {":more": -1}), *gone)
    return sessions.signed_out_once_more(user)


def reset(table: Table, username: str) -> int:
    """Remove all passkeys and recovery codes of an account, and end its sessions; returns how many there were.
    Raises NoSuchUser, Busy."""

    def attempt() -> int:
        user = users.get(table, username, consistent=True)  # before its passkeys: each new one changes the account
        found = of_user(table, username)
        gone = [forget(keys.passkey(username, each.passkey_id), because="all of them go") for each in found]
        codes = forget(keys.recovery_codes(username), because="codes of no passkey are of no use")
        table.transact(_changed(user, "REMOVE Passkeys ADD SignOuts :one"), codes, *gone)
        return len(found)

    return table.retry(attempt, when=AccountChanged, gave_up=Busy("This account is being changed all the time."))


def used(table: Table, username: str, passkey: Passkey, sign_count: int, now: datetime) -> None:
    """Note a passkey's use. Raises NotProved if its count has changed since it was read, as by a copy of its key."""
    noted = update(
        keys.passkey(username, passkey.passkey_id),
        "SET SignCount = :count, UsedAt = :now",
        condition="SignCount = :read",
        values={":count": sign_count, ":now": to_iso(now), ":read": passkey.sign_count},
        refused=NotProved(),
    )
    table.write(noted)


def new_codes(table: Table, user: User, now: datetime, entropy: bytes) -> list[str]:
    """Replace an account's recovery codes; returns the new ones, which are shown once. Raises AccountChanged."""
    parts = [entropy[at : at + CODE_BYTES] for at in range(0, CODES * CODE_BYTES, CODE_BYTES)]
    codes = [base64.b32encode(part).decode().lower() for part in parts]
    item = {
        **keys.recovery_codes(user.username),
        "Type": keys.RECOVERY_CODES,
        "Username": user.username,
        "CreatedAt": to_iso(now),
        "Hashes": {_code_hash(user, code) for code in codes},
    }
    unended = sessions.unended(user.username, user.generation)
    table.transact(unended, put(item, because="new codes replace the old ones"))
    return ["-".join(code[at : at + 4] for at in range(0, len(code), 4)) for code in codes]


def codes_left(table: Table, username: str) -> int:
    """How many recovery codes weren't used yet."""
    item = table.get(keys.recovery_codes(username), consistent=True)
    return len(item.get("Hashes", ())) if item else 0


def spend_code(table: Table, user: User, typed: str) -> None:
    """Use a recovery code up. Raises WrongCode."""
    code = "".join(each for each in typed.lower() if each.isalnum())
    hashed = _code_hash(user, code)
    spent = update(
        keys.recovery_codes(user.username),
        "DELETE Hashes :codes",
        condition="contains(Hashes, :code)",
        values={":codes": {hashed}, ":code": hashed},
        refused=WrongCode(),
    )
    table.write(spent)


def passkey_id(credential_id: str) -> str:
    """A passkey's id, from the authenticator's id of it."""
    return identifiers.hashed(credential_id)


def _changed(user: User, expression: str, values: Mapping[str, int] | None = None) -> Write:
    """The write that changes an account's item and ends its sessions. Refused with AccountChanged if any passkey came
    or went since the user was read: each does this, too."""
    condition, held = sessions.has_sign_outs_of(user.generation)
    return update(
        core_keys.user(user.username),
        expression,
        condition=f"AccountId = :account AND {condition}",
        values={":account": user.account_id, ":one": 1, **held, **(values or {})},
        refused=AccountChanged(),
    )


def _half_id(token: str, user: User) -> str:
    """A half-session's id. It is of a generation of its account, so that it ends with the account's sessions."""
    return identifiers.hashed(f"{token} {user.account_id} {user.generation}")


def _read(item: Item) -> Passkey:
    return _PASSKEY.read(item, passkey_id=core_keys.id_in(item["SK"]))


def _hash(challenge: bytes) -> str:
    return hashlib.sha256(challenge).hexdigest()


def _code_hash(user: User, code: str) -> str:
    return identifiers.hashed(f"{user.account_id} {code}")
