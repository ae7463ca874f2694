"""What an execution environment creates once, at first use: the table and queue connections, and the logger."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools import Logger

from shared.dynamodb import damage
from shared.dynamodb.aws_errors import Budget
from shared.dynamodb.client import connect
from shared.dynamodb.damage import Failures
from shared.dynamodb.table import Table

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

    from shared.services import Queue

FOR_AN_ANSWER = 1.0
"""Seconds kept free for the answer at an invocation's end; no request starts in them."""

FOR_A_READER = 8.0
"""Seconds from when the gateway took a reader's request to the end of the last request to the table. So a silent table
is reported within ten, also on the laptop, whose functions have three times the time because many start at once."""

FOR_A_LATE_READER = 1.0
"""Seconds for requests if the function took longer than that to start, or an authorizer before it to answer."""

MOST_BELIEVED = 60.0
"""Seconds that a request may have waited for its function: a time further back is an example's, or another clock's."""


_used: list[Table] = []


@cache
def table() -> Table:
    """The table that ``TABLE_NAME`` names, connected once per execution environment."""
    return _used.pop() if _used else connect(os.environ["TABLE_NAME"], budget(), **credentials())


@contextmanager
def using(connected: Table) -> Iterator[None]:
    """Have functions use a connected table, as ``btd`` does when it calls the API's functions."""
    table.cache_clear()
    _used[:] = [connected]
    try:
        yield
    finally:
        table.cache_clear()
        _used.clear()


@cache
def queue() -> Queue:
    """The queue of cohorts (``QUEUE_URL``), connected once per execution environment."""
    from shared import services  # noqa: PLC0415  # most functions send nothing

    return services.connect_queue(os.environ["QUEUE_URL"], budget(), **credentials())


@cache
def budget() -> Budget:
    """The time budget of the present invocation's requests to the table and the queue."""
    return Budget()


def begin(event: Any, context: LambdaContext) -> None:
    """Start an invocation's budget: Lambda's remaining time less that for an answer.

    If a reader waits, it is less, and the time since the gateway took the request is gone already: starts that wait for
    each other take seconds.
    """
    _invocation["request_id"] = context.aws_request_id
    left = context.get_remaining_time_in_millis() / 1000 - FOR_AN_ANSWER
    if isinstance(event, dict) and "httpMethod" in event:
        left = min(left, max(FOR_A_LATE_READER, FOR_A_READER - _waited(event)))
    budget().start(left)


def _waited(event: dict[str, Any]) -> float:
    """Seconds since the gateway took a request; 0 if it doesn't say when.

    https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html
    """
    taken = (event.get("requestContext") or {}).get("requestTimeEpoch")
    waited = time.time() - taken / 1000 if isinstance(taken, int) else 0.0
    return waited if 0.0 < waited < MOST_BELIEVED else 0.0


_invocation: dict[str, str] = {}


def request_id() -> str:
    """The id of the present invocation; empty outside of one."""
    return _invocation.get("request_id", "")


def each_task(*tasks: Callable[[Failures], object]) -> Failures:
    """Run tasks, each with an equal share of the time left; one that fails doesn't stop the others.

    Returns the failures: of tasks, and those that a task adds to the list it is given.
    """
    failures: Failures = []
    for number, task in enumerate(tasks):
        with budget().share(len(tasks) - number):
            list(damage.each([task], lambda each: each(failures), attrgetter("__name__"), failures=failures, noted=()))
    return failures


def credentials() -> dict[str, str]:
    """The role's keys, if Lambda puts them into the environment, so that boto3 doesn't search for any.

    Under SnapStart Lambda doesn't, because they would be outdated when the snapshot is used; boto3 requests new ones.
    https://docs.aws.amazon.com/lambda/latest/dg/snapstart-activate.html#snapstart-credentials
    """
    names = {
        "aws_access_key_id": "AWS_ACCESS_KEY_ID",
        "aws_secret_access_key": "AWS_SECRET_ACCESS_KEY",
        "aws_session_token": "AWS_SESSION_TOKEN",
    }
    return {argument: os.environ[name] for argument, name in names.items() if os.environ.get(name)}


@cache
def logger() -> Logger:
    """This function's structured logger."""
    return Logger()
