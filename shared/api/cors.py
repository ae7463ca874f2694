"""Which other sites' pages may read the API's answers: CORS, as browsers ask for it.

The API knows a caller by a token and reads no cookie: a page of another site gets what any program gets, and cannot act
for a visitor whose token it does not have. ``CORS_ORIGINS`` names the origins, separated by spaces, or ``*`` for all;
without it no answer has a header of CORS, and browsers let no other site read one.

https://fetch.spec.whatwg.org/#http-cors-protocol
https://docs.aws.amazon.com/apigateway/latest/developerguide/how-to-cors.html
"""

from __future__ import annotations

import os
from http import HTTPStatus

from aws_lambda_powertools.event_handler import Response

from shared.errors import NoSuchPath
from shared.http.requests import Event, header

EVERYBODY = "*"
METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE"
SENT = "Authorization, Content-Type, Idempotency-Key, If-None-Match, X-Correlation-Id, X-Request-Id"
READ = "ETag, Location, Retry-After, WWW-Authenticate, X-Correlation-Id"
"""The headers of requests that pages may send, and those of answers that they may read, besides the harmless ones."""

REMEMBERED = 7200
"""Seconds for which a browser need not ask again: browsers remember for a day at most, some for two hours."""


def preflight() -> Response[str]:
    """The answer to a browser that asks what it may send; ``allow`` tells it whether its page may call at all.

    Raises NoSuchPath if no other site may call.
    """
    if not _origins():
        raise NoSuchPath
    headers = {
        "Access-Control-Allow-Methods": METHODS,
        "Access-Control-Allow-Headers": SENT,
        "Access-Control-Max-Age": str(REMEMBERED),
    }
    return Response(HTTPStatus.NO_CONTENT, None, "", headers)


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
