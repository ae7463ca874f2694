"""From an API Gateway event to an answer of Powertools' resolver, for the API and for the site's pages.

The two differ in how they show an error: each passes ``refused``. Each request has one line in the log, and one more
where something failed.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response

from shared.errors import Damaged, DealsError, Impossible, NoSuchPath, Unavailable, Unexpected
from shared.http.answers import cached_and_compressed
from shared.http.requests import Event, correlation_id, decode, header, method, path
from shared.runtime import metrics
from shared.runtime.environment import logger
from shared.runtime.metrics import measured, report, report_damaged

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext


_MADE_UP = "{name}"
"""The part of a path that a member has made up: the name of an address, which is personal."""

_CLIENT_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,64}")


def log_request(event: Event, context: LambdaContext, answer: Event, *, method: str) -> None:
    """One line per request: path, user, status, and the metrics counted.

    The path is without what a member typed. Fields that are None are left out.
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
    """A traceback without the exceptions' messages, which may repeat what the request says."""
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    frames = [f"{frame.filename}:{frame.lineno} in {frame.name}" for frame in traceback.extract_tb(error.__traceback__)]
    return "\n".join([*([_without_messages(before)] if before else []), *frames, type(error).__name__])


def _client_request_id(event: Mapping[str, Any]) -> str | None:
    """The id that a client gave its request, if it has the form of one: no other text gets into the log."""
    given = header(event, "x-correlation-id") or header(event, "x-request-id") or ""
    return given if _CLIENT_REQUEST_ID.fullmatch(given) else None


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
        return refused(_domain_error(error, event), event)

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
            answer = _as_event(refused(_domain_error(error, event), event))
        answer["multiValueHeaders"]["X-Correlation-Id"] = [correlation_id(event)]
        # Browsers must not guess another media type from what people wrote.
        answer["multiValueHeaders"]["X-Content-Type-Options"] = ["nosniff"]
        if asked == "HEAD":
            answer |= {"body": "", "isBase64Encoded": False}
        log_request(event, context, answer, method=asked)
        return answer

    return handler


def _domain_error(error: Exception, event: Event) -> DealsError:
    """The domain error that the caller gets. Faults are logged and counted."""
    if not isinstance(error, DealsError):
        logger().error("request failed", exception_name=type(error).__name__, exception=_without_messages(error))
        error = Unexpected(correlation_id(event))
    elif isinstance(error, Unavailable | Impossible):
        logger().error("table unavailable", exc_info=error)  # readers don't see this
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
