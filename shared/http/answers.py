"""Answers: domain errors as problem documents (RFC 9457), private and public answers, and the Lambda handler.

Only this module maps errors to status codes. The API and the pages show them differently: each passes its ``refused``.
The API, the site's forms and ``btd`` share the texts of field errors. Each request has one log line, and one more if
something failed.

Private answers are never cached. Public ones are cached for a few seconds, with ETag, 304 and gzip as in RFC 9110.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
import traceback
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response

from shared import errors
from shared.errors import DealsError
from shared.http.requests import Event, correlation_id, decode, header, method, path
from shared.runtime import metrics
from shared.runtime.environment import logger
from shared.runtime.metrics import measured, report, report_damaged

if TYPE_CHECKING:
    from aws_lambda_powertools.event_handler.middlewares import NextMiddleware
    from aws_lambda_powertools.utilities.typing import LambdaContext


_SHOULD = r"\A\w+ should "
_REASONS = {"missing": "must be given", "extra_forbidden": "must not be given: there is no such field"}


def reason(entry: Mapping[str, Any]) -> str:
    """The text of one of pydantic's errors, with "must be" for "Input should be"."""
    return _REASONS.get(entry["type"]) or re.sub(_SHOULD, "must ", str(entry["msg"]).removeprefix("Value error, "))


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
    # RFC 9110, 15.5.5: there is no current representation of it. A reader can't do more about it, either.
    errors.Damaged: HTTPStatus.NOT_FOUND,
    errors.Impossible: HTTPStatus.INTERNAL_SERVER_ERROR,
    errors.Unavailable: HTTPStatus.SERVICE_UNAVAILABLE,
}

_PHRASES = {
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "Content Too Large",
    HTTPStatus.UNPROCESSABLE_ENTITY: "Unprocessable Content",
}
"""RFC 9110's phrases that differ from the standard library's before Python 3.13."""


def phrase(status: HTTPStatus) -> str:
    """A status's phrase, the same on every Python."""
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
    """The sentence that explains an error to the reader. A data store's own answer is only logged."""
    if isinstance(error, errors.Unavailable):
        return error.shown
    if isinstance(error, errors.Damaged):
        return "This can't be read, because its data is damaged. We reported the error; it can be repaired."
    if isinstance(error, errors.Impossible) and not isinstance(error, errors.Unexpected):
        return "Something is wrong with the site. Trying again will not help."
    return str(error) or (type(error).__doc__ or "").strip()


def headers_of(error: DealsError) -> dict[str, str]:
    """Headers that tell the client how to react to an error."""
    if isinstance(error, errors.WrongMethod):
        return {"Allow": error.allowed}
    if isinstance(error, errors.SlowDown):
        return {"Retry-After": str(error.retry_after)}
    if isinstance(error, errors.Unavailable):
        return {"Retry-After": "1"}
    return {}


PRIVATE = {"Cache-Control": "no-store"}

TRANSPORT = {"Strict-Transport-Security": "max-age=31536000"}
"""Only for sites on HTTPS; browsers ignore it elsewhere, and a laptop has no certificate.
It excludes subdomains, whose owners may have no HTTPS."""

SECURITY_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "strict-origin-when-cross-origin",
    "X-Frame-Options": "DENY",
}
"""Headers of the API's answers, for a browser that shows one as a document."""


def json_answer(
    document: Any,
    status: HTTPStatus = HTTPStatus.OK,
    headers: dict[str, str] | None = None,
    media_type: str = "application/json",
) -> Response[str]:
    """A private JSON document."""
    return Response(status, media_type, json.dumps(document, ensure_ascii=False), {**PRIVATE, **(headers or {})})


def nothing() -> Response[str]:
    """204 No Content."""
    return Response(HTTPStatus.NO_CONTENT, None, "", dict(PRIVATE))


def problem_of(error: DealsError) -> Response[str]:
    """The problem document of a domain error, with its headers."""
    status, detail = status_of(error), detail_of(error)
    faults = [{"field": field, "detail": reason or detail} for field, reason in error.faults]
    return json_answer(document(status, detail, faults), status, headers_of(error), MEDIA_TYPE)


