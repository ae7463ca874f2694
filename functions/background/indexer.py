"""From the stream to search: each deal's words, while it is listed, and its offer beside those of the same product."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.utilities.batch import EventType

from shared.data.catalog import offers, search
from shared.data.catalog.changes import DealChange, change_of
from shared.data.catalog.deal_items import has_ended, is_listed
from shared.dynamodb.attributes import unmarshal_item
from shared.runtime.batches import each_record
from shared.runtime.environment import logger, table

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse
    from aws_lambda_powertools.utilities.data_classes.dynamo_db_stream_event import DynamoDBRecord
    from aws_lambda_powertools.utilities.typing import LambdaContext


def handler(event: dict[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    """Follow the deals that a batch of the stream's records is about, in the order in which they were written."""
    return each_record(event, context, EventType.DynamoDBStreams, follow)


def follow(record: DynamoDBRecord) -> None:
    """Bring one deal's words and offer up to date."""
    raw = record.raw_event
    change = change_of(raw)
    if not isinstance(change, DealChange):
        return
    if change.after is not None:
        logger().set_correlation_id(change.after.correlation_id)
    old, new = (unmarshal_item(raw["dynamodb"].get(image, {})) for image in ("OldImage", "NewImage"))
    offers.file(table(), change.before, change.after, has_ended=has_ended(new))
    before, after = (
        deal if deal is not None and is_listed(item) else None
        for deal, item in ((change.before, old), (change.after, new))
    )
    search.file(table(), before, after)
