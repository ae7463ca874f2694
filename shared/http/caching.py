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

from shared.http.coding import COMPRESSION, SMALLEST_COMPRESSED, accepts_gzip, has_already
from shared.http.event import header

FRESH = "max-age=5, stale-while-revalidate=30"
CREDENTIALS = ("authorization", "cookie")
"""Headers that tell one caller from another. The API itself takes no cookies; a site on the same host may set some."""


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
    if has_already(header(event, "if-none-match"), etag):
        return Response(HTTPStatus.NOT_MODIFIED, media_type, "", headers)
    # API Gateway decodes a binary answer only for a request with an Accept header.
    if len(body) >= SMALLEST_COMPRESSED and accepts_gzip(header(event, "accept-encoding")) and header(event, "accept"):
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
