"""The bill and the number of an order, and steps that are taken back."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from shared.data import keys
from shared.data.catalog import deals
from shared.data.members import messages
from shared.data.orders import addresses, news, order_items, steps, stock
from shared.data.orders import keys as shop_keys
from shared.data.orders.errors import AddressChanged, AmountChanged, NoSuchOrder, WrongStep
from shared.data.orders.order_items import BLOCK, Numbers
from shared.dynamodb.table import Table
from shared.dynamodb.writes import forget, update
from shared.errors import TooLateToUndo
from shared.models.catalog import Deal
from shared.models.orders import Bill, Charges, Order, OrderStatus, order_number, read_order_number
from tests.support.engines import on_servers
from tests.support.factories import NOW, every_page
from tests.support.shop import HOME_ADDRESS, a_buyer, buy, left, on_sale, wanted
from tests.support.wire import watched

PLACED, SHIPPED, DELIVERED, CANCELLED = OrderStatus
SOON = NOW + steps.UNDO_WITHIN
LATE = NOW + timedelta(seconds=61)


@pytest.fixture
def deal(table: Table) -> Deal:
    a_buyer(table)
    return on_sale(table, 9)


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
    back = steps.undo(table, after, to[-1], SOON, correlation_id="c-2", notify=news.notify_correction)
    again = steps.undo(table, after, to[-1], SOON, notify=news.notify_correction)

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
def test_steps_within_one_second_are_taken_and_told_once(table: Table, order: Order) -> None:
    notify, notify_correction = news.notify, news.notify_correction
    for _ in range(2):
        cancelled = steps.advance(table, order, CANCELLED, NOW, notify=notify)
        order = steps.undo(table, cancelled, CANCELLED, NOW, notify=notify_correction)

    inbox = messages.latest(table, "ana", limit=9, now=NOW).items
    assert order.status is PLACED
    assert sorted(message.kind for message in inbox) == ["cancelled", "corrected"]


CHARGES = Charges({"USD": "5.00"}, Decimal(10))


@pytest.fixture
def five(table: Table) -> Deal:
    a_buyer(table)
    return on_sale(table, 5, price="10.00")


@on_servers
def test_an_order_keeps_what_was_added_to_it(table: Table, five: Deal) -> None:
    order = buy(table, "ana", wanted(five, 2), charges=CHARGES, totals={"USD": "27.50"})

    assert (order.shipping, order.tax, order.totals) == ({"USD": "5.00"}, {"USD": "2.50"}, {"USD": "27.50"})
    assert order_items.get(table, "ana", order.order_id) == order


@on_servers
@pytest.mark.parametrize("price", ["9.00", "10.00"], ids=["a price that fell", "a charge that is new"])
def test_an_order_that_comes_to_something_else_than_was_shown_is_not_placed(
    table: Table, five: Deal, price: str
) -> None:
    deals.edit(table, five.deal_id, {"price": price}, NOW)
    charges = CHARGES if price == "10.00" else Charges()

    with pytest.raises(AmountChanged) as refused:
        buy(table, "ana", five, charges=charges, totals={"USD": "10.00"})

    assert refused.value.totals == {"USD": "16.50" if price == "10.00" else "9.00"}
    assert left(table, [five]) == [5]


@on_servers
def test_an_order_does_not_go_to_another_address_than_was_shown(table: Table, five: Deal) -> None:
    shown = addresses.fingerprint(HOME_ADDRESS)
    buy(table, "ana", five, goes_to=shown)
    addresses.save(table, "ana", "home", replace(HOME_ADDRESS, street="1 Elsewhere"))

    with pytest.raises(AddressChanged):
        buy(table, "ana", five, goes_to=shown)

    assert left(table, [five]) == [4]


@on_servers
def test_an_order_is_found_by_its_number_and_by_its_owner_alone(table: Table, five: Deal) -> None:
    order = buy(table, "ana", five)
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
        (Charges(), TWO, Bill({"USD": "20.00"}, {}, {}, {"USD": "20.00"})),
        (Charges({"USD": "4.90"}), TWO, Bill({"USD": "20.00"}, {"USD": "4.90"}, {}, {"USD": "24.90"})),
        (Charges(tax=Decimal("7.7")), TWO, Bill({"USD": "20.00"}, {}, {"USD": "1.54"}, {"USD": "21.54"})),
        (  # sending is taxed, too
            Charges({"USD": "5.00"}, Decimal(10)), TWO,
            Bill({"USD": "20.00"}, {"USD": "5.00"}, {"USD": "2.50"}, {"USD": "27.50"}),
        ),
        (  # a currency that no shipping is set for costs none
            Charges({"USD": "5.00"}), [("1.00", "USD", 1), ("2.00", "EUR", 1)],
            Bill({"EUR": "2.00", "USD": "1.00"}, {"USD": "5.00"}, {}, {"EUR": "2.00", "USD": "6.00"}),
        ),
        (
            Charges(tax=Decimal("2.5")), [("1.00", "USD", 1)],
            Bill({"USD": "1.00"}, {}, {"USD": "0.03"}, {"USD": "1.03"}),
        ),
        (
            Charges(tax=Decimal(8)), [("106.00", "JPY", 1)],
            Bill({"JPY": "106.00"}, {}, {"JPY": "8.00"}, {"JPY": "114.00"}),
        ),
        (Charges(), [("0.00", "USD", 1)], Bill({}, {}, {}, {"USD": "0.00"})),
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
