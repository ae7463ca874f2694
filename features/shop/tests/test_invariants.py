"""What a check finds of orders and stock, and repairs."""

from __future__ import annotations

import pytest

from features.shop import invariants as sales
from features.shop.data import keys as shop_keys
from features.shop.data import sold_here, steps, stock
from features.shop.data.stock import NotSoldHere
from features.shop.models import OrderStatus
from features.shop.tests.support import a_buyer, buy, on_sale
from shared.data import invariants
from shared.data.catalog import deals
from shared.dynamodb.table import Table
from shared.dynamodb.writes import assign
from tests.support.checks import checked, faults, repair
from tests.support.factories import NOW, indexed

pytestmark = checked


@pytest.mark.parametrize("status", [OrderStatus.PLACED, OrderStatus.CANCELLED])
def test_orders_in_the_wrong_places_are_put_right(table: Table, status: OrderStatus) -> None:
    a_buyer(table)
    (deal,) = indexed(table, [on_sale(table, 5)])
    order = buy(table, "ana", deal)
    if status is not OrderStatus.PLACED:
        steps.advance(table, order, status, NOW)
    table.write(
        assign(
            shop_keys.order("ana", order.order_id),
            shop_keys.order_in_open("placed", "2050-06-01", 1, order.order_id),
            refused=None,
        )
    )

    (fault,) = faults(table.everything(), NOW)

    assert (fault.rule, repair(table, fault)) == (invariants.INDEX, True)
    assert faults(table.everything(), NOW) == []


@pytest.mark.parametrize("wrong", [{"Left": 0}, {"Ordered": 0}, {"OnSale": 0}, {"Ordered": 0, "Left": 5}], ids=repr)
def test_stock_that_does_not_add_up_is_named_and_left_to_a_person(table: Table, wrong: dict[str, int]) -> None:
    a_buyer(table)
    (deal,) = indexed(table, [on_sale(table, 5)])
    buy(table, "ana", deal)
    table.write(assign(shop_keys.stock_shard(deal.deal_id, 1), wrong, refused=None))

    (fault,) = faults(table.everything(), NOW)

    assert (fault.rule, fault.key["PK"]) == (sales.STOCK, shop_keys.stock_shard(deal.deal_id, 1)["PK"])
    assert len(wrong) == 1 or fault.attributes == ["Ordered"]
    assert not repair(table, fault)


@pytest.mark.parametrize("pieces", [5, 0])
def test_a_note_of_stock_that_is_wrongly_in_the_list_of_what_is_sold_here_is_put_right(
    table: Table, pieces: int
) -> None:
    deal = on_sale(table, pieces)
    stock.show_level(table, deal.deal_id)
    sold_here.file(table, deal.deal_id)
    indexed(table, [deals.get(table, deal.deal_id, consistent=True)])
    assert faults(table.everything(), NOW) == []
    wrong = {"GSI1PK": None, "GSI1SK": None} if pieces else shop_keys.stock_in_sold_here(deal.deal_id)
    table.write(assign(shop_keys.stock(deal.deal_id), wrong, refused=NotSoldHere(deal.deal_id)))

    (fault,) = faults(table.everything(), NOW)

    assert (fault.rule, fault.attributes, repair(table, fault)) == (
        sales.SOLD_HERE,
        ["GSI1PK", "GSI1SK"],
        True,
    )
    assert faults(table.everything(), NOW) == []
