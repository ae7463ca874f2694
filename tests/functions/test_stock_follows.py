"""By the stream: a deal says how much of it is left as its stock changes."""

from __future__ import annotations

from typing import Any

import pytest
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.background import refresher
from shared.data import keys
from shared.data.catalog import deals
from shared.data.orders import stock
from shared.dynamodb.table import Table
from shared.dynamodb.writes import put
from shared.models.catalog import StockLevel
from shared.runtime import environment
from shared.values import times
from tests.support.factories import a_deal
from tests.support.records import number_of, record
from tests.support.wire import Answer, answered, error


def test_a_deal_follows_its_stock_and_a_repeated_record_changes_nothing(table: Table, context: LambdaContext) -> None:
    deal = deals.create(table, a_deal(times.now(), brand="g-fore", category="clothing"), times.now())
    seen = []

    for more in (3, 10, -13):
        stock.add(table, deal.deal_id, more, times.now())
        image = table.get(keys.stock_shard(deal.deal_id, 1), consistent=True) or {}
        changed = record(image, image)
        for _ in range(2):
            assert refresher.handler({"Records": [changed, changed]}, context) == {"batchItemFailures": []}
        seen.append(deals.get(table, deal.deal_id, consistent=True).stock)

    assert seen == [StockLevel.LOW, StockLevel.AVAILABLE, StockLevel.SOLD_OUT]
    assert deals.get(table, deal.deal_id, consistent=True).version == 1


def test_a_stock_that_cannot_be_shown_is_reported_and_keeps_no_other_from_being_shown(
    table: Table, context: LambdaContext, caplog: pytest.LogCaptureFixture
) -> None:
    sold = [
        deals.create(table, a_deal(times.now(), brand="g-fore", category="clothing"), times.now()) for _ in range(3)
    ]
    for deal in sold:
        stock.add(table, deal.deal_id, 3, times.now(), shards=2)
    damaged, failing, whole = sold
    shard = table.get(keys.stock_shard(damaged.deal_id, 1), consistent=True) or {}
    table.write(put({**shard, "Left": "three"}, because="somebody writes by hand"))
    records = [
        record(None, table.get(keys.stock_shard(deal.deal_id, number), consistent=True))
        for deal in sold
        for number in (1, 2)
    ]

    def refused(request: dict[str, Any]) -> Answer | None:
        told = request["Key"]["PK"]["S"] == keys.deal(failing.deal_id)["PK"]
        return error("ValidationException") if told else None

    with answered(environment.table(), "UpdateItem", refused):
        answer = refresher.handler({"Records": records}, context)

    assert answer == {"batchItemFailures": [{"itemIdentifier": number_of(each)} for each in records[2:4]]}
    assert [deals.get(table, deal.deal_id, consistent=True).stock for deal in (damaged, whole)] == [StockLevel.LOW] * 2
    assert keys.stock_shard(damaged.deal_id, 1)["PK"] in " ".join(str(vars(line)) for line in caplog.records)
