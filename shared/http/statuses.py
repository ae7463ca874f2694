"""Domain errors as status codes and as problem documents: the only place that maps them, for the API and the pages.

Why a field is refused is said here in words that the API, the site's forms and ``btd`` share.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from shared import errors
from shared.errors import DealsError

_SHOULD = re.compile(r"\A\w+ should ")
_REASONS = {"missing": "must be given", "extra_forbidden": "must not be given: there is no such field"}


def reason(entry: Mapping[str, Any]) -> str:
    """The fault of a field, from one of pydantic's errors: its "Input should be" is "must be"."""
    return _REASONS.get(entry["type"]) or _SHOULD.sub("must ", str(entry["msg"]).removeprefix("Value error, "))


MEDIA_TYPE = "application/problem+json"
"""The media type of a problem document."""

STATUSES: dict[type[DealsError], HTTPStatus] = {
    errors.BadRequest: HTTPStatus.BAD_REQUEST,
    errors.InvalidCursor: HTTPStatus.BAD_REQUEST,
    errors.NotSignedIn: HTTPStatus.UNAUTHORIZED,
    errors.Forbidden: HTTPStatus.FORBIDDEN,
    errors.NotFound: HTTPStatus.NOT_FOUND,
    errors.WrongMethod: HTTPStatus.METHOD_NOT_ALLOWED,
    errors.Conflict: HTTPStatus.CONFLICT,
    errors.TooLarge: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    errors.NotJson: HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    errors.NotAForm: HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    errors.Invalid: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.SlowDown: HTTPStatus.TOO_MANY_REQUESTS,
    # RFC 9110, 15.5.5: there is no current representation of it. Readers can do nothing else about it, either.
    errors.Damaged: HTTPStatus.NOT_FOUND,
    errors.Impossible: HTTPStatus.INTERNAL_SERVER_ERROR,
    errors.Unavailable: HTTPStatus.SERVICE_UNAVAILABLE,
}

_PHRASES = {
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "Content Too Large",
    HTTPStatus.UNPROCESSABLE_ENTITY: "Unprocessable Content",
}
"""RFC 9110's phrases where the standard library has older ones before Python 3.13."""


def phrase(status: HTTPStatus) -> str:
    """A status in words, the same on every Python."""
    return _PHRASES.get(status, status.phrase)


def document(status: HTTPStatus, detail: str, faults: Sequence[Mapping[str, str]] = ()) -> dict[str, Any]:
    """A problem document (RFC 9457); ``faults`` has one entry for each field at fault."""
    return {
        "type": "about:blank",
        "title": phrase(status),
        "status": status.value,
        "detail": detail,
        **({"errors": list(faults)} if faults else {}),
    }


def status_of(error: DealsError) -> HTTPStatus:
    """The status code that tells of a domain error."""
    return next(STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES)


def detail_of(error: DealsError) -> str:
    """The sentence that tells the reader of an error. The answer of a data store is only logged."""
    if isinstance(error, errors.Unavailable):
        return error.told
    if isinstance(error, errors.Damaged):
        return "This can't be read: something is wrong with how we keep it. It was reported, and can be repaired."
    if isinstance(error, errors.Impossible) and not isinstance(error, errors.Unexpected):
        return "Something is wrong with the site; asking again will not help."
    return str(error) or (type(error).__doc__ or "").strip()


def headers_of(error: DealsError) -> dict[str, str]:
    """The headers that say what to do about an error."""
    if isinstance(error, errors.WrongMethod):
        return {"Allow": error.allowed}
    if isinstance(error, errors.SlowDown):
        return {"Retry-After": str(error.retry_after)}
    if isinstance(error, errors.Unavailable):
        return {"Retry-After": "1"}
    return {}
