"""Passwords, hashed by argon2id with the parameters RFC 9106 recommends where memory is scarce."""

from __future__ import annotations

from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from argon2.profiles import RFC_9106_LOW_MEMORY

HASHER = PasswordHasher.from_parameters(RFC_9106_LOW_MEMORY)


def hash_password(password: str) -> str:
    """The encoded hash of a password, with a salt and the parameters in it."""
    return HASHER.hash(password)


def verify_password(password_hash: str | None, password: str) -> bool:
    """Whether a password is the one that was hashed. None, for an unknown user, takes as long and is never right."""
    try:
        return HASHER.verify(password_hash or _nobodys_hash(), password) and password_hash is not None
    except (VerificationError, InvalidHashError):
        return False


@cache
def _nobodys_hash() -> str:
    return HASHER.hash("nobody's password")
