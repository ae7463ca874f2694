"""From an API Gateway event to an answer: the resolver, what must hold of every request, the log line.

The API and the site's pages differ in how they refuse: one answers problem documents, the other pages. So both say how
an error is answered (``refused``), and share the rest.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response

from shared.errors import DealsError, Impossible, NoSuchAddress, Unavailable
from shared.http.body import decode
from shared.http.event import Event, correlation_id, header, method, path
from shared.runtime.environment import logger
from shared.runtime.reporting import measured

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

Guard = Callable[[Event], None]
"""Refuses a request before anything of it is answered, by raising a domain error."""

Handler = Callable[[Event, "LambdaContext"], Event]
Refused = Callable[[DealsError], Response[Any]]
"""The answer that tells of a domain error."""

_CLIENT_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,64}")


def create_app(refused: Refused, **resolver: Any) -> APIGatewayRestResolver:
    """A resolver that answers domain errors, an unknown address among them, as ``refused`` says."""
    app = APIGatewayRestResolver(**resolver)

    @app.exception_handler(DealsError)  # type: ignore[untyped-decorator]  # Powertools leaves it untyped
    def _domain_error(error: DealsError) -> Response[Any]:
        if isinstance(error, Unavailable | Impossible):
            logger().error("table unavailable", exc_info=error)
        return refused(error)

    @app.not_found
    def _no_such_route(_error: Exception) -> Response[Any]:
        return refused(NoSuchAddress())

    return app


def serve(app: APIGatewayRestResolver, *guards: Guard, refused: Refused) -> Handler:
    """The Lambda handler of an app. Its body is text by the time that ``guards`` see a request."""

    def handler(event: Event, context: LambdaContext) -> Event:
        logger().set_correlation_id(correlation_id(event))
        asked = event["httpMethod"]
        event["path"], event["httpMethod"] = path(event), method(event)
        try:
            for guard in (decode, *guards):
                guard(event)
            answer: Event = app.resolve(event, context)
        except DealsError as error:
            answer = _as_event(refused(error))
        answer["multiValueHeaders"]["X-Correlation-Id"] = [correlation_id(event)]
        # What people wrote stays what it is declared to be, whatever a browser would make of it.
        answer["multiValueHeaders"]["X-Content-Type-Options"] = ["nosniff"]
        if asked == "HEAD":
            answer |= {"body": "", "isBase64Encoded": False}
        _log(event, asked, context, answer)
        return answer

    return handler


def _as_event(response: Response[Any]) -> Event:
    return {
        "statusCode": response.status_code,
        "body": response.body,
        "isBase64Encoded": False,
        "multiValueHeaders": {
            name: value if isinstance(value, list) else [value] for name, value in response.headers.items()
        },
    }


def _log(event: Event, asked: str, context: LambdaContext, answer: Event) -> None:
    """One line per request: what was asked, by whom, how it went, and what was counted meanwhile."""
    caller = event["requestContext"].get("authorizer") or {}
    logger().info(
        "request",
        method=asked,
        route=event["resource"],
        path=event["path"],
        status=answer["statusCode"],
        username=caller.get("username"),
        client_request_id=_client_request_id(event),
        function_request_id=context.aws_request_id,
        **measured(),
    )


def _client_request_id(event: Event) -> str | None:
    """The id that a client gave its request, if that is one and not a text to be found in the log."""
    given = header(event, "x-correlation-id") or header(event, "x-request-id") or ""
    return given if _CLIENT_REQUEST_ID.fullmatch(given) else None
