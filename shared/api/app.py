"""From an API Gateway event to an answer: the resolver, who is calling, what must hold of every request, the log."""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response

from shared.api import problems
from shared.errors import DealsError, Forbidden, InvalidName, NoSuchTopic, NotSignedIn, Unavailable
from shared.http.event import header
from shared.models import Role, Topic, TopicKind
from shared.runtime.environment import logger
from shared.runtime.reporting import measured
from shared.values import slugs

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

Event = dict[str, Any]
Guard = Callable[[Event], None]
Handler = Callable[[Event, "LambdaContext"], Event]

MAX_BODY_BYTES = 32 * 1024
"""Four times the largest deal: no request has use for more."""

_CLIENT_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,64}")

MAX_PAGE = 100
DEFAULT_PAGE = 25


@dataclass(frozen=True, slots=True)
class Caller:
    """Who is calling, as the authorizer found out."""

    username: str
    role: Role


def create_app(*, validates: bool = False) -> APIGatewayRestResolver:
    """A resolver whose errors are problem documents. With ``validates``, bodies are checked by pydantic."""
    app = APIGatewayRestResolver(enable_validation=validates, json_body_deserializer=_json)

    @app.exception_handler(DealsError)  # type: ignore[untyped-decorator]  # Powertools leaves it untyped
    def _domain_error(error: DealsError) -> Response[str]:
        if isinstance(error, Unavailable):
            logger().error("table unavailable", exc_info=error)
        return problems.of(error)

    @app.not_found
    def _no_such_route(_error: Exception) -> Response[str]:
        return problems.problem(HTTPStatus.NOT_FOUND, "There is nothing at this address.")

    if validates:
        from shared.api.validation import report_invalid_bodies  # noqa: PLC0415  # and pydantic with it

        report_invalid_bodies(app)
    return app


def serve(app: APIGatewayRestResolver, *guards: Guard) -> Handler:
    """The Lambda handler of an app. ``guards`` refuse a request before anything of it is read."""

    def handler(event: Event, context: LambdaContext) -> Event:
        logger().set_correlation_id(correlation_id(event))
        try:
            for guard in (_read_body, *guards):
                guard(event)
            answer: Event = app.resolve(event, context)
        except DealsError as error:
            answer = _as_event(problems.of(error))
        answer["multiValueHeaders"]["X-Correlation-Id"] = [correlation_id(event)]
        # What people wrote stays JSON, whatever a browser would make of it.
        answer["multiValueHeaders"]["X-Content-Type-Options"] = ["nosniff"]
        _log(event, context, answer)
        return answer

    return handler


def correlation_id(event: Mapping[str, Any]) -> str:
    """What all log lines that follow from a request have in common: the id that the gateway gave it.

    A client's own id is logged beside it and not in its place, for two requests may well have the same.
    """
    return str(event["requestContext"].get("requestId", ""))


def caller(event: Mapping[str, Any]) -> Caller:
    """Who is calling. Raises NotSignedIn where no authorizer vouches for anyone."""
    vouched = (event.get("requestContext") or {}).get("authorizer") or {}
    if not vouched.get("username"):
        raise NotSignedIn
    return Caller(vouched["username"], vouched["role"])


def editors_only(event: Event) -> None:
    """Guard: whoever calls is an editor. Raises NotSignedIn, Forbidden."""
    if caller(event).role != "editor":
        raise Forbidden("Only editors may do this.")


def segment(text: str) -> str:
    """A path parameter as it was meant: REST APIs deliver them percent-encoded."""
    return unquote(text)


def topic_named(kind: TopicKind, parameter: str) -> Topic:
    """The brand or category that a path names, in whatever case and spelling. Raises NoSuchTopic."""
    name = segment(parameter)
    try:
        return Topic(kind, slugs.slug(name))
    except InvalidName as error:
        raise NoSuchTopic(kind.label, name) from error


