"""The list of deals that are sold here follows the stock and the deals."""

from __future__ import annotations

from features.shop.data import keys as shop_keys
from features.shop.data import stock
from shared.data import keys
from shared.data.catalog import deals
from shared.dynamodb.table import Table
from shared.models.catalog import Deal
from tests.caches.conftest import Get, Refresh, functions_of, get, refresh  # noqa: F401  # fixtures
from tests.caches.test_following import NOW, picked  # noqa: F401  # the fixture
from tests.support.surroundings import record


def test_a_deal_with_stock_is_sold_here_until_it_is_sold_out_or_over(
    table: Table, picked: list[Deal], refresh: Refresh, get: Get
) -> None:
    seen, deal_id = [], picked[0].deal_id
    for change in (
        lambda: stock.add(table, deal_id, 5, NOW),
        lambda: stock.leave(table, deal_id, 0),
        lambda: stock.leave(table, deal_id, 2),
        lambda: deals.withdraw(table, deal_id, NOW),
    ):
        old = table.get(keys.deal(deal_id), consistent=True)
        change()
        refresh(record(None, table.get(shop_keys.stock_shard(deal_id, 1), consistent=True)))
        refresh(record(old, table.get(keys.deal(deal_id), consistent=True)))
        seen.append([each["dealId"] for each in get("/sold-here")["items"]])

    assert seen == [[deal_id], [], [deal_id], []]
