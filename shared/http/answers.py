"""Answers: domain errors as problem documents (RFC 9457), and private and public ones.

Errors become status codes only here, for the API and the pages. Why a field is refused is said here in words that the
API, the site's forms and ``btd`` share.

Private answers are never cached: JSON, nothing, and problem documents. Public ones are, for a few seconds: they have an
ETag, 304 for clients that have it already, and gzip for those that ask; the rules are those of RFC 9110.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response

from shared import errors
from shared.errors import DealsError
from shared.http.requests import Event, header

if TYPE_CHECKING:
    from aws_lambda_powertools.event_handler.middlewares import NextMiddleware


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
    """The status code of a domain error."""
    return next(STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES)


def detail_of(error: DealsError) -> str:
    """The sentence that explains an error to the reader. The answer of a data store is only logged."""
    if isinstance(error, errors.Unavailable):
        return error.shown
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


PRIVATE = {"Cache-Control": "no-store"}


def json_answer(
    document: Any,
    status: HTTPStatus = HTTPStatus.OK,
    headers: dict[str, str] | None = None,
    media_type: str = "application/json",
) -> Response[str]:
    """A JSON document for the caller."""
    return Response(status, media_type, json.dumps(document, ensure_ascii=False), {**PRIVATE, **(headers or {})})


def nothing() -> Response[str]:
    """204: done, and nothing to say."""
    return Response(HTTPStatus.NO_CONTENT, None, "", dict(PRIVATE))


def problem(
    status: HTTPStatus, detail: str, errors: Sequence[dict[str, str]] = (), headers: dict[str, str] | None = None
) -> Response[str]:
    """An answer with a problem document, and with ``headers`` that say what to do about it."""
    return json_answer(document(status, detail, errors), status, headers, MEDIA_TYPE)


def problem_of(error: DealsError) -> Response[str]:
    """The problem document of a domain error."""
    detail = detail_of(error)
    errors = [{"field": field, "detail": reason or detail} for field, reason in error.faults]
    return problem(status_of(error), detail, errors, headers_of(error))


FRESH = "max-age=5, stale-while-revalidate=30"
"""How old a public answer may be, and for how long it may still be shown while a new one is fetched."""

FASTEST = 1
"""A tenth larger than gzip's default at a third of the time, which is billed on every read."""

SMALLEST = 9
"""For files that caches keep for a year, so that they are hardly ever read here."""

SMALLEST_COMPRESSED = 1024
"""Bytes below which gzip saves nothing that matters."""

VARIES = {"Vary": "Accept-Encoding"}
"""Tells caches that the same address has a compressed and a plain answer."""

CREDENTIALS = ("authorization", "cookie")
"""Headers that distinguish callers. The API itself takes no cookies; a site on the same host may set some."""


def public(
    app: APIGatewayRestResolver, text: str, media_type: str = "application/json", more: Mapping[str, str] | None = None
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


def etag(content: bytes) -> str:
    """The ETag of some content. It is weak, because the same content goes out plain and compressed."""
    return f'W/"{hashlib.sha256(content).hexdigest()[:32]}"'


def compressed(event: Mapping[str, Any], content: bytes, level: int = FASTEST) -> bytes | None:
    """Content as gzip, or None where the request does not ask for that or it would save nothing.

    API Gateway decodes a binary answer if Accept asks for its type. Without Accept it decodes nothing (not tried on
    AWS).
    https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-payload-encodings-workflow.html
    """
    asked = header(event, "accept") and accepts_gzip(header(event, "accept-encoding"))
    if not asked or len(content) < SMALLEST_COMPRESSED:
        return None
    return gzip.compress(content, compresslevel=level, mtime=0)


def has_already(if_none_match: str | None, etag: str) -> bool:
    """Weak comparison, as RFC 9110 (13.1.2) wants for If-None-Match."""
    if if_none_match is None:
        return False
    tags = [tag.strip().removeprefix("W/") for tag in if_none_match.split(",")]
    return "*" in tags or etag.removeprefix("W/") in tags


def accepts_gzip(accept_encoding: str | None) -> bool:
    """Whether gzip is among the accepted codings and not refused by ``q=0``."""
    for coding in (accept_encoding or "").split(","):
        name, _, parameters = coding.strip().partition(";")
        if name.strip().lower() in ("gzip", "*"):
            return parameters.replace(" ", "").lower() not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False
