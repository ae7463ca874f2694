"""The cookie of a half-session, which the page of the second step reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from features.passkeys.data import HALF_LIFETIME
from shared.http.requests import MAX_TOKEN, attributes, brought, is_plain, name

COOKIE = "btd-half"


def of_half(token: str) -> str:
    """The ``Set-Cookie`` value of a half-session."""
    seconds = int(HALF_LIFETIME.total_seconds())
    return f"{name(COOKIE)}={token}; {attributes()}; HttpOnly; Max-Age={seconds}"


def removed() -> str:
    """The ``Set-Cookie`` value that deletes it."""
    return f"{name(COOKIE)}=; {attributes()}; HttpOnly; Max-Age=0"


def token_of(event: Mapping[str, Any]) -> str:
    """The token in a request's cookie; empty without one, or with two."""
    found = [value for each, value in brought(event) if each == name(COOKIE)]
    return found[0] if len(found) == 1 and is_plain(found[0], MAX_TOKEN) else ""
