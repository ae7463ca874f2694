"""Map boto's errors to ours, in one place: those that are worth another attempt, and those that last.

https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html
"""

from __future__ import annotations

from http import HTTPStatus

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


def of(error: ClientError | BotoCoreError, service: str) -> DealsError:
    """Map an error of boto's to ours; ``service`` is the service that failed."""
    if isinstance(error, ClientError):
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        return of_code(error.response["Error"]["Code"], f"{service}: {error}", status)
    if isinstance(error, HTTPClientError | ConnectionError) and not isinstance(error, SSLError):
        return NoAnswer(f"{service} does not answer: {error}")
    return Unavailable(f"{service} cannot answer: {error}")


def of_code(code: str, message: str, status: int = 0) -> DealsError:
    """Map an AWS error code to ours: of a request, a statement or a reason to cancel."""
    if code in CONFLICTS | THROTTLES:
        return Busy(message)
    if code in FAILED or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return NoAnswer(message)
    if code in INVALID:
        return TooLarge("This is more than one item can hold.") if "size" in message else Impossible(message)
    return Unavailable(message)
