"""Public answers: a few seconds of caching, an ETag, 304 for clients that have it already, gzip for those that ask."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response

from shared.http.answers import PRIVATE
from shared.http.coding import FASTEST, FRESH, SMALLEST, VARIES, compressed, etag, has_already
from shared.http.event import Event, header

if TYPE_CHECKING:
    from aws_lambda_powertools.event_handler.middlewares import NextMiddleware

CREDENTIALS = ("authorization", "cookie")
"""Headers that tell one caller from another. The API itself takes no cookies; a site on the same host may set some."""


def public(
    app: APIGatewayRestResolver,
    text: str,
    media_type: str = "application/json",
    more: Mapping[str, str] | None = None,
) -> Response[Any]:
    """A public answer of the API: a text of some media type, by default JSON, with ``more`` headers.

    It is the same for everyone. But the answer to a request with credentials is marked as that caller's own, so that no
    shared cache on the way stores anything under them.
    """
    event = app.current_event.raw_event
    whose = "private" if any(header(event, name) is not None for name in CREDENTIALS) else "public"
    return Response(HTTPStatus.OK, media_type, text, {**(more or {}), "Cache-Control": f"{whose}, {FRESH}"})


def cached_and_compressed(app: APIGatewayRestResolver, next_middleware: NextMiddleware) -> Response[Any]:
    """Middleware: ETag, 304 and gzip for every answer that may be kept."""
    return finished(next_middleware(app), app.current_event.raw_event)


def finished(response: Response[Any], event: Event) -> Response[Any]:
    """An answer with what caches need, where it may be kept. An ETag that it has already stays."""
    cache = response.headers.get("Cache-Control", PRIVATE["Cache-Control"])
    if cache == PRIVATE["Cache-Control"]:
        return response
    response.headers |= VARIES
    content = response.body if isinstance(response.body, bytes) else (response.body or "").encode()
    if response.status_code == HTTPStatus.OK:
        tag = str(response.headers.setdefault("ETag", etag(content)))
        if has_already(header(event, "if-none-match"), tag):
            response.status_code, response.body = HTTPStatus.NOT_MODIFIED, ""
            return response
    if isinstance(response.body, str):  # bytes are pictures and fonts, compressed already
        zipped = compressed(event, content, SMALLEST if "immutable" in cache else FASTEST)
        if zipped is not None:
            # Encoded here: Powertools would make JSON of the bytes of a JSON answer.
            response.body, response.base64_encoded = base64.b64encode(zipped).decode(), True
            response.headers["Content-Encoding"] = "gzip"
    return response
