"""Errors as ``application/problem+json`` (RFC 9457): the one place where a domain error becomes a status code."""

from __future__ import annotations

import json
from collections.abc import Sequence
from http import HTTPStatus

from aws_lambda_powertools.event_handler import Response

from shared.errors import (
    Conflict,
    DealsError,
    Forbidden,
    Invalid,
    InvalidCursor,
    NotFound,
    NotSignedIn,
    SlowDown,
    TooLarge,
    Unavailable,
)

MEDIA_TYPE = "application/problem+json"

STATUSES: dict[type[DealsError], HTTPStatus] = {
    InvalidCursor: HTTPStatus.BAD_REQUEST,
    NotSignedIn: HTTPStatus.UNAUTHORIZED,
    Forbidden: HTTPStatus.FORBIDDEN,
    NotFound: HTTPStatus.NOT_FOUND,
    Conflict: HTTPStatus.CONFLICT,
    TooLarge: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    Invalid: HTTPStatus.UNPROCESSABLE_ENTITY,
    SlowDown: HTTPStatus.TOO_MANY_REQUESTS,
    Unavailable: HTTPStatus.SERVICE_UNAVAILABLE,
}


class BadRequest(DealsError):
    """The request itself is malformed. (400)"""

    def __init__(self, detail: str, field: str | None = None) -> None:
        self.field = field
        super().__init__(detail)


class NotJson(DealsError):
    """The body is not declared to be JSON. (415)"""


class NotAnObject(Invalid):
    """The body is JSON, but not a JSON object."""

    field = "body"


class BodyTooLarge(TooLarge):
    """The body is larger than any request has use for."""


STATUSES |= {BadRequest: HTTPStatus.BAD_REQUEST, NotJson: HTTPStatus.UNSUPPORTED_MEDIA_TYPE}

_PHRASES = {
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "Content Too Large",
    HTTPStatus.UNPROCESSABLE_ENTITY: "Unprocessable Content",
}
"""RFC 9110's phrases where the standard library has older ones before Python 3.13."""


def phrase(status: HTTPStatus) -> str:
    """A status in words, the same on every Python."""
    return _PHRASES.get(status, status.phrase)


def problem(
    status: HTTPStatus, detail: str, errors: Sequence[dict[str, str]] = (), headers: dict[str, str] | None = None
) -> Response[str]:
    """A problem document: ``type``, ``title``, ``status``, ``detail``, and ``errors`` with one entry per field."""
    document = {
        "type": "about:blank",
        "title": phrase(status),
        "status": int(status),
        "detail": detail,
        **({"errors": list(errors)} if errors else {}),
    }
    return Response(
        status, MEDIA_TYPE, json.dumps(document, ensure_ascii=False), {"Cache-Control": "no-store", **(headers or {})}
    )


def of(error: DealsError) -> Response[str]:
    """The problem document of a domain error. What a store answered stays in the log."""
    status = next(STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES)
    headers = {}
    detail = str(error) or (type(error).__doc__ or "").strip()
    if isinstance(error, SlowDown):
        headers["Retry-After"] = str(error.retry_after)
    if isinstance(error, NotSignedIn):
        headers["WWW-Authenticate"] = "Bearer"
    if isinstance(error, Unavailable):
        headers["Retry-After"] = "1"
        detail = "The site is busy; try again in a moment."
    errors = [{"field": error.field, "detail": detail}] if error.field else []
    return problem(status, detail, errors, headers)