FRESH = "max-age=5, stale-while-revalidate=30"
"""For how long a public answer is fresh, and may be shown stale while a new one is fetched."""

FASTEST = 1
"""A tenth larger than gzip's default, in a third of the time, which is billed on every read."""

SMALLEST = 9
"""For files that caches keep for a year and rarely fetch."""

SMALLEST_COMPRESSED = 1024
"""Below so many bytes gzip saves nothing that matters."""

VARIES = {"Vary": "Accept-Encoding"}
"""Tells caches that an address has a compressed and a plain answer."""

CREDENTIALS = ("authorization", "cookie")
"""Headers that identify callers. The API takes no cookies, but a site on the same host may set some."""


def public(
    app: APIGatewayRestResolver, text: str, media_type: str = "application/json", more: Mapping[str, str] | None = None
) -> Response[Any]:
    """A public answer of the API, JSON by default, with ``more`` headers.

    It is the same for everyone, but a request with credentials gets it marked private, so that no shared cache stores
    anything under them.
    """
    event = app.current_event.raw_event
    whose = "private" if any(header(event, name) is not None for name in CREDENTIALS) else "public"
    return Response(HTTPStatus.OK, media_type, text, {**(more or {}), "Cache-Control": f"{whose}, {FRESH}"})


def cached_and_compressed(app: APIGatewayRestResolver, next_middleware: NextMiddleware) -> Response[Any]:
    """Middleware: ETag, 304 and gzip for every answer that may be kept."""
    return finished(next_middleware(app), app.current_event.raw_event)


def finished(response: Response[Any], event: Event) -> Response[Any]:
    """Add caching headers, 304 and compression to an answer that may be cached. An existing ETag stays."""
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
    if isinstance(response.body, str):  # bytes are pictures and fonts, already compressed
        zipped = compressed(event, content, SMALLEST if "immutable" in cache else FASTEST)
        if zipped is not None:
            # Encoded here, because Powertools would turn a JSON answer's bytes into JSON.
            response.body, response.base64_encoded = base64.b64encode(zipped).decode(), True
            response.headers["Content-Encoding"] = "gzip"
    return response


def etag(content: bytes) -> str:
    """The ETag of some content, weak because the same content goes out plain and compressed."""
    return f'W/"{hashlib.sha256(content).hexdigest()[:32]}"'


def compressed(event: Mapping[str, Any], content: bytes, level: int = FASTEST) -> bytes | None:
    """Gzip content, or None if the request doesn't accept that or it saves nothing.

    API Gateway decodes a binary answer if the first type in Accept is one of the API's binary types. AWS doesn't say
    what it does without Accept, so such a request gets plain content.
    https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-payload-encodings-workflow.html
    """
    asked = header(event, "accept") and accepts_gzip(header(event, "accept-encoding"))
    if not asked or len(content) < SMALLEST_COMPRESSED:
        return None
    return gzip.compress(content, compresslevel=level, mtime=0)


def has_already(if_none_match: str | None, etag: str) -> bool:
    """Compare ETags weakly, as RFC 9110 (13.1.2) requires for If-None-Match."""
    if if_none_match is None:
        return False
    tags = [tag.strip().removeprefix("W/") for tag in if_none_match.split(",")]
    return "*" in tags or etag.removeprefix("W/") in tags


def accepts_gzip(accept_encoding: str | None) -> bool:
    """Whether gzip is accepted and not refused by ``q=0``."""
    for coding in (accept_encoding or "").split(","):
        name, _, parameters = coding.strip().partition(";")
        if name.strip().lower() in ("gzip", "*"):
            return parameters.replace(" ", "").lower() not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


_MADE_UP = "{name}"
"""The part of a path that a member chose (the name of an address), which is personal."""

_CLIENT_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,64}")


