"""RFC 9110's rules for public answers, without a framework: how long they are fresh, ETags, gzip."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from typing import Any

from shared.http.event import header

FRESH = "max-age=5, stale-while-revalidate=30"
"""How old a public answer may be, and for how long it may still be shown while a new one is fetched."""

FASTEST = 1
"""A tenth larger than gzip's default at a third of the time, which is billed on every read."""

SMALLEST = 9
"""For files that caches keep for a year, so that they are hardly ever read here."""

SMALLEST_COMPRESSED = 1024
"""Bytes below which gzip saves nothing that matters."""

VARIES = {"Vary": "Accept-Encoding"}
"""Tells caches that the same address has a compressed and a plain answer."""


def etag(content: bytes) -> str:
    """The ETag of some content. It is weak, because the same content goes out plain and compressed."""
    return f'W/"{hashlib.sha256(content).hexdigest()[:32]}"'


def compressed(event: Mapping[str, Any], content: bytes, level: int = FASTEST) -> bytes | None:
    """Content as gzip, or None where the request does not ask for that or it would save nothing.

    API Gateway decodes a binary answer if Accept asks for its type. Without Accept it decodes nothing (not tried on
    AWS).
    https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-payload-encodings-workflow.html
    """
    asked = header(event, "accept") and accepts_gzip(header(event, "accept-encoding"))
    if not asked or len(content) < SMALLEST_COMPRESSED:
        return None
    return gzip.compress(content, compresslevel=level, mtime=0)


def has_already(if_none_match: str | None, etag: str) -> bool:
    """Weak comparison, as RFC 9110 (13.1.2) wants for If-None-Match."""
    if if_none_match is None:
        return False
    tags = [tag.strip().removeprefix("W/") for tag in if_none_match.split(",")]
    return "*" in tags or etag.removeprefix("W/") in tags


def accepts_gzip(accept_encoding: str | None) -> bool:
    """Whether gzip is among the accepted codings and not refused by ``q=0``."""
    for coding in (accept_encoding or "").split(","):
        name, _, parameters = coding.strip().partition(";")
        if name.strip().lower() in ("gzip", "*"):
            return parameters.replace(" ", "").lower() not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False
