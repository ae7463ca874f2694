"""Ids: KSUIDs and bearer secrets.

A KSUID sorts by creation time as a string (https://github.com/segmentio/ksuid): 27 characters of base62 over a 32-bit
count of seconds since 2014-05-13T16:53:20Z and 16 bytes of payload. Ids created in one second sort by payload, that is:
in no particular but a stable order. A bearer secret is 256 random bits as text; the table stores only a hash.
"""

from __future__ import annotations

import base64
import hashlib
import re
from datetime import UTC, datetime, timedelta

from ksuid import Ksuid

EPOCH = datetime.fromtimestamp(1_400_000_000, UTC)
"""The first second a KSUID can hold; nothing is created before it."""

END = EPOCH + timedelta(seconds=2**32)
"""The first second, in 2150, that a KSUID can hold no longer."""

KSUID = "[0-9A-Za-z]{27}"
"""A regular expression of KSUIDs; some texts of this shape are too large for its 20 bytes."""

_SHAPE = re.compile(KSUID)
_HIGHEST = "aWgEPTl1tmebfsQzFP4bxwgy80V"


def random(when: datetime, entropy: bytes) -> str:
    """A KSUID of a second, with 16 bytes of the caller's randomness. Raises ValueError for a time it cannot hold."""
    if not EPOCH <= when < END:
        raise ValueError(f"no KSUID holds the time {when.isoformat()}")
    return str(Ksuid(when, entropy))


def derived(when: datetime, *identity: str) -> str:
    """The one KSUID of a second and an identity: the same arguments always give the same id."""
    digest = hashlib.sha256("\0".join(identity).encode()).digest()
    return random(when, digest[: Ksuid.PAYLOAD_LENGTH_IN_BYTES])


def is_ksuid(text: str) -> bool:
    """Whether a text has the shape of a KSUID and fits its 20 bytes."""
    return _SHAPE.fullmatch(text) is not None and text <= _HIGHEST


def time_of(ksuid: str) -> datetime:
    """The second in which a KSUID was created. Raises ValueError for another text."""
    if not is_ksuid(ksuid):
        raise ValueError(f"not a KSUID: {ksuid!r}")
    return Ksuid.from_base62(ksuid).datetime


BYTES = 32


def token(entropy: bytes) -> str:
    """The token made of 32 bytes of a caller's randomness, in characters that a URL takes as they are."""
    if len(entropy) != BYTES:
        raise ValueError(f"a token is made of {BYTES} bytes, not {len(entropy)}")
    return base64.urlsafe_b64encode(entropy).decode().rstrip("=")


def hashed(token: str) -> str:
    """The stored form of a token: its SHA-256, in hexadecimal digits."""
    return hashlib.sha256(token.encode()).hexdigest()
