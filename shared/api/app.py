"""The API's additions to HTTP: problem documents, bodies of JSON, who may read answers in a browser, and the caller.

The caller is the one of a request's bearer token, whom the authorizer names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response

from shared.api import cors
from shared.errors import BadRequest, DealsError, Forbidden, NotAnObject, NotJson, NotSignedIn
from shared.http import app as http
from shared.http.answers import problem_of
from shared.http.requests import MAX_TOKEN, Event, header, is_plain, media_type, parse_object
from shared.models.members import Role

if TYPE_CHECKING:
    from aws_lambda_powertools.event_handler.api_gateway import BaseRouter
    from aws_lambda_powertools.utilities.typing import LambdaContext


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


def create_app(*, validates: bool = False) -> APIGatewayRestResolver:
    """A resolver whose errors are problem documents. With ``validates``, bodies are checked by pydantic."""
    app = http.create_app(_refused, json_body_deserializer=_json)
    if validates:
        from shared.api.validation import with_body  # noqa: PLC0415  # and pydantic with it

        app.use([with_body])
    return app


def serve(app: APIGatewayRestResolver, *guards: http.Guard) -> http.Handler:
    """The Lambda handler of one of the API's apps. ``guards`` may refuse a request before its body is read."""
    answered = http.serve(app, _declares_json, *guards, refused=_refused)

    def handler(event: Event, context: LambdaContext) -> Event:
        answer = answered(event, context)
        cors.allow(event, answer)
        return answer

    return handler


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
