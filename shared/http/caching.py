"""Public answers: an ETag, a few seconds of caching, 304 for who has it already, gzip for who asks.

They are the same for everyone. Yet the answer to a request with credentials is marked as that caller's own, so that no
shared cache on the way stores anything under them.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response

from shared.http.event import header

FRESH = "max-age=5, stale-while-revalidate=30"
CREDENTIALS = ("authorization", "cookie")
"""Headers that tell one caller from another. The API itself takes no cookies; a site on the same host may set some."""

COMPRESSION = 1
"""gzip's fastest: a tenth larger than its default at a third of the time, which is billed on every read."""

SMALLEST_COMPRESSED = 1024
"""Bytes below which gzip saves nothing that matters."""


def public(
    app: APIGatewayRestResolver,
    text: str,
    media_type: str = "application/json",
    more: Mapping[str, str] | None = None,
) -> Response[Any]:
    """A public answer: a text of some media type, JSON unless told, with ``more`` headers beside its own."""
    body = text.encode()
    event = app.current_event.raw_event
    # Weak, because the same document goes out plain and compressed.
    etag = f'W/"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = {**(more or {}), "ETag": etag, "Cache-Control": _cache_control(event), "Vary": "Accept-Encoding"}
    if _has_already(header(event, "if-none-match"), etag):
        return Response(HTTPStatus.NOT_MODIFIED, media_type, "", headers)
    # API Gateway decodes a binary answer only for a request with an Accept header.
    if len(body) >= SMALLEST_COMPRESSED and _accepts_gzip(header(event, "accept-encoding")) and header(event, "accept"):
        # Encoded here: Powertools would make JSON of the bytes of a JSON answer.
        compressed = base64.b64encode(gzip.compress(body, compresslevel=COMPRESSION, mtime=0)).decode()
        answer = Response(HTTPStatus.OK, media_type, compressed, {**headers, "Content-Encoding": "gzip"})
        answer.base64_encoded = True
        return answer
    return Response(HTTPStatus.OK, media_type, text, headers)


def _cache_control(event: Mapping[str, Any]) -> str:
    """Who may store the answer, and for how long it is good."""
    whose = "private" if any(header(event, name) is not None for name in CREDENTIALS) else "public"
    return f"{whose}, {FRESH}"


def _has_already(if_none_match: str | None, etag: str) -> bool:
    """Weak comparison, as RFC 9110 (13.1.2) wants for If-None-Match."""
    if if_none_match is None:
        return False
    tags = [tag.strip().removeprefix("W/") for tag in if_none_match.split(",")]
    return "*" in tags or etag.removeprefix("W/") in tags


def _accepts_gzip(accept_encoding: str | None) -> bool:
    """Whether gzip is among the accepted codings and not refused by ``q=0``."""
    for coding in (accept_encoding or "").split(","):
        name, _, parameters = coding.strip().partition(";")
        if name.strip().lower() in ("gzip", "*"):
            return parameters.replace(" ", "").lower() not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False
