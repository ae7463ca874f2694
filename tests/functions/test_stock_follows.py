"""By the stream: a deal says how much of it is left as its stock changes."""

from __future__ import annotations

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.background import refresher
from shared.data import keys
from shared.data.catalog import deals
from shared.data.orders import stock
from shared.dynamodb.attributes import marshal_item
from shared.dynamodb.table import Table
from shared.models.catalog import StockLevel
from shared.values import times
from tests.support.factories import a_deal


def test_a_deal_follows_its_stock_and_a_repeated_record_changes_nothing(table: Table, context: LambdaContext) -> None:
    deal = deals.create(table, a_deal(times.now(), brand="g-fore", category="clothing"), times.now())
    seen = []

    for more in (3, 10, -13):
        stock.add(table, deal.deal_id, more, times.now())
        image = marshal_item(table.get(keys.stock_shard(deal.deal_id, 1), consistent=True) or {})
        record = {"eventName": "MODIFY", "dynamodb": {"NewImage": image, "SequenceNumber": "1"}}
        for _ in range(2):
            assert refresher.handler({"Records": [record, record]}, context) == {"batchItemFailures": []}
        seen.append(deals.get(table, deal.deal_id, consistent=True).stock)

    assert seen == [StockLevel.LOW, StockLevel.AVAILABLE, StockLevel.SOLD_OUT]
    assert deals.get(table, deal.deal_id, consistent=True).version == 1
