"""From an API Gateway event to an answer of Powertools' resolver: what must hold of every request, and the log line.

Who makes an app says how its errors are answered (``refused``). What the site's pages do too, without Powertools, is in
``handling``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response

from shared.errors import DealsError, NoSuchPath
from shared.http.body import decode
from shared.http.event import Event, correlation_id, method, path
from shared.http.handling import WITHOUT_BODY, log_failure, log_request
from shared.runtime.environment import logger

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

Guard = Callable[[Event], None]
"""Refuses a request before it is handled, by raising a domain error."""

Handler = Callable[[Event, "LambdaContext"], Event]
Refused = Callable[[DealsError], Response[Any]]
"""The answer that tells of a domain error."""


def create_app(refused: Refused, **resolver: Any) -> APIGatewayRestResolver:
    """A resolver that answers domain errors, an unknown address among them, as ``refused`` says."""
    app = APIGatewayRestResolver(**resolver)

    @app.exception_handler(DealsError)  # type: ignore[untyped-decorator]  # Powertools leaves it untyped
    def _domain_error(error: DealsError) -> Response[Any]:
        log_failure(error)
        return refused(error)

    @app.not_found
    def _no_such_route(_error: Exception) -> Response[Any]:
        return refused(NoSuchPath())

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
        # Browsers must not guess another media type from what people wrote.
        answer["multiValueHeaders"]["X-Content-Type-Options"] = ["nosniff"]
        if asked == "HEAD":
            answer |= WITHOUT_BODY
        caller = event["requestContext"].get("authorizer") or {}
        log_request(
            event,
            context,
            answer,
            method=asked,
            path=event["path"],
            username=caller.get("username"),
            route=event["resource"],
        )
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
