"""Map AWS errors to domain errors, and retry requests.

Which errors are worth a retry: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html
Waits have full jitter, and end with the invocation's time:
https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, ClassVar, Generic, TypeVar

from botocore.client import BaseClient
from botocore.exceptions import BotoCoreError, ClientError, ConnectionError, HTTPClientError, SSLError  # noqa: A004

from shared.errors import Busy, DealsError, Impossible, NoAnswer, TooLarge, Unavailable

CONFLICTS = {"TransactionConflict", "TransactionConflictException", "TransactionInProgressException"}
THROTTLES = {
    "ThrottlingError",
    "ThrottlingException",
    "ProvisionedThroughputExceeded",
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "RequestThrottled",
}
REFUSED = {"ConditionalCheckFailed", "ConditionalCheckFailedException"}
INVALID = {"ValidationError", "ValidationException", "ItemCollectionSizeLimitExceeded"}
FAILED = {"InternalServerError", "InternalFailure", "ServiceUnavailable"}

AGAIN = (Busy, NoAnswer)
"""Errors that the table retries."""


def domain_error(error: ClientError | BotoCoreError, service: str) -> DealsError:
    """Map boto's error to a domain error; ``service`` names the service in its message."""
    if isinstance(error, ClientError):
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        return domain_error_of_code(error.response["Error"]["Code"], f"{service}: {error}", status)
    if isinstance(error, HTTPClientError | ConnectionError) and not isinstance(error, SSLError):
        return NoAnswer(f"{service} does not answer: {error}")
    return Unavailable(f"{service} cannot answer: {error}")


def domain_error_of_code(code: str, message: str, status: int = 0) -> DealsError:
    """Map the error code of a request, a statement or a cancellation reason to a domain error."""
    if code in CONFLICTS | THROTTLES:
        return Busy(message)
    if code in FAILED or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return NoAnswer(message)
    if code in INVALID:
        return TooLarge("This is more than one item can hold.") if "size" in message else Impossible(message)
    return Unavailable(message)


C = TypeVar("C", bound=BaseClient)
R = TypeVar("R")

MAX_ATTEMPTS = 12
"""Attempts in case of conflicts, throttling or broken connections: about three seconds of waits, six at most."""

LONGEST_ANSWER = 2.0
"""Seconds to wait for the next byte. DynamoDB and SQS answer in milliseconds, so a longer silence means a broken
connection, such as one that died while Lambda had frozen the environment; a retry is faster.
https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html describes the freeze."""


@dataclass(slots=True)
class Budget:
    """The seconds that requests may take: ``answer`` for each, and all together until the invocation must answer.
    Without ``start`` there is no end."""

    answer: float = LONGEST_ANSWER
    clock: Callable[[], float] = field(default=time.monotonic, repr=False)
    _ends: float = math.inf

    def start(self, seconds: float) -> None:
        """Allow this many seconds from now on."""
        self._ends = self.clock() + seconds

    @contextmanager
    def share(self, parts: int) -> Iterator[None]:
        """Limit the requests in this block to one of ``parts`` equal shares of the time left."""
        ends = self._ends
        self.start(self.left() / parts)
        try:
            yield
        finally:
            self._ends = ends

    def left(self) -> float:
        """Seconds left; zero or less when the time is over."""
        return self._ends - self.clock()


# Not the ``random`` module's generator: a SnapStart snapshot holds its state, so all environments restored from it
# would draw the same numbers.
# https://docs.aws.amazon.com/lambda/latest/dg/snapstart-uniqueness.html
_FRESH = random.SystemRandom()


@dataclass(frozen=True, slots=True, kw_only=True)
class Service(Generic[C]):
    """A service: its client, how to wait between attempts, and for how long. ``called`` is its name in errors."""

    called: ClassVar[str]
    client: C
    sleep: Callable[[float], None] = field(default=time.sleep, repr=False)
    jitter: Callable[[], float] = field(default=_FRESH.random, repr=False)
    budget: Budget = field(default_factory=Budget, repr=False, compare=False)

    def retry(
        self,
        once: Callable[[], R],
        *,
        when: type[Exception] | tuple[type[Exception], ...],
        gave_up: DealsError | None = None,
    ) -> R:
        """Call ``once``, again after any of the errors in ``when``; returns its result.

        Raises ``gave_up``, or the last error, after the last attempt or if the next wait is longer than the time left.
        """
        attempt = 0
        while True:
            try:
                return once()
            except when as error:
                wait = self.jitter() * min(1.0, 0.025 * 2**attempt)
                attempt += 1
                if attempt == MAX_ATTEMPTS or wait >= self.budget.left():
                    if gave_up is None:
                        raise
                    raise gave_up from error
            self.sleep(wait)

    def call(self, request: Callable[..., Any], **arguments: Any) -> Any:
        """Make a request that is safe to repeat, with retries."""
        return self.retry(lambda: self.ask(request, **arguments), when=AGAIN)

    def ask(self, request: Callable[..., Any], **arguments: Any) -> Any:
        """Make a request once. Raises a domain error, or ClientError for a refusal that the caller handles.

        A broken connection closes all idle ones: the freeze that broke it broke all.
        """
        if self.budget.left() <= 0:
            raise Busy(f"{self.called}: there is no time left to ask.")
        try:
            return request(**arguments)
        except ClientError as error:
            meaning = self.meaning(error)
            if meaning is None:
                raise
            raise meaning from error
        except BotoCoreError as error:
            self.client.close()
            raise domain_error(error, self.called) from error

    def meaning(self, error: ClientError) -> DealsError | None:
        """The domain error of a refusal, or None if the caller handles it."""
        return domain_error(error, self.called)
