"""From the stream: queue news of deals, file each deal's words and offer, and log who changed it.

One function does all, because DynamoDB serves two readers of a stream without throttling, and the refresher is the
other one.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ServiceQuotas.html#limits-dynamodb-streams
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.utilities.batch import EventType

from shared import features, hooks, settings
from shared.data import keys
from shared.data.catalog import changes, offers, search, shops
from shared.data.catalog.changes import DealChange, change_of
from shared.data.catalog.deals import from_item, has_ended, is_listed
from shared.data.members import fanout, several
from shared.data.members.cohorts import Unit
from shared.dynamodb.attributes import Item, unmarshal_item
from shared.dynamodb.damage import Failures
from shared.errors import DamagedDeal
from shared.models.catalog import Deal, Status
from shared.runtime.batches import each_record
from shared.runtime.environment import each_task, logger, queue, table
from shared.runtime.metrics import measured
from shared.values import links

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse, PartialItemFailures
    from aws_lambda_powertools.utilities.data_classes.dynamo_db_stream_event import DynamoDBRecord
    from aws_lambda_powertools.utilities.typing import LambdaContext


_FOLLOWERS = [each.follow for each in features.roles(hooks.Publisher)]
"""Features' work on a deal's change, before it is logged."""


def handler(event: dict[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    """Publish each record's deal change in the order of writing; failed records are reported.

    News comes first: all records are announced before others are filed. New deals are filed several to a transaction,
    because an import brings a hundred at once.
    """
    handled = partial(each_record, event, context, EventType.DynamoDBStreams)
    news: dict[str, list[Unit]] = {}
    announced = handled(partial(announce, news=news))

    def send(_failures: Failures) -> None:
        _send(news)

    unsent: list[PartialItemFailures] = [{"itemIdentifier": number} for number in news] if each_task(send) else []
    filed = offers.file_new(table(), _new_in(event["Records"]))
    failed = [*announced["batchItemFailures"], *unsent, *handled(partial(publish, filed=filed))["batchItemFailures"]]
    return {"batchItemFailures": list({each["itemIdentifier"]: each for each in failed}.values())}


def _new_in(records: Iterable[Mapping[str, Any]]) -> list[tuple[Deal, Item]]:
    """The new deals in some records, each with its item. A damaged one fails later, with its own record."""
    new: dict[str, tuple[Deal, Item]] = {}
    for record in records:
        if record["eventName"] == "INSERT":
            item = unmarshal_item(record["dynamodb"]["NewImage"])
            if item.get("Type") == keys.DEAL:
                with suppress(DamagedDeal):
                    deal = from_item(item)
                    new[deal.deal_id] = (deal, item)
    return list(new.values())


def publish(record: DynamoDBRecord, filed: Container[str]) -> None:
    """Log a deal's change, and file its words and offer independently of each other.

    New deals whose ids are in ``filed`` are skipped.
    """
    change = None
    with suppress(DamagedDeal):  # ``announce`` has reported it
        change = _change_of(record)
    if change is None:
        return
    try:
        for follow in _FOLLOWERS:
            follow(change)
        changes.note(table(), change, record.raw_event["dynamodb"]["SequenceNumber"])
        shops.remember_category(table(), change)
    finally:
        is_filed = change.before is None and change.after is not None and change.after.deal_id in filed
        if not is_filed:
            images = (record.raw_event["dynamodb"].get(name, {}) for name in ("OldImage", "NewImage"))
            file(change, *map(unmarshal_item, images))
        offers.judge_anew(table(), change.before, change.after)


def _change_of(record: DynamoDBRecord) -> DealChange | None:
    """The deal change in a record, whose correlation id later log lines have."""
    change = change_of(record.raw_event)
    if not isinstance(change, DealChange):
        return None
    if change.after is not None:
        logger().set_correlation_id(change.after.correlation_id)
    return change


def announce(record: DynamoDBRecord, news: dict[str, list[Unit]]) -> None:
    """Note the work of a change, by its record's number. A deal imported with an old date isn't news, nor is an ended
    one."""
    change = _change_of(record)
    units = work_of(change) if change else []
    if units:
        news[record.raw_event["dynamodb"]["SequenceNumber"]] = units


def _send(news: Mapping[str, Sequence[Unit]]) -> None:
    """Queue the work of all changes, merged. If the queue refuses some of it, all is sent again: readers of a deal are
    notified once."""
    units = [unit for each in news.values() for unit in each]
    if units:
        queue().send([unit.to_json() for unit in several.merged(units)])
    for each in news.values():
        logger().set_correlation_id(each[0].correlation_id)
        kinds = sorted({unit.kind for unit in each})
        logger().info("announced", deal_id=each[0].deal_id, kinds=kinds, **measured())
        logger().set_correlation_id(None)


def work_of(change: DealChange) -> list[Unit]:
    """The units of work for a change.

    A new deal goes to watchers and alerts; a lower price to alerts on the product; a hot deal to everyone.
    """
    deal = change.after
    if deal is None or deal.status(change.at) is not Status.ACTIVE:
        return []
    is_news = change.before is None and change.at - deal.created_at <= settings.NEWS_AGE
    becomes_hot = deal.hot_at is not None and (change.before is None or change.before.hot_at is None)
    news = fanout.news_of(deal, change.at) + fanout.alerts_of(deal, "words", change.at) if is_news else []
    news += fanout.alerts_of(deal, "price", change.at) if _is_cheaper(change) else []
    return news + (fanout.alarm_of(deal, written_at=change.at) if becomes_hot else [])


def _is_cheaper(change: DealChange) -> bool:
    """Whether an existing deal is now cheaper, another product's offer, or on offer again."""
    before, after = change.before, change.after
    if before is None or after is None:
        return False
    same = before.status(change.at) is Status.ACTIVE and before.currency == after.currency
    same = same and links.product(before.link) == links.product(after.link)
    return not same or after.units < before.units


def file(change: DealChange, old: Item, new: Item) -> None:
    """Update a deal's words and offer; ``old`` and ``new`` are its item before and after the change."""
    offers.file(table(), change.before, change.after, has_ended=has_ended(new))
    search.file(table(), change.before if is_listed(old) else None, change.after if is_listed(new) else None)
