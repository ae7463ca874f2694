"""Carts, addresses, and orders: their lists, their numbers, what they come to, and what is undone in time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from functools import partial

import pytest

from features.shop.data import addresses, carts, order_items, steps, stock
from features.shop.data import keys as shop_keys
from features.shop.data.addresses import TooManyAddresses, UnknownAddress
from features.shop.data.carts import CartChanged, CartIsFull
from features.shop.data.order_items import BLOCK, NoSuchOrder, Numbers
from features.shop.data.placing import AddressChanged, AmountChanged
from features.shop.data.steps import WrongStep
from features.shop.data.stock import NotSoldHere
from features.shop.fields import StockLevel, level_of
from features.shop.models import Bill, Charges, Order, OrderStatus, order_number, read_order_number
from features.shop.tests.support import HOME_ADDRESS, a_buyer, buy, left, on_sale, wanted
from shared.data import keys
from shared.data.catalog import deals
from shared.data.members import messages, users
from shared.dynamodb.table import Table
from shared.dynamodb.writes import forget, update
from shared.errors import DealIsOver, NoSuchDeal, NoSuchUser, TooLateToUndo
from shared.models.catalog import Deal
from shared.values import identifiers
from tests.support.engines import on_servers
from tests.support.factories import NOW, a_deal, a_user, ago, ahead, every_page, post
from tests.support.wire import before, watched

PLACED, SHIPPED, DELIVERED, CANCELLED = OrderStatus
SOON = NOW + steps.UNDO_WITHIN
LATE = NOW + timedelta(seconds=61)


pytestmark = pytest.mark.usefixtures("counted_as_told")


@pytest.fixture
def table(table: Table) -> Table:
    """A table with two members, of whom Ana has an address."""
    a_buyer(table)
    users.create(table, a_user("cy"))
    return table


@pytest.fixture
def deal(table: Table) -> Deal:
    return on_sale(table, 9)


@pytest.fixture
def sale(table: Table) -> Deal:
    return on_sale(table, 5, price="10.00")


@pytest.fixture
def order(table: Table, deal: Deal) -> Order:
    return buy(table, "ana", wanted(deal, 2))


def taken(table: Table, order: Order, *to: OrderStatus) -> Order:
    for status in to:
        order = steps.advance(table, order, status, NOW)
    return order


def lists(table: Table) -> dict[OrderStatus, list[str]]:
    """The orders of each of the desk's lists."""
    found = {status: order_items.open_orders(table, NOW, status=status, limit=9) for status in (PLACED, SHIPPED)}
    found |= {status: order_items.closed(table, status, limit=9) for status in (DELIVERED, CANCELLED)}
    return {status: [order.order_id for order in page.items] for status, page in found.items() if page.items}


@on_servers
@pytest.mark.parametrize("to", [(), (SHIPPED,), (SHIPPED, DELIVERED), (CANCELLED,)])
def test_an_order_is_in_the_list_of_its_status_and_in_no_other(
    table: Table, order: Order, to: tuple[OrderStatus, ...]
) -> None:
    taken(table, order, *to)

    assert lists(table) == {(PLACED, *to)[-1]: [order.order_id]}


@on_servers
def test_closed_orders_are_listed_by_pages_the_last_placed_first(table: Table, deal: Deal) -> None:
    orders = [buy(table, "ana", deal, now=NOW + timedelta(seconds=number)) for number in range(5)]
    for order in orders:
        steps.advance(table, order, CANCELLED, SOON)

    pages = every_page(lambda cursor: order_items.closed(table, CANCELLED, limit=3, cursor=cursor))

    last_first = [order.order_id for order in reversed(orders)]
    assert [[order.order_id for order in page.items] for page in pages] == [last_first[:3], last_first[3:]]


@on_servers
def test_a_list_is_filled_with_what_to_pack(table: Table, deal: Deal) -> None:
    orders = [buy(table, "ana", wanted(deal, 2)), buy(table, "ana", deal, on_sale(table, 1))]

    heads = order_items.open_orders(table, NOW, limit=9).items

    assert {each.order_id: each for each in order_items.filled(table, heads)} == {
        each.order_id: each for each in orders
    }


