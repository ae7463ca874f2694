"""What every function that answers HTTP does with a request: the lines in its log, and HEAD. Without a framework."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shared.errors import DealsError, Impossible, Unavailable
from shared.http.event import Event, header
from shared.runtime.environment import logger
from shared.runtime.reporting import measured

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

WITHOUT_BODY: Event = {"body": "", "isBase64Encoded": False}
"""What of an answer is different for HEAD."""

_CLIENT_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,64}")


def log_failure(error: DealsError) -> None:
    """Log an error that is the table's or our own, with what readers are not told. Other errors are the request's."""
    if isinstance(error, Unavailable | Impossible):
        logger().error("table unavailable", exc_info=error)


def log_request(
    event: Event, context: LambdaContext, answer: Event, *, method: str, path: str, username: str | None, **more: Any
) -> None:
    """One line per request: what was asked, by whom, how it went, and what was counted meanwhile.

    What is None is left out of the line.
    """
    logger().info(
        "request",
        method=method,
        path=path,
        status=answer["statusCode"],
        username=username,
        client_request_id=_client_request_id(event),
        function_request_id=context.aws_request_id,
        **more,
        **measured(),
    )


def _client_request_id(event: Mapping[str, Any]) -> str | None:
    """The id that a client gave its request, if it has the form of one: no other text gets into the log."""
    given = header(event, "x-correlation-id") or header(event, "x-request-id") or ""
    return given if _CLIENT_REQUEST_ID.fullmatch(given) else None
