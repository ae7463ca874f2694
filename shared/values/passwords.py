"""Passwords, hashed by argon2id with the parameters RFC 9106 recommends where memory is scarce.

Letters are the same however a keyboard composes them (Unicode's NFC, as RFC 8265 asks); white space counts.
"""

from __future__ import annotations

import unicodedata

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from argon2.profiles import RFC_9106_LOW_MEMORY

HASHER = PasswordHasher.from_parameters(RFC_9106_LOW_MEMORY)

NOBODYS = "$argon2id$v=19$m=65536,t=3,p=4$1GEq//jHGxc4NaPqEXqA0Q$61xb8XsnF0NFnm5to00dayVRn+pUkTAs0RrKeNHM4B0"
"""The hash of a random text that nobody knows, made with today's parameters. To check a password against it takes as
long as against anyone's, also for the first guess in a fresh environment."""


def hash_password(password: str) -> str:
    """The encoded hash of a password, with a salt and the parameters in it."""
    return HASHER.hash(_composed(password))


def verify_password(password_hash: str | None, password: str) -> bool:
    """Whether a password is the one that was hashed. None, for an unknown user, takes as long and is never right."""
    try:
        return HASHER.verify(password_hash or NOBODYS, _composed(password)) and password_hash is not None
    except (VerificationError, InvalidHashError):
        return False


def is_outdated(password_hash: str) -> bool:
    """Whether a hash was made with other parameters than those of today, and must be made again at the next sign-in."""
    return HASHER.check_needs_rehash(password_hash)


def _composed(password: str) -> str:
    return unicodedata.normalize("NFC", password)
