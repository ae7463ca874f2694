"""Batches of records, from the stream and from the queue: each is handled by itself, and failed ones are reported."""

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
    """Handle each record of a batch, and log why one fails; returns which did, for Lambda to deliver those again."""
    return process_partial_response(
        event=event,
        record_handler=handle,
        processor=_OneByOne(event_type=kind, raise_on_entire_batch_failure=False),
        context=context,
    )


def each_message(
    handle: Callable[[Any], None],
) -> Callable[[dict[str, Any], LambdaContext], PartialItemFailureResponse]:
    """A handler of a queue's messages: those that fail go back to the queue, the others do not."""
    return partial(each_record, kind=EventType.SQS, handle=handle)


class _OneByOne(BatchProcessor):
    """Tells why a record failed, and keeps its correlation id out of the lines about the next, which may have none."""

    def success_handler(self, record: Any, result: Any) -> Any:
        outcome = super().success_handler(record, result)
        logger().set_correlation_id(None)
        return outcome

    def failure_handler(self, record: Any, exception: Any) -> Any:
        logger().error("record failed", exc_info=exception)
        outcome = super().failure_handler(record, exception)
        logger().set_correlation_id(None)
        return outcome
