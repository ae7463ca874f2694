"""Errors of AWS's services: as ours, in one place, and the one loop for everything that is tried again.

Some are worth another attempt, and some last:
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html
Each further attempt waits a random part of a time that doubles ("full jitter"), within what an invocation has for it:
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
"""Errors after which the table tries again."""


def domain_error(error: ClientError | BotoCoreError, service: str) -> DealsError:
    """Map an error of boto's to ours; ``service`` is the service that failed."""
    if isinstance(error, ClientError):
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        return domain_error_of_code(error.response["Error"]["Code"], f"{service}: {error}", status)
    if isinstance(error, HTTPClientError | ConnectionError) and not isinstance(error, SSLError):
        return NoAnswer(f"{service} does not answer: {error}")
    return Unavailable(f"{service} cannot answer: {error}")


def domain_error_of_code(code: str, message: str, status: int = 0) -> DealsError:
    """Map an AWS error code to ours: of a request, a statement or a reason to cancel."""
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
"""Tries of what meets conflicts, throttling or broken connections: three seconds of waits in all, six at most."""

LONGEST_ANSWER = 2.0
"""Seconds without a byte of an answer. DynamoDB and SQS answer in milliseconds: after longer, something is broken, such
as a connection that died while Lambda had frozen its function, and asking again is better than waiting.

https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html describes the freeze."""


@dataclass(slots=True)
class Budget:
    """The time that requests have, in seconds: each for its ``answer``, and all together until an invocation must
    answer; without ``start`` there is no end."""

    answer: float = LONGEST_ANSWER
    clock: Callable[[], float] = field(default=time.monotonic, repr=False)
    _ends: float = math.inf

    def start(self, seconds: float) -> None:
        """Allow this many seconds from now on."""
        self._ends = self.clock() + seconds

    @contextmanager
    def share(self, parts: int) -> Iterator[None]:
        """Allow what happens meanwhile an equal share of the time that is left, of so many."""
        ends = self._ends
        self.start(self.left() / parts)
        try:
            yield
        finally:
            self._ends = ends

    def left(self) -> float:
        """Seconds that are left; zero or less when the time is over."""
        return self._ends - self.clock()


# Not the ``random`` module's own generator: a snapshot of SnapStart holds its state, so all environments started from
# the snapshot would draw the same numbers.
# https://docs.aws.amazon.com/lambda/latest/dg/snapstart-uniqueness.html
_FRESH = random.SystemRandom()


@dataclass(frozen=True, slots=True, kw_only=True)
class Service(Generic[C]):
    """A service: its client, how to wait between attempts, and until when. ``called`` is its name in errors."""

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
        """The result of ``once``, tried again when it raises one of some errors.

        After the last attempt, or if the time that is left is shorter than the next wait, raises ``gave_up``, or
        the last error itself if none is given.
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
        """Make a request that may be made twice, as often as it takes."""
        return self.retry(lambda: self.ask(request, **arguments), when=AGAIN)

    def ask(self, request: Callable[..., Any], **arguments: Any) -> Any:
        """Make a request once. Raises what its failure means, and ClientError for a refusal that is for the caller.

        After a connection has broken, all idle ones are closed: what froze one has frozen all.
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
        """Our error for a refusal, or None where it is for the caller."""
        return domain_error(error, self.called)
