"""An account exists and is not being removed: writes for a user require this in their transaction.

A request may still be running when its account is removed. Without this, what it writes would outlive the account, and
belong to the next owner of the name.
"""

from __future__ import annotations

from shared.data import keys
from shared.dynamodb.writes import Write, require, update
from shared.errors import NoSuchUser, NotSignedIn


def required(username: str) -> Write:
    """Require that a user's account exists and is not being removed. Refused with NotSignedIn."""
    there = "attribute_exists(PK) AND attribute_not_exists(Leaving)"
    return require(keys.user(username), there, refused=NotSignedIn("This account is gone, or is being removed."))


def leaving(username: str) -> Write:
    """Mark an account as being removed: from now on no write that requires it succeeds. Refused with NoSuchUser."""
    return update(keys.user(username), "SET Leaving = :true", values={":true": True}, refused=NoSuchUser(username))


def staying(username: str) -> Write:
    """Take ``leaving`` back: the account stays, and writes for it succeed again. Refused with NoSuchUser."""
    return update(keys.user(username), "REMOVE Leaving", refused=NoSuchUser(username))