@on_servers
@pytest.mark.parametrize("to", [(SHIPPED,), (SHIPPED, DELIVERED), (CANCELLED,)])
def test_a_step_is_taken_back_within_a_minute_and_no_later(
    table: Table, deal: Deal, order: Order, to: tuple[OrderStatus, ...]
) -> None:
    before = taken(table, order, *to[:-1])
    after = steps.advance(table, before, to[-1], NOW)

    with pytest.raises(TooLateToUndo):
        steps.undo(table, after, to[-1], LATE)
    assert order_items.get(table, "ana", order.order_id) == after
    back = steps.undo(table, after, to[-1], SOON, correlation_id="c-2", notify=steps.notify_correction)
    again = steps.undo(table, after, to[-1], SOON, notify=steps.notify_correction)

    assert (back.status, back.times, back.correlation_id) == (before.status, before.times, "c-2")
    assert order_items.get(table, "ana", order.order_id) == back == again
    assert lists(table) == {before.status: [order.order_id]}
    assert left(table, [deal]) == [7]
    assert (table.get(keys.account("ana")) or {})["OpenOrders"] == int(before.status is PLACED)
    (told,) = messages.latest(table, "ana", limit=9, now=SOON).items
    assert (told.kind, "Your order of 2 pieces is" in told.subject) == ("corrected", True)


@on_servers
def test_an_order_that_is_to_be_sent_again_is_listed_though_its_day_had_no_other(table: Table, order: Order) -> None:
    sent = taken(table, order, SHIPPED)
    for note in list(table.query(shop_keys.open_orders())):
        table.write(forget(keys.primary(note), because="the clock forgets what has been empty for days"))
    order_items._known.clear()

    steps.undo(table, sent, SHIPPED, SOON)

    assert lists(table) == {PLACED: [order.order_id]}


@on_servers
def test_what_was_delivered_meanwhile_is_not_taken_back_to_placed(table: Table, order: Order) -> None:
    sent = taken(table, order, SHIPPED)
    taken(table, sent, DELIVERED)

    with pytest.raises(TooLateToUndo):
        steps.undo(table, sent, SHIPPED, SOON)


@on_servers
def test_a_cancelled_order_whose_pieces_were_sold_meanwhile_stays_cancelled(
    table: Table, deal: Deal, order: Order
) -> None:
    cancelled = taken(table, order, CANCELLED)
    buy(table, "ana", wanted(deal, 8))

    with pytest.raises(TooLateToUndo):
        steps.undo(table, cancelled, CANCELLED, SOON)

    assert stock.of(table, deal.deal_id).left == 1
    assert order_items.get(table, "ana", order.order_id).status is CANCELLED


@on_servers
def test_a_shard_that_lost_a_count_does_not_hold_up_who_cancels_and_undoes(table: Table, order: Order) -> None:
    (shard,) = order.items[0].shards
    key = shop_keys.stock_shard(order.items[0].deal_id, shard)

    table.write(update(key, "REMOVE #left", names={"#left": "Left"}, refused=None))
    cancelled = taken(table, order, CANCELLED)
    table.write(update(key, "REMOVE Ordered", refused=None))
    steps.undo(table, cancelled, CANCELLED, SOON)

    assert lists(table) == {PLACED: [order.order_id]}


@on_servers
def test_an_order_that_is_placed_again_takes_its_steps_again(table: Table, order: Order) -> None:
    back = steps.undo(table, taken(table, order, SHIPPED), SHIPPED, SOON)

    assert steps.advance(table, back, CANCELLED, SOON).status is CANCELLED
    with pytest.raises(WrongStep):
        steps.advance(table, back, SHIPPED, SOON)


@on_servers
def test_steps_within_one_second_are_taken_and_notified_once(table: Table, order: Order) -> None:
    notify, notify_correction = steps.notify, steps.notify_correction
    for _ in range(2):
        cancelled = steps.advance(table, order, CANCELLED, NOW, notify=notify)
        order = steps.undo(table, cancelled, CANCELLED, NOW, notify=notify_correction)

    inbox = messages.latest(table, "ana", limit=9, now=NOW).items
    assert order.status is PLACED
    assert sorted(message.kind for message in inbox) == ["cancelled", "corrected"]


