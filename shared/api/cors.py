"""Which other sites' pages may read the API's answers: CORS, as browsers ask for it.

The API knows a caller by a token that it is sent, and reads no cookie: a page of another site gets what any program
gets, and nothing in the name of a visitor whose token it does not have. ``CORS_ORIGINS`` names the origins, parted by
spaces, or ``*`` for all; where it is not set, no answer says a word, and browsers let no other site read one.

https://fetch.spec.whatwg.org/#http-cors-protocol
https://docs.aws.amazon.com/apigateway/latest/developerguide/how-to-cors.html
"""

from __future__ import annotations

import os
from http import HTTPStatus

from aws_lambda_powertools.event_handler import Response

from shared.errors import NoSuchAddress
from shared.http.event import Event, header

EVERYBODY = "*"
METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE"
SENT = "Authorization, Content-Type, Idempotency-Key, If-None-Match, X-Correlation-Id, X-Request-Id"
READ = "ETag, Location, Retry-After, WWW-Authenticate, X-Correlation-Id"
"""The headers of requests that pages may send, and those of answers that they may read, besides the harmless ones."""

REMEMBERED = 7200
"""Seconds for which a browser need not ask again: none remembers for longer than a day, and some for two hours."""


def preflight() -> Response[str]:
    """What a browser hears that asks what it may send; ``allow`` tells it whether this is for its page at all.

    Raises NoSuchAddress where no other site may call.
    """
    if not _origins():
        raise NoSuchAddress
    return Response(
        HTTPStatus.NO_CONTENT,
        None,
        "",
        {
            "Access-Control-Allow-Methods": METHODS,
            "Access-Control-Allow-Headers": SENT,
            "Access-Control-Max-Age": str(REMEMBERED),
        },
    )


def allow(event: Event, answer: Event) -> None:
    """Let the page that asks read an answer, where its origin is one of those allowed.

    An answer to one origin is not kept for another: it varies by it, allowed or not.
    """
    allowed = _origins()
    if not allowed:
        return
    headers, origin = answer["multiValueHeaders"], header(event, "origin")
    if EVERYBODY in allowed:
        origin = EVERYBODY
    else:
        headers["Vary"] = [", ".join([*headers.get("Vary", ()), "Origin"])]
    if origin in allowed:
        headers["Access-Control-Allow-Origin"] = [origin]
        headers["Access-Control-Expose-Headers"] = [READ]


def _origins() -> list[str]:
    return os.environ.get("CORS_ORIGINS", "").split()
