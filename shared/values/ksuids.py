"""KSUIDs: ids that sort by creation time as strings (https://github.com/segmentio/ksuid).

27 characters of base62 over a 32-bit count of seconds since 2014-05-13T16:53:20Z and 16 bytes of payload.
Ids created in one second sort by payload, that is: in no particular but a stable order.
"""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, datetime, timedelta

from ksuid import Ksuid

EPOCH = datetime.fromtimestamp(1_400_000_000, UTC)
"""The first second a KSUID can hold; nothing is created before it."""

END = EPOCH + timedelta(seconds=2**32)
"""The first second, in 2150, that a KSUID can hold no longer."""

PATTERN = "[0-9A-Za-z]{27}"
"""A regular expression of KSUIDs; some texts of this shape are too large for its 20 bytes."""

_SHAPE = re.compile(PATTERN)
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