CHARGES = Charges({"USD": "5.00"}, Decimal(10))


@on_servers
def test_an_order_keeps_what_was_added_to_it(table: Table, sale: Deal) -> None:
    order = buy(table, "ana", wanted(sale, 2), charges=CHARGES, totals={"USD": "27.50"})

    assert (order.shipping, order.tax, order.totals) == ({"USD": "5.00"}, {"USD": "2.50"}, {"USD": "27.50"})
    assert order_items.get(table, "ana", order.order_id) == order


@on_servers
@pytest.mark.parametrize("price", ["9.00", "10.00"], ids=["a price that fell", "a charge that is new"])
def test_an_order_that_comes_to_something_else_than_was_shown_is_not_placed(
    table: Table, sale: Deal, price: str
) -> None:
    deals.edit(table, sale.deal_id, {"price": price}, NOW)
    charges = CHARGES if price == "10.00" else Charges()

    with pytest.raises(AmountChanged) as refused:
        buy(table, "ana", sale, charges=charges, totals={"USD": "10.00"})

    assert refused.value.totals == {"USD": "16.50" if price == "10.00" else "9.00"}
    assert left(table, [sale]) == [5]


@on_servers
def test_an_order_does_not_go_to_another_address_than_was_shown(table: Table, sale: Deal) -> None:
    shown = addresses.fingerprint(HOME_ADDRESS)
    buy(table, "ana", sale, goes_to=shown)
    addresses.save(table, "ana", "home", replace(HOME_ADDRESS, street="1 Elsewhere"))

    with pytest.raises(AddressChanged):
        buy(table, "ana", sale, goes_to=shown)

    assert left(table, [sale]) == [4]


@on_servers
def test_an_order_is_found_by_its_number_and_by_its_owner_alone(table: Table, sale: Deal) -> None:
    order = buy(table, "ana", sale)
    number = order_number(order.number)

    assert order_items.find(table, number) == order_items.get(table, "ana", number) == order
    with pytest.raises(NoSuchOrder):
        order_items.get(table, "bo", number)
    with pytest.raises(NoSuchOrder):
        order_items.find(table, "BTD-99999")


TWO = [("10.00", "USD", 2)]


@pytest.mark.parametrize(
    ("charges", "items", "bill"),
    [
        (Charges(), TWO, Bill({}, {}, {"USD": "20.00"})),
        (Charges({"USD": "4.90"}), TWO, Bill({"USD": "4.90"}, {}, {"USD": "24.90"})),
        (Charges(tax=Decimal("7.7")), TWO, Bill({}, {"USD": "1.54"}, {"USD": "21.54"})),
        (  # sending is taxed, too
            Charges({"USD": "5.00"}, Decimal(10)), TWO,
            Bill({"USD": "5.00"}, {"USD": "2.50"}, {"USD": "27.50"}),
        ),
        (  # a currency that no shipping is set for costs none
            Charges({"USD": "5.00"}), [("1.00", "USD", 1), ("2.00", "EUR", 1)],
            Bill({"USD": "5.00"}, {}, {"EUR": "2.00", "USD": "6.00"}),
        ),
        (
            Charges(tax=Decimal("2.5")), [("1.00", "USD", 1)],
            Bill({}, {"USD": "0.03"}, {"USD": "1.03"}),
        ),
        (
            Charges(tax=Decimal(8)), [("106.00", "JPY", 1)],
            Bill({}, {"JPY": "8.00"}, {"JPY": "114.00"}),
        ),
        (Charges(), [("0.00", "USD", 1)], Bill({}, {}, {"USD": "0.00"})),
    ],
    ids=["nothing", "shipping", "tax", "both", "two currencies", "half up", "no cents", "free"],
)  # fmt: skip
def test_a_bill_is_made_by_the_stages_charges(charges: Charges, items: list[tuple[str, str, int]], bill: Bill) -> None:
    assert charges.bill(items) == bill


