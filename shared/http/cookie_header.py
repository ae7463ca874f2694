"""Cookies: how they are named, set and read.

``__Host-`` makes browsers refuse the cookie from another host, a sibling's subdomain included, and over plain HTTP
(https://developer.mozilla.org/docs/Web/HTTP/Headers/Set-Cookie#cookie_prefixes). The laptop's stage has plain HTTP
alone. Some browsers make an exception for localhost, Safari makes none: there the cookies do without the prefix and
``Secure``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

LAPTOP = "local"
"""The stage without HTTPS."""

DONE = "btd-said"
"""The code of what a form of this browser has just done. Not a secret, and readable by the script."""
_JUST = 60
"""Seconds for which something was done just now."""


def name(plain: str) -> str:
    """The name of a cookie that no other host may set."""
    return plain if on_laptop() else f"__Host-{plain}"


def attributes() -> str:
    """The attributes that all cookies have."""
    return "Path=/; SameSite=Lax" if on_laptop() else "Path=/; Secure; SameSite=Lax"


def on_laptop() -> bool:
    """Whether this is the stage on the laptop."""
    return os.environ.get("STAGE") == LAPTOP


def done(code: str) -> str:
    """The value of ``Set-Cookie`` by which the next page knows that this browser did what the address says."""
    return f"{DONE}={code}; {attributes()}; Max-Age={_JUST}"


def brought(event: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Each cookie of a request. HTTP/2 lets a browser split them into several headers (RFC 9113, 8.2.3)."""
    single = event.get("headers") or {}
    several = event.get("multiValueHeaders") or {}
    lines = [value for name, values in several.items() if name.lower() == "cookie" for value in values or ()]
    for line in lines or [value for name, value in single.items() if name.lower() == "cookie"]:
        for crumb in line.split(";"):
            name, divider, value = crumb.strip().partition("=")
            if divider:
                yield name, value
