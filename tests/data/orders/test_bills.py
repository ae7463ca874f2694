"""An order comes to what its buyer saw, and goes where its buyer saw; its number finds it."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from shared.data.catalog import deals
from shared.data.orders import addresses, order_items
from shared.dynamodb.table import Table
from shared.errors import AddressChanged, AmountChanged, NoSuchOrder
from shared.models.catalog import Deal
from shared.models.orders import Charges
from shared.values import identifiers
from tests.support.engines import on_servers
from tests.support.factories import NOW
from tests.support.shop import HOME_ADDRESS, a_buyer, buy, left, on_sale, wanted

pytestmark = on_servers

CHARGES = Charges({"USD": "5.00"}, Decimal(10))


@pytest.fixture
def deal(table: Table) -> Deal:
    a_buyer(table)
    return on_sale(table, 5, price="10.00")


def test_an_order_keeps_what_was_added_to_it(table: Table, deal: Deal) -> None:
    order = buy(table, "ana", wanted(deal, 2), charges=CHARGES, totals={"USD": "27.50"})

    assert (order.shipping, order.tax, order.totals) == ({"USD": "5.00"}, {"USD": "2.50"}, {"USD": "27.50"})
    assert order_items.get(table, "ana", order.order_id) == order


@pytest.mark.parametrize("price", ["9.00", "10.00"], ids=["a price that fell", "a charge that is new"])
def test_an_order_that_comes_to_something_else_than_was_shown_is_not_placed(
    table: Table, deal: Deal, price: str
) -> None:
    deals.edit(table, deal.deal_id, {"price": price}, NOW)
    charges = CHARGES if price == "10.00" else Charges()

    with pytest.raises(AmountChanged) as refused:
        buy(table, "ana", deal, charges=charges, totals={"USD": "10.00"})

    assert refused.value.totals == {"USD": "16.50" if price == "10.00" else "9.00"}
    assert left(table, [deal]) == [5]


def test_an_order_does_not_go_to_another_address_than_was_shown(table: Table, deal: Deal) -> None:
    shown = addresses.fingerprint(HOME_ADDRESS)
    buy(table, "ana", deal, goes_to=shown)
    addresses.save(table, "ana", "home", replace(HOME_ADDRESS, street="1 Elsewhere"))

    with pytest.raises(AddressChanged):
        buy(table, "ana", deal, goes_to=shown)

    assert left(table, [deal]) == [4]


def test_an_order_is_found_by_its_number_and_by_its_owner_alone(table: Table, deal: Deal) -> None:
    order = buy(table, "ana", deal)
    number = identifiers.order_number(order.number)

    assert order_items.find(table, number) == order_items.get(table, "ana", number) == order
    with pytest.raises(NoSuchOrder):
        order_items.get(table, "bo", number)
    with pytest.raises(NoSuchOrder):
        order_items.find(table, "BTD-99999")
