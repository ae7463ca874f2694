"""What all routes of the API have: addresses, descriptions for the OpenAPI document, problems, CORS, and a caller.

The caller is the one of a request's bearer token, whom the authorizer names. The API reads no cookie: a page of another
site gets what any program gets, and cannot act for a visitor whose token it does not have. ``CORS_ORIGINS`` names the
origins whose pages may read answers, separated by spaces, or ``*`` for all; without it no answer has a header of CORS,
and browsers let no other site read one. The stacks name addresses from here, too.

https://fetch.spec.whatwg.org/#http-cors-protocol
https://docs.aws.amazon.com/apigateway/latest/developerguide/how-to-cors.html
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import unquote

from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response

from shared import features
from shared.errors import BadRequest, DealsError, Forbidden, NoSuchPath, NotAnObject, NotJson, NotSignedIn
from shared.http import answers
from shared.http.answers import problem_of
from shared.http.requests import MAX_TOKEN, Event, header, is_plain, media_type, parse_object

if TYPE_CHECKING:
    from aws_lambda_powertools.event_handler.api_gateway import BaseRouter
    from aws_lambda_powertools.event_handler.middlewares import NextMiddleware
    from aws_lambda_powertools.utilities.typing import LambdaContext

    from shared.models.members import Role

VERSION = "v1"
"""The name of the API's stage, so that ``/v1/...`` is the whole path on every host."""

ROOT = f"/{VERSION}"

PASSWORD_PATHS = ("/users", "/sessions", *features.paths("password"))
"""POSTs that hash a password, which takes a whole processor for a moment, and those of features: they are limited by
themselves."""


def deal_path(deal_id: str) -> str:
    """The address of a deal."""
    return f"{ROOT}/deals/{deal_id}"


def brand_path(slug: str) -> str:
    """The address of a brand."""
    return f"{ROOT}/brands/{slug}"


Who = Literal["anonymous", "member", "editor"]

PAGED = ("limit", "cursor")


def describe(
    summary: str,
    schema: str | None,
    *,
    who: Who = "anonymous",
    status: int = 200,
    errors: Sequence[int] = (),
    query: Sequence[str] = (),
    cached: bool = False,
    body: str | None = None,
    media_type: str = "application/json",
) -> dict[str, Any]:
    """The keyword arguments that document a route: who may call it, what it answers, and with which errors.

    ``schema`` names a model of ``schemas.py``, as does ``body``, that of a body which the route checks by itself;
    ``query`` names parameters of ``functions/api/openapi.py``.
    """
    # The gateway itself may answer 429; the table may be busy for a moment.
    statuses = {*errors, 429, 503}
    statuses |= {400} if query or body else set()
    statuses |= {415} if body else set()
    statuses |= {401} if who != "anonymous" else set()
    statuses |= {403} if who == "editor" else set()
    responses: dict[int, Any] = {status: _answer(status, schema, media_type)}
    if cached:
        responses[304] = {"description": "Not changed since the ETag that If-None-Match names"}
    for error in sorted(statuses):
        responses[error] = problem_answer(error)
    return {
        "summary": summary,
        "tags": [who],
        "responses": responses,
        "openapi_extensions": {"x-query": list(query), "x-body": body},
    }


of_members = partial(describe, who="member")
of_editors = partial(describe, who="editor")
"""The same for a route of members, and for one of editors."""


def problem_answer(status: int) -> dict[str, Any]:
    """The answer of an error, as it is documented."""
    return _answer(status, "Problem", answers.MEDIA_TYPE)


def _answer(status: int, schema: str | None, media_type: str) -> dict[str, Any]:
    answer: dict[str, Any] = {"description": answers.phrase(HTTPStatus(status))}
    if schema is not None:
        answer["content"] = {media_type: {"schema": {"$ref": f"#/components/schemas/{schema}"}}}
    return answer


EVERYBODY = "*"
METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE"
SENT_HEADERS = "Authorization, Content-Type, Idempotency-Key, If-None-Match, X-Correlation-Id, X-Request-Id"
READ_HEADERS = "ETag, Location, Retry-After, WWW-Authenticate, X-Correlation-Id"
"""The headers of requests that pages may send, and those of answers that they may read, in addition to the safelisted
ones."""

