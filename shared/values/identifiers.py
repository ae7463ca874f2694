"""Ids: KSUIDs, bearer secrets, and cursors.

A KSUID sorts by creation time as a string (https://github.com/segmentio/ksuid): 27 characters of base62 for a 32-bit
count of seconds since 2014-05-13T16:53:20Z and 16 bytes of payload. Ids of the same second sort by payload: an
arbitrary but stable order. A bearer secret is 256 random bits as text; the table stores only a hash.

A cursor is a KSUID and a checksum over it and the list's name, so a cut, mistyped or foreign cursor is refused. It
isn't secret and grants nothing: it names a position that everyone may read.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from ksuid import Ksuid

from shared.errors import InvalidCursor

EPOCH = datetime.fromtimestamp(1_400_000_000, UTC)
"""The first second a KSUID can hold; nothing is created before it."""

END = EPOCH + timedelta(seconds=2**32)
"""The first second, in 2150, beyond a KSUID's range."""

KSUID = "[0-9A-Za-z]{27}"
"""A regular expression for KSUIDs; a few matching texts exceed 20 bytes."""

_SHAPE = re.compile(KSUID)
_HIGHEST = "aWgEPTl1tmebfsQzFP4bxwgy80V"


def random(when: datetime, entropy: bytes) -> str:
    """A KSUID of a second, with 16 random bytes of the caller. Raises ValueError for a time out of range."""
    if not EPOCH <= when < END:
        raise ValueError(f"no KSUID holds the time {when.isoformat()}")
    return str(Ksuid(when, entropy))


def derived(when: datetime, *identity: str) -> str:
    """The KSUID of a second and an identity: the same arguments always give the same id."""
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
    """A token from 32 random bytes, in characters that a URL takes unescaped."""
    if len(entropy) != BYTES:
        raise ValueError(f"a token is made of {BYTES} bytes, not {len(entropy)}")
    return base64.urlsafe_b64encode(entropy).decode().rstrip("=")


def hashed(token: str) -> str:
    """The stored form of a token: its SHA-256, in hexadecimal digits."""
    return hashlib.sha256(token.encode()).hexdigest()


_CHECKSUM_BYTES = 6
_LONGEST_RANK = 20


def cursor_after(scope: str, last_id: str) -> str:
    """The cursor of the page after an item; ``scope`` names the list."""
    checksum = hashlib.sha256(f"cursor\0{scope}\0{last_id}".encode()).digest()[:_CHECKSUM_BYTES]
    return base64.urlsafe_b64encode(last_id.encode() + checksum).decode().rstrip("=")


def next_cursor(scope: str, ids: Sequence[str], limit: int) -> str | None:
    """The cursor of the page after the first ``limit`` of some items; None if there are no more."""
    return cursor_after(scope, ids[limit - 1]) if len(ids) > limit else None


def read_cursor(scope: str, cursor: str) -> str:
    """The id after which a page starts. Raises InvalidCursor for any text that ``cursor_after`` didn't make."""
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        last_id = raw[:-_CHECKSUM_BYTES].decode("ascii")
    except ValueError as error:
        raise InvalidCursor from error
    if cursor_after(scope, last_id) != cursor or not is_ksuid(last_id):
        raise InvalidCursor
    return last_id


def ranked_cursor_after(scope: str, rank: int, last_id: str) -> str:
    """The cursor after an item in a list sorted by a number, such as a price, which may change before the next
    request."""
    return f"{rank}.{cursor_after(f'{scope}/{rank}', last_id)}"


def read_ranked_cursor(scope: str, cursor: str) -> tuple[int, str]:
    """The number and the id after which a page starts. Raises InvalidCursor for any other text."""
    rank, _, rest = cursor.partition(".")
    if not (rank.isascii() and rank.isdigit() and len(rank) <= _LONGEST_RANK):
        raise InvalidCursor
    return int(rank), read_cursor(f"{scope}/{rank}", rest)
