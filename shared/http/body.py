"""The body of a request: text of a bounded size, and the JSON object that it may be."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any, NoReturn

from shared.errors import BadRequest, BodyTooLarge
from shared.http.event import Event, header

MAX_BODY_BYTES = 32 * 1024
"""Four times the largest deal: no request needs more."""


def decode(event: Event) -> None:
    """Guard: a body is text and not too large; it is decoded in place. Raises BodyTooLarge, BadRequest.

    With ``*/*`` as its binary media type, the gateway sends all bodies as base64, forms too, and says so in
    ``isBase64Encoded``. Which types are binary:
    https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-payload-encodings.html; the event:
    https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html
    """
    body = event.get("body")
    if not body:
        return
    if len(body) > MAX_BODY_BYTES * 4 / 3 + 4:
        raise BodyTooLarge(MAX_BODY_BYTES)
    if event.get("isBase64Encoded"):
        try:
            event["body"], event["isBase64Encoded"] = base64.b64decode(body, validate=True).decode(), False
        except ValueError as error:
            raise BadRequest("The body must be UTF-8.") from error
    if len(event["body"].encode(errors="replace")) > MAX_BODY_BYTES:
        raise BodyTooLarge(MAX_BODY_BYTES)


def media_type(event: Mapping[str, Any]) -> str:
    """The declared media type of a body, in lower case and without parameters; empty where nothing is said."""
    return (header(event, "content-type") or "").split(";", 1)[0].strip().lower()


def parse_object(text: str) -> dict[str, Any] | None:
    """The object of a JSON text; None where it is JSON, but no object.

    Raises ValueError for what is not JSON, NaN included, and for a name that is there twice: the code that checks a
    request might read one value, and the code that acts the other.
    """
    try:
        document = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_each_once)
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    return document if isinstance(document, dict) else None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        raise ValueError("a name is there twice")
    return document
