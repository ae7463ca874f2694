"""Cursors: where in which list the next page starts.

A cursor is a KSUID and a checksum over the KSUID and the list's name, so a cursor that was cut, mistyped or given by
another list is refused. It is not a secret and grants nothing: it names a position, and every position may be read.
"""

from __future__ import annotations

import base64
import hashlib

from shared.errors import InvalidCursor
from shared.values import identifiers

_CHECKSUM_BYTES = 6
_LONGEST_RANK = 20


def encode(scope: str, last_id: str) -> str:
    """The cursor of the page after an item; ``scope`` names the list."""
    checksum = hashlib.sha256(f"cursor\0{scope}\0{last_id}".encode()).digest()[:_CHECKSUM_BYTES]
    return base64.urlsafe_b64encode(last_id.encode() + checksum).decode().rstrip("=")


def decode(scope: str, cursor: str) -> str:
    """The id of the item after which the page starts. Raises InvalidCursor for what ``encode`` did not give."""
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        last_id = raw[:-_CHECKSUM_BYTES].decode("ascii")
    except ValueError as error:
        raise InvalidCursor from error
    if encode(scope, last_id) != cursor or not identifiers.is_ksuid(last_id):
        raise InvalidCursor
    return last_id


def encode_at(scope: str, rank: int, last_id: str) -> str:
    """The cursor of the page after an item in a list by a number, such as a price: the item may have another one when
    the cursor comes back."""
    return f"{rank}.{encode(f'{scope}/{rank}', last_id)}"


def decode_at(scope: str, cursor: str) -> tuple[int, str]:
    """The number and the id after which the page starts. Raises InvalidCursor for what ``encode_at`` did not give."""
    rank, _, rest = cursor.partition(".")
    if not (rank.isascii() and rank.isdigit() and len(rank) <= _LONGEST_RANK):
        raise InvalidCursor
    return int(rank), decode(f"{scope}/{rank}", rest)
