"""The shop behind the stream and at the clock."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from aws_lambda_powertools.utilities.typing import LambdaContext

from features.shop import metrics
from features.shop.data import keys as shop_keys
from features.shop.data import stock
from features.shop.fields import StockLevel, level_of
from features.shop.tests.support import a_buyer, buy, on_sale
from functions.background import expiry, refresher
from shared.data import keys
from shared.data.catalog import deals, topics
from shared.dynamodb.table import Table
from shared.dynamodb.writes import put
from shared.runtime import environment
from shared.values import times
from tests.functions.conftest import context, deployed, lines, table  # noqa: F401  # fixtures
from tests.functions.test_observability import counted
from tests.support.factories import a_deal
from tests.support.surroundings import event, number_of, record
from tests.support.wire import Answer, answered, error

Lines = Callable[[], list[dict[str, Any]]]


def test_a_deal_follows_its_stock_and_a_repeated_record_changes_nothing(table: Table, context: LambdaContext) -> None:
    deal = deals.create(table, a_deal(times.now(), brand="g-fore", category="clothing"), times.now())
    seen = []

    for more in (3, 10, -13):
        stock.add(table, deal.deal_id, more, times.now())
        image = table.get(shop_keys.stock_shard(deal.deal_id, 1), consistent=True) or {}
        changed = record(image, image)
        for _ in range(2):
            assert refresher.handler({"Records": [changed, changed]}, context) == {"batchItemFailures": []}
        seen.append(level_of(deals.get(table, deal.deal_id, consistent=True)))

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
    shard = table.get(shop_keys.stock_shard(damaged.deal_id, 1), consistent=True) or {}
    table.write(put({**shard, "Left": "three"}, because="someone writes by hand"))
    records = [
        record(None, table.get(shop_keys.stock_shard(deal.deal_id, number), consistent=True))
        for deal in sold
        for number in (1, 2)
    ]

    def refused(request: dict[str, Any]) -> Answer | None:
        told = request["Key"]["PK"]["S"] == keys.deal(failing.deal_id)["PK"]
        return error("ValidationException") if told else None

    with answered(environment.table(), "UpdateItem", refused):
        answer = refresher.handler({"Records": records}, context)

    assert answer == {"batchItemFailures": [{"itemIdentifier": number_of(each)} for each in records[2:4]]}
    for deal in (damaged, whole):
        assert level_of(deals.get(table, deal.deal_id, consistent=True)) is StockLevel.LOW
    assert shop_keys.stock_shard(damaged.deal_id, 1)["PK"] in " ".join(str(vars(line)) for line in caplog.records)


def test_the_clock_reports_how_long_the_oldest_open_order_waits_and_nothing_where_none_does(
    table: Table, lines: Lines, context: LambdaContext
) -> None:
    topics.plant_seeds(table, times.now())
    topics.create_brand(table, "apple", "Apple", times.now())
    a_buyer(table)
    expiry.handler(event("expiry-schedule"), context)
    without = counted(lines())
    order = buy(table, "ana", on_sale(table, 1), now=times.now() - timedelta(hours=2))

    expiry.handler(event("expiry-schedule"), context)
    (waited,) = counted(lines())[metrics.OLDEST_OPEN_ORDER.name]

    assert metrics.OLDEST_OPEN_ORDER.name not in without
    assert 7200 <= waited <= 1 + (times.now() - order.placed_at).total_seconds()  # ids tell whole seconds
