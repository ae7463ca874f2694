"""Tokens of mailed links: who has one can read what comes to an account's email address.

A token is the account's name and 256 random bits. The table knows only a hash, made of the token, what it is for, and
the account as it was: its id, its address and the generation of its sessions. So a new password, a sign-out everywhere,
another address or another owner of the name makes a token worthless, and its item names nobody.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, Literal

from shared import settings
from shared.data import item_types, keys
from shared.data.members import sessions, users
from shared.dynamodb.schema import TTL_ATTRIBUTE
from shared.dynamodb.table import Table
from shared.dynamodb.writes import Write, delete, put_new, update
from shared.errors import AlreadyExists, DeadLink, NoSuchUser
from shared.models.members import User
from shared.values import identifiers
from shared.values.naming import normalise_username

Purpose = Literal["reset", "verify"]

LIFETIMES = {"reset": settings.RESET_LIFETIME, "verify": settings.VERIFICATION_LIFETIME}


def issue(table: Table, user: User, purpose: Purpose, now: datetime, entropy: bytes) -> str:
    """A new token of an account, made of the caller's randomness. Only the mail may have it."""
    token = f"{user.username}.{identifiers.token(entropy)}"
    item = {
        **keys.email_token(_hash(token, purpose, user)),
        "Type": item_types.EMAIL_TOKEN,
        "Purpose": purpose,
        TTL_ATTRIBUTE: int((now + LIFETIMES[purpose]).timestamp()),
    }
    table.write(put_new(item, refused=AlreadyExists()))
    return token


def owner(table: Table, token: str, purpose: Purpose, now: datetime) -> User:
    """The account that a token was mailed to. TTL deletes late: what is too old is refused here. Raises DeadLink."""
    user = account_named(table, token)
    item = table.get(keys.email_token(_hash(token, purpose, user)), consistent=True)
    if item is None or item[TTL_ATTRIBUTE] <= now.timestamp():
        raise DeadLink
    return user


def account_named(table: Table, token: str) -> User:
    """The account whose name a token begins with. Raises DeadLink."""
    try:
        return users.get(table, normalise_username(token.rpartition(".")[0]), consistent=True)
    except (ValueError, NoSuchUser) as error:
        raise DeadLink from error


def spend(
    table: Table,
    token: str,
    purpose: Purpose,
    user: User,
    expression: str,
    *beside: Write,
    values: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """Use a token up, in one transaction with what it allows: an update of its owner's account, and writes ``beside``.

    The account must be as it was when the token was found to be its own. Raises DeadLink.
    """
    same, held = sessions.is_of(user.generation)
    table.transact(
        delete(keys.email_token(_hash(token, purpose, user)), refused=DeadLink()),
        update(
            keys.user(user.username),
            expression,
            condition=f"AccountId = :account AND Email = :email AND {same}",
            values={":account": user.account_id, ":email": user.email, **held, **values},
            refused=DeadLink(),
        ),
        *beside,
    )


def _hash(token: str, purpose: Purpose, user: User) -> str:
    return identifiers.hashed(f"{purpose} {token} {user.account_id} {user.email} {user.generation}")
