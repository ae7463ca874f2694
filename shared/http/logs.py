"""The log lines of a request: one for each, and one more where something failed."""

from __future__ import annotations

import re
import traceback
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shared.http.event import Event, header
from shared.runtime.environment import logger
from shared.runtime.reporting import measured

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

_MADE_UP = "{name}"
"""The part of a path that a member has made up: the name of an address. It is nobody else's business."""

_CLIENT_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,64}")


def log_fault(error: BaseException) -> None:
    """Log an exception that nobody expected: where it was raised, and its type."""
    logger().error("request failed", exception_name=type(error).__name__, exception=_without_messages(error))


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
