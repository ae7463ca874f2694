"""Bearer secrets: 256 random bits as text; the table stores only a hash."""

from __future__ import annotations

import base64
import hashlib

BYTES = 32


def of(entropy: bytes) -> str:
    """The token made of 32 bytes of a caller's randomness, in characters that a URL takes as they are."""
    if len(entropy) != BYTES:
        raise ValueError(f"a token is made of {BYTES} bytes, not {len(entropy)}")
    return base64.urlsafe_b64encode(entropy).decode().rstrip("=")


def hashed(token: str) -> str:
    """What the table knows of a token: its SHA-256, in hexadecimal digits."""
    return hashlib.sha256(token.encode()).hexdigest()
