"""From the queue to the readers: each message of the queue is one page of readers to tell of a deal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response

from shared import times
from shared.data import fanout
from shared.runtime import logger, queue, table

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse
    from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
    from aws_lambda_powertools.utilities.typing import LambdaContext


def handler(event: dict[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    """Do each unit of work; those that fail go back to the queue, the others do not."""
    return process_partial_response(
        event=event,
        record_handler=deliver,
        processor=BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False),
        context=context,
    )


def deliver(record: SQSRecord) -> None:
    """Do one unit of work."""
    unit = fanout.Unit.from_json(record.body)
    readers = fanout.deliver(table(), queue(), unit, times.now())
    logger().info("delivered", deal_id=unit.deal_id, kind=unit.kind, segment=unit.segment, readers=readers)