def test_a_process_draws_ten_numbers_and_gives_them_out_one_by_one(table: Table) -> None:
    mine = Numbers()

    with watched(table) as wire:
        drawn = [mine.next(table) for _ in range(BLOCK + 1)]

    assert drawn == list(range(10_001, 10_001 + BLOCK + 1))
    assert wire.operations == {"UpdateItem": 2}
    assert table.get(shop_keys.order_numbers()) == {
        **shop_keys.order_numbers(),
        "Type": "Sequence",
        "LastNumber": 10_020,
    }


def test_processes_that_draw_at_once_share_no_number(table: Table) -> None:
    several = [Numbers() for _ in range(4)]

    with ThreadPoolExecutor(8) as pool:
        drawn = list(pool.map(lambda place: several[place % 4].next(table), range(60)))

    assert len(set(drawn)) == 60


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("BTD-10234", 10234), ("btd-10234", 10234), (" 10234 ", 10234), ("1023", None), ("BTD10234", None), ("", None),
        ("１０２３４", None), ("BTD-1e5", None), ("9" * 13, None),
    ],
)  # fmt: skip
def test_a_number_is_read_as_people_write_it(text: str, number: int | None) -> None:
    assert read_order_number(text) == number
    assert number is None or order_number(number) == "BTD-10234"


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


def test_the_cart_says_what_a_deal_cost_and_what_it_costs_today(table: Table, sale: Deal) -> None:
    carts.put_in(table, "ana", sale.deal_id, 1, NOW)
    unchanged = carts.view(table, "ana", NOW)[0].changed

    deals.edit(table, sale.deal_id, {"price": "12.00"}, NOW)

    (item,) = carts.view(table, "ana", NOW)
    assert (unchanged, item.changed) == (False, True)
    assert (item.price, item.deal.price) == ("10.00", "12.00")


@on_servers
def test_of_several_windows_that_put_a_20th_deal_into_a_cart_at_once_one_is_refused_as_full(table: Table) -> None:
    many = [on_sale(table, 5) for _ in range(21)]
    for sale in many[:19]:
        carts.put_in(table, "ana", sale.deal_id, 1, NOW)

    put_in_beside = partial(carts.put_in, table, "ana", many[19].deal_id, 1, NOW)
    with before(table, "TransactWriteItems", put_in_beside), pytest.raises(CartIsFull):
        carts.put_in(table, "ana", many[20].deal_id, 1, NOW)

    carts.put_in(table, "ana", many[0].deal_id, 2, NOW)
    assert len(contents(table)) == 20
    carts.take_out(table, "ana", many[0].deal_id)
    carts.put_in(table, "ana", many[20].deal_id, 1, NOW)


def test_what_was_sold_out_a_moment_ago_is_not_few_left_in_the_cart(table: Table) -> None:
    sale = on_sale(table, 1)
    stock.show_level(table, sale.deal_id)
    carts.put_in(table, "ana", sale.deal_id, 1, NOW)
    said = [level_of(item.deal) for item in carts.view(table, "ana", NOW)]

    stock.leave(table, sale.deal_id, 0)  # the stream has not told the sale yet

    said += [level_of(item.deal) for item in carts.view(table, "ana", NOW)]
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


def test_a_cart_untouched_for_30_days_is_empty_before_ttl_removes_it(table: Table, sale: Deal) -> None:
    carts.put_in(table, "ana", sale.deal_id, 1, NOW - carts.LIFETIME)

    assert contents(table) == []
    assert carts.deals_in(table, "ana", NOW) == []


def test_an_order_of_a_whole_cart_is_of_what_the_cart_holds_and_empties_it(table: Table, sale: Deal) -> None:
    carts.put_in(table, "ana", sale.deal_id, 2, NOW)

    with pytest.raises(CartChanged):
        buy(table, "ana", wanted(sale, 3), from_cart=True)
    buy(table, "ana", wanted(sale, 2), from_cart=True)

    assert (left(table, [sale]), contents(table)) == ([3], [])


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


def test_an_unknown_account_has_no_addresses(table: Table) -> None:
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
