"""From the stream to the queue: a deal that is new, or has become hot, makes work for the messenger.

The event source's filters (``infra/``) let only such records through. A deal imported with an old date is not news, and
a record that a filter lets through by mistake makes no work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.utilities.batch import EventType

from shared import settings
from shared.data.catalog.changes import DealChange, change_of
from shared.data.members import fanout
from shared.data.members.cohorts import Unit
from shared.runtime.batches import each_record
from shared.runtime.environment import logger
from shared.runtime.reporting import measured
from shared.runtime.work import queue

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse
    from aws_lambda_powertools.utilities.data_classes.dynamo_db_stream_event import DynamoDBRecord
    from aws_lambda_powertools.utilities.typing import LambdaContext


def handler(event: dict[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    """Queue the work of each record; those that fail are reported one by one."""
    return each_record(event, context, EventType.DynamoDBStreams, announce)


def announce(record: DynamoDBRecord) -> None:
    """Queue the work that one record of the stream makes."""
    units = work_of(change_of(record.raw_event))
    if units:
        logger().set_correlation_id(units[0].correlation_id)
        queue().send([unit.to_json() for unit in units])
        kinds = sorted({unit.kind for unit in units})
        logger().info("announced", deal_id=units[0].deal_id, kinds=kinds, **measured())


def work_of(change: object) -> list[Unit]:
    """The units of work that a change makes: for news, the watchers; for a deal made hot, everyone; else nothing."""
    if not isinstance(change, DealChange) or change.after is None:
        return []
    deal = change.after
    is_news = change.before is None and change.at - deal.created_at <= settings.NEWS_AGE
    becomes_hot = deal.hot_at is not None and (change.before is None or change.before.hot_at is None)
    news = fanout.news_of(deal, change.at) if is_news else []
    return news + (fanout.alarm_of(deal, written_at=change.at) if becomes_hot else [])
