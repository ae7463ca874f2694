"""The shop in a new local cloud's sample."""

from __future__ import annotations

import json

from features.shop import sample
from features.shop.data import stock
from shared.dynamodb.table import Table
from tests.support.factories import NOW, a_deal, ago, ids, post
from tools import workbench


def test_the_sample_is_sold_among_the_newest_and_first_on_the_front_page(table: Table) -> None:
    newest = ids(post(table, [a_deal(ago(minutes=20 + n)) for n in range(30)]))
    front = newest[-6:]

    sample.plant(table, front, newest, NOW)

    left = [stock.of(table, deal_id).left for deal_id in front[:4]]
    assert tuple(left) == sample.ON_SALE
    assert sum(stock.find(table, deal_id) is not None for deal_id in newest[:24]) >= sample.ALSO_SOLD


def test_the_sample_for_workbench_has_an_order_of_each_status() -> None:
    (written,) = json.loads(workbench.PATH.read_text(encoding="utf-8"))["DataModel"]
    (orders,) = (facet["TableData"] for facet in written["TableFacets"] if facet["FacetName"] == "Order")

    assert sorted(order["Status"]["S"] for order in orders) == ["cancelled", "delivered", "placed", "shipped"]
