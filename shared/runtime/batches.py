"""Handle each record of a stream's or a queue's batch separately, and report those that fail."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response

from shared.runtime.environment import logger

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse
    from aws_lambda_powertools.utilities.typing import LambdaContext


def each_record(
    event: dict[str, Any], context: LambdaContext, kind: EventType, handle: Callable[[Any], None]
) -> PartialItemFailureResponse:
    """Handle each record of a batch, and log why one fails; returns the failed ones, which Lambda delivers again."""
    return process_partial_response(
        event=event,
        record_handler=handle,
        processor=_OneByOne(event_type=kind, raise_on_entire_batch_failure=False),
        context=context,
    )


def each_message(
    handle: Callable[[Any], None],
) -> Callable[[dict[str, Any], LambdaContext], PartialItemFailureResponse]:
    """Make a handler of queue messages; those that fail go back to the queue."""
    return partial(each_record, kind=EventType.SQS, handle=handle)


class _OneByOne(BatchProcessor):
    """Logs why a record failed, and clears its correlation id before the next record, which may have none."""

    def success_handler(self, record: Any, result: Any) -> Any:
        outcome = super().success_handler(record, result)
        logger().set_correlation_id(None)
        return outcome

    def failure_handler(self, record: Any, exception: Any) -> Any:
        logger().error("record failed", exc_info=exception)
        outcome = super().failure_handler(record, exception)
        logger().set_correlation_id(None)
        return outcome
