"""From an API Gateway event to an answer of Powertools' resolver, for the API and for the site's pages.

The two differ in how they tell of an error: each passes ``refused``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response

from shared.errors import Damaged, DealsError, Impossible, NoSuchPath, Unavailable, Unexpected
from shared.http import logs
from shared.http.body import decode
from shared.http.caching import cached_and_compressed
from shared.http.event import Event, correlation_id, method, path
from shared.runtime import metrics
from shared.runtime.environment import logger
from shared.runtime.reporting import report, report_damaged

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

Guard = Callable[[Event], None]
"""Refuses a request before it is routed, by raising a domain error."""

Handler = Callable[[Event, "LambdaContext"], Event]
Refused = Callable[[DealsError, Event], Response[Any]]
"""Tells the sender of an event of a domain error."""


def create_app(refused: Refused, **resolver: Any) -> APIGatewayRestResolver:
    """A resolver that passes whatever its routes raise, an unknown address among it, to ``refused``."""
    app = APIGatewayRestResolver(**resolver)
    app.use([cached_and_compressed])

    # Every exception: a fault of ours must be answered, too, in the caller's form, and counted.
    @app.exception_handler(Exception)  # type: ignore[untyped-decorator]  # Powertools leaves it untyped
    def _failed(error: Exception) -> Response[Any]:
        event: Event = app.current_event.raw_event
        return refused(_told(error, event), event)

    @app.not_found
    def _no_such_route(_error: Exception) -> Response[Any]:
        raise NoSuchPath

    return app


def serve(app: APIGatewayRestResolver, *guards: Guard, refused: Refused) -> Handler:
    """The Lambda handler of an app. Bodies are text by the time that ``guards`` see a request."""

    def handler(event: Event, context: LambdaContext) -> Event:
        logger().set_correlation_id(correlation_id(event))
        asked = event["requestContext"]["httpMethod"] = event["httpMethod"]
        event["path"], event["httpMethod"] = path(event), method(event)
        try:
            for guard in (decode, *guards):
                guard(event)
            answer: Event = app.resolve(event, context)
        except Exception as error:  # noqa: BLE001  # a guard's: the resolver handles those of routes, and so does this
            answer = _as_event(refused(_told(error, event), event))
        answer["multiValueHeaders"]["X-Correlation-Id"] = [correlation_id(event)]
        # Browsers must not guess another media type from what people wrote.
        answer["multiValueHeaders"]["X-Content-Type-Options"] = ["nosniff"]
        if asked == "HEAD":
            answer |= {"body": "", "isBase64Encoded": False}
        logs.log_request(event, context, answer, method=asked)
        return answer

    return handler


def _told(error: Exception, event: Event) -> DealsError:
    """The domain error that the caller is told of. Faults are logged and counted."""
    if not isinstance(error, DealsError):
        logs.log_fault(error)
        error = Unexpected(correlation_id(event))
    elif isinstance(error, Unavailable | Impossible):
        logger().error("table unavailable", exc_info=error)  # which readers are not told
    if isinstance(error, Damaged):
        report_damaged(error.name)
    elif isinstance(error, Impossible):
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
