"""The hash of an account's password: an item of its own, so that a role that reads a user's collection cannot see it.

Only signing in, proving a password and changing one read it. The first release kept it in the User item; it moves the
next time it is read, or by ``btd migrate`` if that is earlier.
"""

from __future__ import annotations

from dataclasses import replace

from shared.data import item_types, keys
from shared.dynamodb.attributes import Item
from shared.dynamodb.table import Projection, Table
from shared.dynamodb.writes import Write, forget, put, put_new, require, update
from shared.errors import AccountChanged, UsernameTaken
from shared.models.members import User

OLD = "PasswordHash"
"""The attribute of a User item in which the first release kept it."""

_OLD = Projection.of("Username", OLD)


def known(table: Table, user: User) -> User:
    """An account with its password's hash, which is moved to its own item first if need be.

    ``user`` was read before, so a password changed meanwhile begins another generation. Raises AccountChanged.
    """
    held = of(table, user.username)
    if held is None:
        split_hash(table, user.username)
        held = of(table, user.username)
    if held is None:
        raise AccountChanged
    return replace(user, password_hash=held)


def of(table: Table, username: str) -> str | None:
    """The hash of a user's password, or None where there is none. One consistent GetItem."""
    item = table.get(keys.password(username), consistent=True)
    return item["PasswordHash"] if item else None


def split_hash(table: Table, username: str) -> bool:
    """Move a hash that the first release kept in the User item; returns whether there was one to move.

    One transaction, refused where the password was changed or the hash moved meanwhile: then there is nothing left to
    move.
    """
    item = table.get(keys.user(username), consistent=True, projection=_OLD)
    if item is None or OLD not in item:
        return False
    try:
        table.transact(
            update(
                keys.user(username),
                f"REMOVE {OLD}",
                condition=f"{OLD} = :hash",
                values={":hash": item[OLD]},
                refused=AccountChanged(),
            ),
            put_new(_item(username, item[OLD]), refused=AccountChanged()),
        )
    except AccountChanged:
        return False
    return True


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
    """The write that takes a hash away with its account."""
    return forget(keys.password(username), because="the hash of the first release's accounts goes with the User item")


def _item(username: str, password_hash: str) -> Item:
    return {**keys.password(username), "Type": item_types.PASSWORD, "Username": username, "PasswordHash": password_hash}
