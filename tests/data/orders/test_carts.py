"""Carts, and the addresses that orders go to."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from shared.data.catalog import deals
from shared.data.members import users
from shared.data.orders import addresses, carts, stock
from shared.data.orders.errors import CartChanged, CartIsFull, NotSoldHere, TooManyAddresses, UnknownAddress
from shared.dynamodb.table import Table
from shared.errors import DealIsOver, NoSuchDeal, NoSuchUser
from shared.models.catalog import Deal, StockLevel
from shared.values import identifiers
from tests.support.engines import on_servers
from tests.support.factories import NOW, a_deal, a_user, ago, ahead, post
from tests.support.shop import HOME_ADDRESS, a_buyer, buy, left, on_sale, wanted
from tests.support.wire import before, watched

pytestmark = pytest.mark.usefixtures("counted_as_told")


@pytest.fixture(autouse=True)
def _ana(table: Table) -> None:
    a_buyer(table)
    users.create(table, a_user("cy"))


@pytest.fixture
def deal(table: Table) -> Deal:
    return on_sale(table, 5, price="10.00")


def contents(table: Table, username: str = "ana") -> list[tuple[str, int]]:
    return [(item.deal.deal_id, item.quantity) for item in carts.view(table, username, NOW)]


def test_what_is_put_in_is_seen_last_first_in_the_last_quantity_until_it_is_taken_out(table: Table) -> None:
    first, second = on_sale(table, 5), on_sale(table, 5)

    for quantity in (1, 2):
        carts.put_in(table, "ana", first.deal_id, quantity, ago(hours=1))
    carts.put_in(table, "ana", second.deal_id, 1, NOW)

    assert contents(table) == [(second.deal_id, 1), (first.deal_id, 2)]

    for _ in range(2):
        carts.take_out(table, "ana", second.deal_id)

    assert contents(table) == [(first.deal_id, 2)]


def test_the_cart_says_what_a_deal_cost_and_what_it_costs_today(table: Table, deal: Deal) -> None:
    carts.put_in(table, "ana", deal.deal_id, 1, NOW)
    unchanged = carts.view(table, "ana", NOW)[0].changed

    deals.edit(table, deal.deal_id, {"price": "12.00"}, NOW)

    (item,) = carts.view(table, "ana", NOW)
    assert (unchanged, item.changed) == (False, True)
    assert (item.price, item.deal.price) == ("10.00", "12.00")


@on_servers
def test_of_several_windows_that_put_a_20th_deal_into_a_cart_at_once_one_is_told_that_it_is_full(table: Table) -> None:
    many = [on_sale(table, 5) for _ in range(21)]
    for deal in many[:19]:
        carts.put_in(table, "ana", deal.deal_id, 1, NOW)

    put_in_beside = partial(carts.put_in, table, "ana", many[19].deal_id, 1, NOW)
    with before(table, "TransactWriteItems", put_in_beside), pytest.raises(CartIsFull):
        carts.put_in(table, "ana", many[20].deal_id, 1, NOW)

    carts.put_in(table, "ana", many[0].deal_id, 2, NOW)
    assert len(contents(table)) == 20
    carts.take_out(table, "ana", many[0].deal_id)
    carts.put_in(table, "ana", many[20].deal_id, 1, NOW)


def test_what_was_sold_out_a_moment_ago_is_not_few_left_in_the_cart(table: Table) -> None:
    deal = on_sale(table, 1)
    stock.show_level(table, deal.deal_id)
    carts.put_in(table, "ana", deal.deal_id, 1, NOW)
    said = [item.deal.stock for item in carts.view(table, "ana", NOW)]

    stock.leave(table, deal.deal_id, 0)  # the stream has not told the deal yet

    said += [item.deal.stock for item in carts.view(table, "ana", NOW)]
    assert said == [StockLevel.LOW, StockLevel.SOLD_OUT]


def test_only_what_is_sold_here_and_active_goes_in(table: Table) -> None:
    (elsewhere,) = post(table, [a_deal()])
    over = on_sale(table, 5, ends_at=ahead(hours=1))

    with pytest.raises(NotSoldHere):
        carts.put_in(table, "ana", elsewhere.deal_id, 1, NOW)
    with pytest.raises(DealIsOver):
        carts.put_in(table, "ana", over.deal_id, 1, ahead(hours=2))
    with pytest.raises(NoSuchDeal):
        carts.put_in(table, "ana", identifiers.random(NOW, bytes(16)), 1, NOW)

    assert contents(table) == []


def test_a_cart_that_nobody_touched_for_30_days_is_empty_before_ttl_removes_it(table: Table, deal: Deal) -> None:
    carts.put_in(table, "ana", deal.deal_id, 1, NOW - carts.LIFETIME)

    assert contents(table) == []
    assert carts.deals_in(table, "ana", NOW) == []


def test_an_order_of_a_whole_cart_is_of_what_the_cart_holds_and_empties_it(table: Table, deal: Deal) -> None:
    carts.put_in(table, "ana", deal.deal_id, 2, NOW)

    with pytest.raises(CartChanged):
        buy(table, "ana", wanted(deal, 3), from_cart=True)
    buy(table, "ana", wanted(deal, 2), from_cart=True)

    assert (left(table, [deal]), contents(table)) == ([3], [])


def test_an_address_replaces_the_one_of_its_name_and_no_other(table: Table) -> None:
    moved = replace(HOME_ADDRESS, street="1 New Street", region=None)
    assert addresses.of(table, "cy") == {}
    addresses.save(table, "cy", "home", HOME_ADDRESS)
    addresses.save(table, "cy", "work", HOME_ADDRESS)

    with watched(table) as wire:
        addresses.save(table, "cy", "home", moved)

    assert wire.operations == {"UpdateItem": 1}
    assert addresses.of(table, "cy") == {"home": moved, "work": HOME_ADDRESS}


def test_of_two_first_addresses_at_once_both_are_saved(table: Table) -> None:
    with before(table, "UpdateItem", lambda: addresses.save(table, "cy", "work", HOME_ADDRESS), skip=1):
        addresses.save(table, "cy", "home", HOME_ADDRESS)

    assert addresses.of(table, "cy").keys() == {"home", "work"}


def test_the_eleventh_address_is_refused_and_the_tenth_can_be_replaced(table: Table) -> None:
    for number in range(10):
        addresses.save(table, "cy", f"address {number}", HOME_ADDRESS)

    with pytest.raises(TooManyAddresses):
        addresses.save(table, "cy", "one more", HOME_ADDRESS)
    addresses.save(table, "cy", "address 9", replace(HOME_ADDRESS, city="Bangor"))

    assert len(addresses.of(table, "cy")) == 10
    assert addresses.of(table, "cy")["address 9"].city == "Bangor"


def test_an_address_that_is_not_there_cannot_be_removed(table: Table) -> None:
    with pytest.raises(UnknownAddress):
        addresses.remove(table, "cy", "home")
    addresses.save(table, "cy", "home", HOME_ADDRESS)
    with pytest.raises(UnknownAddress):
        addresses.remove(table, "cy", "work")


def test_nobody_has_no_addresses(table: Table) -> None:
    with pytest.raises(NoSuchUser):
        addresses.save(table, "nobody", "home", HOME_ADDRESS)
    with pytest.raises(NoSuchUser):
        addresses.of(table, "nobody")


def test_whatever_an_address_is_called_is_its_name_and_nothing_else(table: Table) -> None:
    addresses.save(table, "cy", "home", HOME_ADDRESS)

    for name in ("a.b", "a#b", "Ünterhalb 3", "#name", "Addresses", "size", "x" * 40):
        addresses.save(table, "cy", name, HOME_ADDRESS)
        assert addresses.of(table, "cy").keys() == {"home", name}
        addresses.remove(table, "cy", name)
        assert addresses.of(table, "cy").keys() == {"home"}