REMEMBERED = 7200
"""Seconds for which a browser need not ask again: browsers remember for a day at most, some for two hours."""


def preflight() -> Response[str]:
    """The answer to a browser that asks what it may send; ``allow`` says whether its page may call at all.

    Raises NoSuchPath if no other site may call.
    """
    if not _origins():
        raise NoSuchPath
    headers = {
        "Access-Control-Allow-Methods": METHODS,
        "Access-Control-Allow-Headers": SENT_HEADERS,
        "Access-Control-Max-Age": str(REMEMBERED),
    }
    return Response(HTTPStatus.NO_CONTENT, None, "", headers)


def allow_origin(event: Event, answer: Event) -> None:
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
        headers["Access-Control-Expose-Headers"] = [READ_HEADERS]


def _origins() -> list[str]:
    return os.environ.get("CORS_ORIGINS", "").split()


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller, as the authorizer found out."""

    username: str
    account_id: str
    role: Role


def token_of(event: Mapping[str, Any]) -> str:
    """The token of ``Authorization: Bearer <token>`` (RFC 6750). Raises NotSignedIn where there is none."""
    scheme, _, token = (header(event, "authorization") or "").partition(" ")
    token = token.strip()
    if scheme.lower() != "bearer" or not is_plain(token, MAX_TOKEN):
        raise NotSignedIn
    return token


def caller(event: Mapping[str, Any]) -> Caller:
    """The caller. Raises NotSignedIn where no authorizer names one."""
    named = (event.get("requestContext") or {}).get("authorizer") or {}
    if not named.get("username"):
        raise NotSignedIn
    return Caller(named["username"], named["accountId"], named["role"])


def calling(app: BaseRouter) -> Caller:
    """The caller of the route that answers now. Raises NotSignedIn."""
    return caller(app.current_event.raw_event)


def editors_only(event: Event) -> None:
    """Guard: the caller is an editor. Raises NotSignedIn, Forbidden."""
    if caller(event).role != "editor":
        raise Forbidden("Only editors may do this.")


def create_app(*middlewares: Callable[..., Response[Any]]) -> APIGatewayRestResolver:
    """A resolver whose errors are problem documents; where routes take bodies, with ``fields.with_body``."""
    app = answers.create_app(_refused, json_body_deserializer=_json)
    app.use([_decoded, *middlewares])
    return app


def serve(app: APIGatewayRestResolver, *guards: answers.Guard) -> answers.Handler:
    """The Lambda handler of one of the API's apps. ``guards`` may refuse a request before its body is read."""
    answered = answers.serve(app, _declares_json, *guards, refused=_refused)

    def handler(event: Event, context: LambdaContext) -> Event:
        answer = answered(event, context)
        allow_origin(event, answer)
        return answer

    return handler


def _decoded(app: APIGatewayRestResolver, next_middleware: NextMiddleware) -> Response[Any]:
    """Middleware: the parts of a path are decoded, which REST APIs deliver percent-encoded."""
    parts = app.context["_route_args"]
    parts |= {name: unquote(text) for name, text in parts.items()}
    return next_middleware(app)


def _refused(error: DealsError, _event: Event) -> Response[str]:
    """The problem document of an error."""
    answer = problem_of(error)
    if isinstance(error, NotSignedIn):
        answer.headers["WWW-Authenticate"] = "Bearer"
    return answer


def _declares_json(event: Event) -> None:
    """Guard: a body, where there is one, is declared to be JSON. Raises NotJson.

    Powertools looks for ``application/json`` in the header as it is written; media types have no case (RFC 9110, 8.3).
    """
    if not event.get("body"):
        return
    if media_type(event) != "application/json":
        raise NotJson
    for headers in (event.get("headers") or {}, event.get("multiValueHeaders") or {}):
        for name, value in headers.items():
            if name.lower() == "content-type":
                headers[name] = [each.lower() for each in value] if isinstance(value, list) else value.lower()


def _json(text: str) -> dict[str, Any]:
    """A body's object. Raises BadRequest for what is not JSON or has a name twice; NotAnObject."""
    try:
        document = parse_object(text)
    except ValueError as error:
        raise BadRequest("The body must be JSON, with each name once.") from error
    # Checked here, because Powertools would take the first element of a list for the object.
    if document is None:
        raise NotAnObject
    return document
