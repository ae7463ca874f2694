"""Domain errors as status codes and as problem documents: the only place that maps them, for the API and the pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from shared.errors import (
    BadRequest,
    Conflict,
    DealsError,
    Forbidden,
    Impossible,
    Invalid,
    InvalidCursor,
    NotAForm,
    NotFound,
    NotJson,
    NotSignedIn,
    SlowDown,
    TooLarge,
    Unavailable,
    Unexpected,
    WrongMethod,
)

MEDIA_TYPE = "application/problem+json"
"""The media type of a problem document."""

STATUSES: dict[type[DealsError], HTTPStatus] = {
    BadRequest: HTTPStatus.BAD_REQUEST,
    InvalidCursor: HTTPStatus.BAD_REQUEST,
    NotSignedIn: HTTPStatus.UNAUTHORIZED,
    Forbidden: HTTPStatus.FORBIDDEN,
    NotFound: HTTPStatus.NOT_FOUND,
    WrongMethod: HTTPStatus.METHOD_NOT_ALLOWED,
    Conflict: HTTPStatus.CONFLICT,
    TooLarge: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    NotJson: HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    NotAForm: HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    Invalid: HTTPStatus.UNPROCESSABLE_ENTITY,
    SlowDown: HTTPStatus.TOO_MANY_REQUESTS,
    Impossible: HTTPStatus.INTERNAL_SERVER_ERROR,
    Unavailable: HTTPStatus.SERVICE_UNAVAILABLE,
}

_PHRASES = {
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "Content Too Large",
    HTTPStatus.UNPROCESSABLE_ENTITY: "Unprocessable Content",
}
"""RFC 9110's phrases where the standard library has older ones before Python 3.13."""


def phrase(status: HTTPStatus) -> str:
    """A status in words, the same on every Python."""
    return _PHRASES.get(status, status.phrase)


def document(status: HTTPStatus, detail: str, errors: Sequence[Mapping[str, str]] = ()) -> dict[str, Any]:
    """A problem document (RFC 9457); ``errors`` has one entry for each field at fault."""
    return {
        "type": "about:blank",
        "title": phrase(status),
        "status": status.value,
        "detail": detail,
        **({"errors": list(errors)} if errors else {}),
    }


def status_of(error: DealsError) -> HTTPStatus:
    """The status code that tells of a domain error."""
    return next(STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES)


def detail_of(error: DealsError) -> str:
    """The sentence that tells the reader of an error. The answer of a data store is only logged."""
    if isinstance(error, Unavailable):
        return error.told
    if isinstance(error, Impossible) and not isinstance(error, Unexpected):
        return "Something is wrong with the site; asking again will not help."
    return str(error) or (type(error).__doc__ or "").strip()


def headers_of(error: DealsError) -> dict[str, str]:
    """The headers that say what to do about an error."""
    if isinstance(error, WrongMethod):
        return {"Allow": error.allowed}
    if isinstance(error, SlowDown):
        return {"Retry-After": str(error.retry_after)}
    if isinstance(error, Unavailable):
        return {"Retry-After": "1"}
    return {}
