"""That an account is there and stays: what is written for a user requires it in the same transaction.

A request may still be running when its account is removed. Without this, what it writes would outlive the account, and
be the next owner's of the name.
"""

from __future__ import annotations

from shared.data import keys
from shared.dynamodb.writes import Write, require, update
from shared.errors import NoSuchUser, NotSignedIn


def required(username: str) -> Write:
    """Require that a user's account is there and is not being removed. Refused with NotSignedIn."""
    there = "attribute_exists(PK) AND attribute_not_exists(Leaving)"
    return require(keys.user(username), there, refused=NotSignedIn("This account is gone, or is being removed."))


def leaving(username: str) -> Write:
    """Say that an account is being removed: nothing is written any more that requires it. Refused with NoSuchUser."""
    return update(keys.user(username), "SET Leaving = :true", values={":true": True}, refused=NoSuchUser(username))


def staying(username: str) -> Write:
    """Take ``leaving`` back: the account stays, and is written for again. Refused with NoSuchUser."""
    return update(keys.user(username), "REMOVE Leaving", refused=NoSuchUser(username))
