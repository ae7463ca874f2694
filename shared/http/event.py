"""The bearer token of a request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shared.errors import NotSignedIn

MAX_LENGTH = 200


def header(event: Mapping[str, Any], name: str) -> str | None:
    """A request header of an API Gateway event, whatever the case of its name (given in lower case)."""
    for key, value in (event.get("headers") or {}).items():
        if key.lower() == name:
            return str(value)
    return None


def token_of(event: Mapping[str, Any]) -> str:
    """The token of ``Authorization: Bearer <token>`` (RFC 6750). Raises NotSignedIn where there is none."""
    scheme, _, token = (header(event, "authorization") or "").partition(" ")
    token = token.strip()
    if scheme.lower() != "bearer" or not token or len(token) > MAX_LENGTH or not token.isascii():
        raise NotSignedIn
    return token
