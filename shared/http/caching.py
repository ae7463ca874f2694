"""Public answers of the API: a few seconds of caching, an ETag, 304, gzip.

They are the same for everyone. But the answer to a request with credentials is marked as that caller's own, so that no
shared cache on the way stores anything under them.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response

from shared.http.coding import FRESH, compressed, has_already, validators
from shared.http.event import header

CREDENTIALS = ("authorization", "cookie")
"""Headers that tell one caller from another. The API itself takes no cookies; a site on the same host may set some."""


def public(
    app: APIGatewayRestResolver,
    text: str,
    media_type: str = "application/json",
    more: Mapping[str, str] | None = None,
) -> Response[Any]:
    """A public answer: a text of some media type, by default JSON, with ``more`` headers beside its own."""
    body = text.encode()
    event = app.current_event.raw_event
    headers = {**(more or {}), **validators(body), "Cache-Control": _cache_control(event)}
    if has_already(header(event, "if-none-match"), headers["ETag"]):
        return Response(HTTPStatus.NOT_MODIFIED, media_type, "", headers)
    zipped = compressed(event, body)
    if zipped is None:
        return Response(HTTPStatus.OK, media_type, text, headers)
    # Encoded here: Powertools would make JSON of the bytes of a JSON answer.
    encoded = base64.b64encode(zipped).decode()
    answer = Response(HTTPStatus.OK, media_type, encoded, {**headers, "Content-Encoding": "gzip"})
    answer.base64_encoded = True
    return answer


def _cache_control(event: Mapping[str, Any]) -> str:
    """Who may store the answer, and for how long it is good."""
    whose = "private" if any(header(event, name) is not None for name in CREDENTIALS) else "public"
    return f"{whose}, {FRESH}"
