"""The API's additions to HTTP: problem documents, bodies of JSON, and who may read answers in a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response

from shared.api import cors
from shared.errors import BadRequest, DealsError, NotAnObject, NotJson, NotSignedIn
from shared.http import app as http
from shared.http.answers import problem_of
from shared.http.body import media_type, parse_object
from shared.http.event import Event

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext


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
