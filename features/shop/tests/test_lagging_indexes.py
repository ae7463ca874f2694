"""Reads of the shop that may lag: sales and removals see what was just written."""

from __future__ import annotations

import pytest

from features.shop.account_fields import OrdersRemain
from features.shop.data import carts, order_items, steps, stock
from features.shop.models import OrderStatus
from features.shop.tests.support import a_buyer, buy
from shared.data.catalog import deals
from shared.data.members import users
from shared.dynamodb.table import Table
from shared.errors import NoSuchDeal, NoSuchUser
from tests.data.test_lagging_indexes import lag, table  # noqa: F401  # fixtures
from tests.support.factories import NOW, a_deal, leave
from tests.support.wire import Lag


def test_an_editor_finds_sells_and_makes_hot_what_was_posted_a_moment_ago(table: Table, lag: Lag) -> None:
    deal = deals.create(table, a_deal(), NOW)

    found = [deals.find(table, name, consistent=True) for name in (deal.deal_id, str(deal.number))]
    edited = deals.edit(table, deal.deal_id, {"title": "Road runner"}, NOW)
    hot = deals.make_hot(table, deal.deal_id, NOW)
    stock.add(table, deal.deal_id, 5, NOW)
    left = stock.leave(table, deal.deal_id, 3).left

    assert found == [deal, deal]
    assert (edited.title, hot.hot_at, left) == ("Road runner", NOW, 3)
    with pytest.raises(NoSuchDeal):
        deals.find(table, deal.deal_id)  # a reader may be a moment late


def test_an_account_is_bought_for_and_removed_though_no_other_read_has_seen_it(table: Table, lag: Lag) -> None:
    deal = deals.create(table, a_deal(), NOW)
    stock.add(table, deal.deal_id, 5, NOW)
    a_buyer(table, "cy")
    carts.put_in(table, "cy", deal.deal_id, 1, NOW)
    order = buy(table, "cy", deal)

    with pytest.raises(OrdersRemain):
        leave(table, "cy")
    steps.advance(table, order_items.find(table, order.order_id), OrderStatus.CANCELLED, NOW)
    leave(table, "cy")

    lag.catch_up()
    with pytest.raises(NoSuchUser):
        users.get(table, "cy")
    assert stock.of(table, deal.deal_id).left == 5
