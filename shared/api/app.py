"""What all API routes share: addresses, descriptions for the OpenAPI document, problems, CORS and the caller.

The authorizer names the caller by the request's bearer token. The API reads no cookie, so another site's page can do no
more than any program: it can't act for a visitor whose token it lacks. ``CORS_ORIGINS`` lists the origins whose pages
may read answers, separated by spaces, or ``*`` for all; without it, answers have no CORS headers. The stacks take their
addresses from here, too.

https://fetch.spec.whatwg.org/#http-cors-protocol
https://docs.aws.amazon.com/apigateway/latest/developerguide/how-to-cors.html
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from urllib.parse import unquote

from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response

from shared import features, hooks
from shared.errors import BadRequest, DealsError, Forbidden, NoSuchPath, NotAnObject, NotJson, NotSignedIn
from shared.http import answers
from shared.http.answers import problem_of
from shared.http.requests import MAX_TOKEN, Event, header, is_plain, media_type, on_laptop, parse_object

if TYPE_CHECKING:
    from aws_lambda_powertools.event_handler.api_gateway import BaseRouter
    from aws_lambda_powertools.event_handler.middlewares import NextMiddleware
    from aws_lambda_powertools.utilities.typing import LambdaContext

    from shared.models.members import Role

VERSION = "v1"
"""The API stage's name, so that ``/v1/...`` is the whole path on every host."""

ROOT = f"/{VERSION}"

PASSWORD_PATHS = tuple(path for each in features.roles(hooks.Navigation) for path in each.PASSWORD_PATHS)
"""POSTs that hash a password, which takes a whole processor for a moment; they have their own limits."""


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
    """The keyword arguments that document a route: who may call it, its answer, and its errors.

    ``schema`` and ``body`` (one that the route checks by itself) name models of ``schemas.py``; ``query`` names
    parameters of ``tools/openapi.py``.
    """
    # The gateway itself may answer 429, and the table may be busy for a moment.
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
"""``describe`` for members' and editors' routes."""


def problem_answer(status: int) -> dict[str, Any]:
    """The documented answer of an error."""
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
"""Request headers that pages may send, and answer headers that they may read, besides the safelisted ones."""

REMEMBERED = 7200
"""How many seconds a browser may cache a preflight; browsers cap it, some at two hours."""


def preflight() -> Response[str]:
    """The answer to a preflight; ``allow`` decides whether the page may call at all.

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
    """Let the requesting page read an answer, if its origin is allowed.

    Answers vary by origin, allowed or not, so that caches don't mix them up.
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


class Caller(NamedTuple):
    """The caller, as identified by the authorizer. ``generation`` is the session's; the command line has none."""

    username: str
    account_id: str
    role: Role
    generation: str | None = None


def token_of(event: Mapping[str, Any]) -> str:
    """The token of ``Authorization: Bearer <token>`` (RFC 6750). Raises NotSignedIn without one."""
    scheme, _, token = (header(event, "authorization") or "").partition(" ")
    token = token.strip()
    if scheme.lower() != "bearer" or not is_plain(token, MAX_TOKEN):
        raise NotSignedIn
    return token


def caller(event: Mapping[str, Any]) -> Caller:
    """The caller. Raises NotSignedIn if the authorizer names none."""
    named = (event.get("requestContext") or {}).get("authorizer") or {}
    if not named.get("username"):
        raise NotSignedIn
    return Caller(named["username"], named["accountId"], named["role"], named.get("generation"))


def calling(app: BaseRouter) -> Caller:
    """The caller of the current route. Raises NotSignedIn."""
    return caller(app.current_event.raw_event)


def editors_only(event: Event) -> None:
    """Guard: require an editor. Raises NotSignedIn, Forbidden."""
    if caller(event).role != "editor":
        raise Forbidden("Only editors may do this.")


def create_app(*middlewares: Callable[..., Response[Any]]) -> APIGatewayRestResolver:
    """A resolver whose errors are problem documents; ``fields.with_body`` is the middleware for routes with bodies."""
    app = answers.create_app(_refused, json_body_deserializer=_json)
    app.use([_decoded, *middlewares])
    return app


def include(app: APIGatewayRestResolver, joined: Iterable[hooks.ApiPart]) -> None:
    """Add the routes of features to a function's."""
    for each in joined:
        if each.router:
            app.include_router(each.router)


def serve(app: APIGatewayRestResolver, *guards: answers.Guard) -> answers.Handler:
    """The Lambda handler of an API app. ``guards`` may refuse a request before its body is read."""
    answered = answers.serve(app, _declares_json, *guards, refused=_refused)

    def handler(event: Event, context: LambdaContext) -> Event:
        answer = answered(event, context)
        allow_origin(event, answer)
        secure = answers.SECURITY_HEADERS | ({} if on_laptop() else answers.TRANSPORT)
        for name, value in secure.items():  # the document about the API has a policy of its own
            answer["multiValueHeaders"].setdefault(name, [value])
        return answer

    return handler


def _decoded(app: APIGatewayRestResolver, next_middleware: NextMiddleware) -> Response[Any]:
    """Middleware: decode the parts of a path, which REST APIs deliver percent-encoded."""
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
    """Guard: a body must be declared as JSON. Raises NotJson.

    Powertools compares the header with ``application/json`` exactly, but media types ignore case (RFC 9110, 8.3).
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
    """Parse a body's object. Raises BadRequest for invalid JSON or a duplicate name; NotAnObject."""
    try:
        document = parse_object(text)
    except ValueError as error:
        raise BadRequest("The body must be JSON, with each name once.") from error
    # Checked here, because Powertools would take a list's first element for the object.
    if document is None:
        raise NotAnObject
    return document
