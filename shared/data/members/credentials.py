"""The hash of an account's password: an item of its own, so that a role that reads a user's collection cannot see it.

Only signing in, proving a password and changing one read it.
"""

from __future__ import annotations

from dataclasses import replace

from shared.data import item_types, keys
from shared.dynamodb.attributes import Item
from shared.dynamodb.table import Table
from shared.dynamodb.writes import Write, delete, put, put_new, require, update
from shared.errors import AccountChanged, NoSuchUser, UsernameTaken
from shared.models.members import User


def known(table: Table, user: User) -> User:
    """An account, which was read before, with its password's hash. Raises AccountChanged where it has none any more."""
    held = of(table, user.username)
    if held is None:
        raise AccountChanged
    return replace(user, password_hash=held)


def of(table: Table, username: str) -> str | None:
    """The hash of a user's password, or None where there is none. One consistent GetItem."""
    item = table.get(keys.password(username), consistent=True)
    return item["PasswordHash"] if item else None


def new(user: User) -> Write:
    """The write that keeps a new account's hash."""
    return put_new(_item(user.username, user.password_hash or ""), refused=UsernameTaken(user.username))


def changed(username: str, password_hash: str, *, proved: str | None) -> Write:
    """The write that keeps another hash, in place of the proved one if that is known. Refused with AccountChanged."""
    if proved is None:
        return put(_item(username, password_hash), because="one who sets a password need not know the one before")
    return update(
        keys.password(username),
        "SET PasswordHash = :hash",
        condition="PasswordHash = :proved",
        values={":hash": password_hash, ":proved": proved},
        refused=AccountChanged(),
    )


def unchanged(username: str, password_hash: str) -> Write:
    """Require that a hash still holds. Refused with AccountChanged."""
    return require(
        keys.password(username), "PasswordHash = :hash", values={":hash": password_hash}, refused=AccountChanged()
    )


def gone(username: str) -> Write:
    """The write that takes a hash away with its account. Refused with NoSuchUser."""
    return delete(keys.password(username), refused=NoSuchUser(username))


def _item(username: str, password_hash: str) -> Item:
    return {**keys.password(username), "Type": item_types.PASSWORD, "Username": username, "PasswordHash": password_hash}