def paging(app: APIGatewayRestResolver) -> dict[str, Any]:
    """The ``limit`` and ``cursor`` that a list's request names. Raises BadRequest for a limit that is none."""
    asked = app.current_event.get_query_string_value("limit", str(DEFAULT_PAGE))
    limit = int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 10 else 0
    if not 1 <= limit <= MAX_PAGE:
        raise problems.BadRequest(f"limit is a number from 1 to {MAX_PAGE}.", "limit")
    return {"limit": limit, "cursor": app.current_event.get_query_string_value("cursor", None)}


def address(event: Mapping[str, Any]) -> str:
    """The address a request came from.

    Behind CloudFront the gateway's neighbour is an edge location. The gateway adds that one to X-Forwarded-For, after
    CloudFront has added its own; what stands before is hearsay. The gateway answers nobody but CloudFront then.
    """
    if os.environ.get("BEHIND_CDN") == "true":
        passed = (header(event, "x-forwarded-for") or "").split(",")
        if len(passed) > 1:
            return passed[-2].strip()
    return str(event["requestContext"]["identity"]["sourceIp"])


def _read_body(event: Event) -> None:
    """Guard: a body, where there is one, is JSON by name, text by encoding and not too large; it is decoded in place.

    Raises NotJson, TooLarge, BadRequest. With ``*/*`` as its binary media type, the gateway sends all bodies as base64.
    """
    body = event.get("body")
    if not body:
        return
    if len(body) > MAX_BODY_BYTES * 4 / 3 + 4:
        raise problems.BodyTooLarge(f"A request has at most {MAX_BODY_BYTES} bytes.")
    if event.get("isBase64Encoded"):
        try:
            event["body"], event["isBase64Encoded"] = base64.b64decode(body, validate=True).decode(), False
        except ValueError as error:
            raise problems.BadRequest("The body is not UTF-8.") from error
    if len(event["body"].encode(errors="replace")) > MAX_BODY_BYTES:
        raise problems.BodyTooLarge(f"A request has at most {MAX_BODY_BYTES} bytes.")
    media_type = (header(event, "content-type") or "").split(";", 1)[0].strip().lower()
    if media_type != "application/json":
        raise problems.NotJson("Send JSON, with Content-Type: application/json.")


def _json(text: str) -> Any:
    """A body's object. Raises NotAnObject, and BadRequest for what JSON does not have (NaN), or no two read alike."""
    try:
        document = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_each_once)
    except (ValueError, RecursionError) as error:
        raise problems.BadRequest("The body is not JSON.") from error
    # Said here, because Powertools would take the first element of a list for the object.
    if not isinstance(document, dict):
        raise problems.NotAnObject("A JSON object is needed.")
    return document


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose names are unique: of two values, what checks a request may read one and what acts the other."""
    document = dict(pairs)
    if len(document) < len(pairs):
        raise ValueError("a name is there twice")
    return document


def _as_event(response: Response[str]) -> Event:
    return {
        "statusCode": response.status_code,
        "body": response.body,
        "isBase64Encoded": False,
        "multiValueHeaders": {
            name: value if isinstance(value, list) else [value] for name, value in response.headers.items()
        },
    }


def _log(event: Event, context: LambdaContext, answer: Event) -> None:
    """One line per request: what was asked, by whom, how it went, and what was counted meanwhile."""
    vouched = event["requestContext"].get("authorizer") or {}
    logger().info(
        "request",
        method=event["httpMethod"],
        route=event["resource"],
        path=event["path"],
        status=answer["statusCode"],
        username=vouched.get("username"),
        client_request_id=_client_request_id(event),
        function_request_id=context.aws_request_id,
        **measured(),
    )


def _client_request_id(event: Event) -> str | None:
    """The id that a client gave its request, if that is one and not a text to be found in the log."""
    given = header(event, "x-correlation-id") or header(event, "x-request-id") or ""
    return given if _CLIENT_REQUEST_ID.fullmatch(given) else None