def log_request(event: Event, context: LambdaContext, answer: Event, *, method: str) -> None:
    """Log one line for a request: path, user, status and metrics.

    Texts that a member typed are replaced in the path. Fields that are None are left out.
    """
    caller = event["requestContext"].get("authorizer") or {}
    logger().info(
        "request",
        method=method,
        path=event["resource"] if _MADE_UP in event["resource"] else event["path"],
        status=answer["statusCode"],
        username=caller.get("username"),
        client_request_id=_client_request_id(event),
        function_request_id=context.aws_request_id,
        route=event["resource"],
        **measured(),
    )


def _without_messages(error: BaseException) -> str:
    """A traceback without the exceptions' messages, which may quote the request."""
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    frames = [f"{frame.filename}:{frame.lineno} in {frame.name}" for frame in traceback.extract_tb(error.__traceback__)]
    return "\n".join([*([_without_messages(before)] if before else []), *frames, type(error).__name__])


def _client_request_id(event: Mapping[str, Any]) -> str | None:
    """The client's own request id if it is well-formed, so that no other text gets into the log."""
    given = header(event, "x-correlation-id") or header(event, "x-request-id") or ""
    return given if _CLIENT_REQUEST_ID.fullmatch(given) else None


Guard = Callable[[Event], None]
"""Raises a domain error to refuse a request before it is routed."""

Handler = Callable[[Event, "LambdaContext"], Event]
Refused = Callable[[DealsError, Event], Response[Any]]
"""Makes the answer to an event that raised a domain error."""


def create_app(refused: Refused, **resolver: Any) -> APIGatewayRestResolver:
    """A resolver that passes every exception of its routes, unknown addresses included, to ``refused``."""
    app = APIGatewayRestResolver(**resolver)
    app.use([cached_and_compressed])

    # Every exception, because our faults must also be counted, and answered in the caller's format.
    @app.exception_handler(Exception)  # type: ignore[untyped-decorator]  # Powertools leaves it untyped
    def _failed(error: Exception) -> Response[Any]:
        event: Event = app.current_event.raw_event
        return refused(_domain_error(error, event), event)

    @app.not_found
    def _no_such_route(_error: Exception) -> Response[Any]:
        raise errors.NoSuchPath

    return app


def serve(app: APIGatewayRestResolver, *guards: Guard, refused: Refused) -> Handler:
    """The Lambda handler of an app. ``guards`` see requests with decoded bodies."""

    def handler(event: Event, context: LambdaContext) -> Event:
        logger().set_correlation_id(correlation_id(event))
        asked = event["requestContext"]["httpMethod"] = event["httpMethod"]
        event["path"], event["httpMethod"] = path(event), method(event)
        try:
            for guard in (decode, *guards):
                guard(event)
            answer: Event = app.resolve(event, context)
        except Exception as error:  # noqa: BLE001  # a guard's: the resolver handles those of routes, and so does this
            answer = _as_event(refused(_domain_error(error, event), event))
        answer["multiValueHeaders"]["X-Correlation-Id"] = [correlation_id(event)]
        # Browsers must not guess another media type from user content.
        answer["multiValueHeaders"]["X-Content-Type-Options"] = ["nosniff"]
        if asked == "HEAD":
            answer |= {"body": "", "isBase64Encoded": False}
        log_request(event, context, answer, method=asked)
        return answer

    return handler


def _domain_error(error: Exception, event: Event) -> DealsError:
    """The domain error to show the caller. Faults are logged and counted."""
    if not isinstance(error, DealsError):
        logger().error("request failed", exception_name=type(error).__name__, exception=_without_messages(error))
        error = errors.Unexpected(correlation_id(event))
    elif isinstance(error, errors.Unavailable | errors.Impossible):
        logger().error("table unavailable", exc_info=error)  # readers don't see this
    if isinstance(error, errors.Damaged):
        report_damaged(error.name)
    elif isinstance(error, errors.Impossible):
        report(metrics.FAULTS)
    return error


def _as_event(response: Response[Any]) -> Event:
    return {
        "statusCode": response.status_code,
        "body": response.body,
        "isBase64Encoded": response.base64_encoded,
        "multiValueHeaders": {
            name: value if isinstance(value, list) else [value] for name, value in response.headers.items()
        },
    }
