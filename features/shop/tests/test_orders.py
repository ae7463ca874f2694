"""An order is placed once or not at all, found, and takes its steps."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial

import pytest

from features.shop.data import addresses, carts, order_items, placing, steps, stock
from features.shop.data import keys as shop_keys
from features.shop.data.addresses import UnknownAddress
from features.shop.data.order_items import NoSuchOrder, no_message
from features.shop.data.placing import CannotOrder, TooManyOrders
from features.shop.data.steps import WrongStep
from features.shop.data.stock import NotSoldHere
from features.shop.models import Charges, Order, OrderStatus
from features.shop.tests.support import HOME_ADDRESS, a_buyer, buy, left, on_sale, wanted
from shared.data.catalog import deals
from shared.data.idempotency import LIFETIME
from shared.data.members import messages
from shared.dynamodb.schema import GSI1
from shared.dynamodb.table import Table
from shared.dynamodb.writes import update
from shared.errors import IdempotencyKeyReused, InvalidCursor, NoSuchUser, NotFound
from shared.models.catalog import Deal, Page
from shared.values import identifiers
from tests.support.engines import on_servers
from tests.support.factories import NOW, a_deal, ago, ahead, every_page, post
from tests.support.wire import answered, before, watched

pytestmark = [
    on_servers,  # moto copies its whole table for each transaction
    pytest.mark.usefixtures("counted_as_told"),
]

PLACED, SHIPPED, DELIVERED, CANCELLED = OrderStatus


@pytest.fixture(autouse=True)
def _ana(table: Table) -> None:
    a_buyer(table)


@pytest.fixture
def deal(table: Table) -> Deal:
    """A deal of which fifty pieces are on sale."""
    return on_sale(table, 50)


def refusal(table: Table, *items: object, **others: object) -> CannotOrder:
    """Why some items cannot be ordered; nothing was written, nothing taken."""
    before = table.scan()[0]
    with pytest.raises(CannotOrder) as refused:
        buy(table, "ana", *items, **others)  # type: ignore[arg-type]  # whatever a test asks for
    assert [item for item in table.scan()[0] if item["Type"] != "OpenOrders"] == before
    return refused.value


def test_an_order_takes_its_stock_and_holds_what_was_ordered(table: Table) -> None:
    deal, other = on_sale(table, 5, price="10.00"), on_sale(table, 5, price="0.99", currency="EUR")

    order = buy(table, "ana", wanted(deal, 2), wanted(other, 3))

    assert left(table, [deal, other]) == [3, 2]
    assert (order.status, order.placed_at, order.address) == (PLACED, NOW, HOME_ADDRESS)
    assert (order.item_count, order.pieces, order.totals) == (2, 5, {"EUR": "2.97", "USD": "20.00"})
    assert [(item.deal_id, item.quantity, item.price) for item in order.items] == [
        (deal.deal_id, 2, "10.00"),
        (other.deal_id, 3, "0.99"),
    ]
    assert order_items.get(table, "ana", order.order_id) == order


def test_the_terms_of_orders_stand_in_the_environment() -> None:
    stated = {"SHIPPING": "USD=4.90 EUR=5.00", "TAX": "8.1", "OPEN_ORDER_SHARDS": "3", "ORDERS_AN_HOUR": "9"}
    charges = Charges({"USD": "4.90", "EUR": "5.00"}, Decimal("8.1"))

    assert placing.Terms.of({}, steps.notify) == placing.Terms(notify=steps.notify, an_hour=placing.AN_HOUR)
    assert placing.Terms.of(stated, no_message) == placing.Terms(charges, open_shards=3, an_hour=9)


def test_a_member_sends_as_many_orders_as_an_hour_allows_refused_ones_included(table: Table, deal: Deal) -> None:
    a_buyer(table, "bo")
    at = NOW.replace(minute=15)
    two = partial(buy, table, now=at, an_hour=2)
    placed = two("ana", deal, key="first")
    with pytest.raises(CannotOrder):
        two("ana", wanted(deal, price="0.01"))

    with pytest.raises(TooManyOrders, match=r"^You can send 2 orders an hour: try again in 45 minutes\.$") as refused:
        two("ana", deal)

    assert refused.value.retry_after == 45 * 60
    assert two("ana", deal, key="first") == placed  # it was sent again, and its answer perhaps lost
    assert two("bo", deal).username == "bo"
    assert buy(table, "ana", deal, now=at + timedelta(hours=1), an_hour=2).username == "ana"
    assert left(table, [deal]) == [47]


def test_an_order_of_many_deals_takes_no_more_requests_than_one_of_one(table: Table) -> None:
    deals = [on_sale(table, 9, shards=3) for _ in range(3)]
    buy(table, "ana", *deals)  # the day is noted, and not asked for again within a minute

    for ordered in (deals, deals[:1]):
        with watched(table) as wire:
            buy(table, "ana", *ordered)

        # The receipt and the addresses; the deals, and the notes and then the shards of their stock; the cart.
        assert wire.operations == {"GetItem": 2, "BatchGetItem": 3, "Query": 1, "TransactWriteItems": 1}


def test_what_is_ordered_leaves_the_cart_and_the_rest_stays(table: Table) -> None:
    bought, kept = on_sale(table, 5), on_sale(table, 5)
    for deal in (bought, kept):
        carts.put_in(table, "ana", deal.deal_id, 1, NOW)

    buy(table, "ana", bought)

    assert carts.deals_in(table, "ana", NOW) == [kept.deal_id]


def test_a_repeated_request_gets_the_order_of_the_last_piece_though_price_and_address_are_others(table: Table) -> None:
    deal = on_sale(table, 1)
    first = buy(table, "ana", deal, key="twice")
    deals.edit(table, deal.deal_id, {"price": "99.00"}, NOW)
    addresses.remove(table, "ana", "home")

    again = buy(table, "ana", deal, key="twice")

    assert again == first
    assert left(table, [deal]) == [0]


def test_a_key_of_another_order_is_refused(table: Table, deal: Deal) -> None:
    buy(table, "ana", deal, key="twice")

    with pytest.raises(IdempotencyKeyReused):
        buy(table, "ana", wanted(deal, 2), key="twice")
    with pytest.raises(IdempotencyKeyReused):
        buy(table, "ana", wanted(deal, 60), key="twice")  # more than there are

    assert left(table, [deal]) == [49]


@pytest.mark.parametrize(
    ("pieces", "asked", "changes", "field", "said"),
    [
        (0, 1, {}, "quantity", "sold out"),
        (3, 4, {}, "quantity", "only 3 left"),
        (5, 1, {"price": "10.01"}, "price", "costs $10.01 now, not $10.00."),
        (5, 1, {"currency": "KWD"}, "currency", "costs KWD 10.000 now, not $10.00."),
        (5, 1, {"currency": "KWD", "price": "0.50"}, "currency", "costs KWD 0.500 now, not $10.00."),
    ],
    ids=["sold out", "too few", "dearer", "another currency", "another currency, less"],
)
def test_too_few_pieces_and_another_price_are_refused_with_the_item_and_what_there_is(
    table: Table, pieces: int, asked: int, changes: dict[str, str], field: str, said: str
) -> None:
    there, deal = on_sale(table, 5), on_sale(table, pieces, shards=3, price="10.00")
    now = deals.edit(table, deal.deal_id, changes, NOW)

    refused = refusal(table, there, wanted(deal, asked))

    (obstacle,) = refused.obstacles
    assert (obstacle.place, obstacle.deal_id, obstacle.field) == (1, deal.deal_id, field)
    assert said in str(refused)
    if field == "quantity":
        assert obstacle.left == pieces
    else:
        assert (obstacle.price, obstacle.currency) == (now.price, now.currency)


def test_a_price_that_has_fallen_is_charged(table: Table) -> None:
    deal = on_sale(table, 5, price="10.00")
    deals.edit(table, deal.deal_id, {"price": "9.00"}, NOW)

    assert buy(table, "ana", wanted(deal, price="10.00")).totals == {"USD": "9.00"}


def test_a_deal_that_is_over_unknown_or_sold_elsewhere_is_refused_by_name(table: Table) -> None:
    withdrawn, expired = on_sale(table, 5), on_sale(table, 5, ends_at=ahead(hours=1))
    (elsewhere,) = post(table, [a_deal()])
    nobody = replace(elsewhere, deal_id=identifiers.random(NOW, bytes(16)))
    deals.withdraw(table, withdrawn.deal_id, NOW)

    refused = refusal(table, withdrawn, expired, elsewhere, nobody, now=ahead(hours=2))

    assert [each.place for each in refused.obstacles] == [0, 1, 2, 3]
    assert ["over" in each.detail for each in refused.obstacles] == [True, True, False, False]
    assert "not sold here" in refused.obstacles[2].detail
    assert "no deal" in refused.obstacles[3].detail


def test_an_address_that_is_not_there_or_another_users_is_refused(table: Table, deal: Deal) -> None:
    a_buyer(table, "bo")
    addresses.save(table, "bo", "hideout", HOME_ADDRESS)

    for name in ("work", "hideout", ""):
        with pytest.raises(UnknownAddress):
            buy(table, "ana", deal, address=name)

    assert not any(item["Type"] == "Order" for item in table.scan()[0])
    assert left(table, [deal]) == [50]


def test_an_order_of_20_scattered_deals_is_still_one_transaction(table: Table) -> None:
    many = [on_sale(table, 6, shards=6) for _ in range(20)]
    for deal in many:
        carts.put_in(table, "ana", deal.deal_id, 6, NOW)

    order = buy(table, "ana", *(wanted(deal, 6) for deal in many))

    assert left(table, many) == [0] * 20
    assert order.item_count == 20
    assert carts.deals_in(table, "ana", NOW) == []


# Reading


def by_owner(table: Table, order_id: str) -> Order:
    return order_items.get(table, "ana", order_id)


@pytest.mark.parametrize("read", [by_owner, order_items.find], ids=["owner", "editor"])
@pytest.mark.parametrize("shown", [slice(0), slice(2, 3), slice(3, 4), slice(4)], ids=str)
def test_an_order_is_whole_however_little_of_it_the_index_shows(
    table: Table, read: Callable[[Table, str], Order], shown: slice
) -> None:
    order = buy(table, "ana", *(on_sale(table, 5) for _ in range(3)))
    whole = table.client.query(
        TableName=table.name,
        IndexName="GSI1",
        KeyConditionExpression="GSI1PK = :pk",
        ExpressionAttributeValues={":pk": {"S": shop_keys.order_parts(order.order_id)}},
    )["Items"]  # three items, and then the order
    items = whole[shown]
    part = 200, {"Items": items, "Count": len(items), "ScannedCount": len(items)}

    with answered(table, "Query", lambda body: part if body.get("IndexName") == GSI1.name else None):
        found = read(table, order.order_id)

    assert found == order


def test_an_order_and_its_items_are_one_round_trip_for_its_owner_and_one_query_for_an_editor(table: Table) -> None:
    order = buy(table, "ana", *(on_sale(table, 5) for _ in range(3)))

    with watched(table) as by_the_owner:
        by_owner(table, order.order_id)
    with watched(table) as by_an_editor:
        order_items.find(table, order.order_id)

    assert (by_the_owner.round_trips, by_the_owner.operations) == (1, {"GetItem": 1, "Query": 1})
    assert by_an_editor.operations == {"Query": 1}


def test_a_strangers_order_is_not_there(table: Table, deal: Deal) -> None:
    a_buyer(table, "bo")
    order = buy(table, "ana", deal)

    for username, order_id in [
        ("bo", order.order_id),
        ("ana", identifiers.random(NOW, bytes(16))),
        ("ana", "~"),
        ("ana", ""),
    ]:
        with pytest.raises(NoSuchOrder):
            order_items.get(table, username, order_id)
        if username == "ana":
            with pytest.raises(NoSuchOrder):
                order_items.find(table, order_id)


def test_a_user_and_the_newest_orders_are_one_query(table: Table, deal: Deal) -> None:
    placed = [buy(table, "ana", deal, now=ago(minutes=minutes)) for minutes in (3, 2, 1)]

    with watched(table) as wire:
        found = order_items.customer(table, "ana", newest=2)

    assert wire.operations == {"Query": 1}
    assert (found.name, found.addresses) == ("Ana", {"home": HOME_ADDRESS})
    assert [order.order_id for order in found.orders] == [placed[2].order_id, placed[1].order_id]
    with pytest.raises(NoSuchUser):
        order_items.customer(table, "nobody")


def by_twos(read: Callable[..., Page[Order]]) -> list[str]:
    """The ids of all orders of a list that is read two to a page."""
    pages = every_page(lambda cursor: read(limit=2, cursor=cursor))
    assert all(len(page.items) == 2 for page in pages[:-1])
    return [order.order_id for page in pages for order in page.items]


@pytest.fixture
def five_orders(table: Table, deal: Deal) -> list[Order]:
    """Orders of five days, oldest first; the second and the fourth are sent."""
    placed = [buy(table, "ana", deal, now=ago(days=days)) for days in (5, 4, 3, 2, 1)]
    for which in (1, 3):
        placed[which] = steps.advance(table, placed[which], SHIPPED, NOW)
    return placed


def test_orders_are_listed_newest_first_page_by_page_all_of_them_or_of_a_status_or_a_span(
    table: Table, five_orders: list[Order]
) -> None:
    # Both ends of a span are included; it may reach beyond the times that ids hold.
    first, last = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)

    for status, newest_first in {None: [4, 3, 2, 1, 0], PLACED: [4, 2, 0], SHIPPED: [3, 1], CANCELLED: []}.items():
        for since, until, those in (
            (None, None, {0, 1, 2, 3, 4}),
            (first, last, {0, 1, 2, 3, 4}),
            (ago(days=4), ago(days=3), {1, 2}),
            (first, datetime(2000, 12, 31, tzinfo=UTC), set()),
            (datetime(2400, 1, 1, tzinfo=UTC), last, set()),
        ):
            expected = [five_orders[number].order_id for number in newest_first if number in those]
            assert (
                by_twos(partial(order_items.latest, table, "ana", status=status, since=since, until=until)) == expected
            )


def test_a_cursor_of_another_list_is_refused(table: Table, five_orders: list[Order]) -> None:
    cursor = order_items.latest(table, "ana", limit=1).next

    for scope in ({"status": PLACED}, {"username": "bo"}):
        with pytest.raises(InvalidCursor):
            order_items.latest(table, **{"username": "ana", "limit": 1, "cursor": cursor, **scope})  # type: ignore[arg-type]
    with pytest.raises(InvalidCursor):
        order_items.open_orders(table, NOW, limit=1, cursor=cursor)


# Steps


def test_an_order_is_sent_and_delivered_and_keeps_each_time(table: Table, deal: Deal) -> None:
    order = buy(table, "ana", deal)

    steps.advance(table, order, SHIPPED, ahead(days=1))
    steps.advance(table, order, DELIVERED, ahead(days=2))  # decided on an earlier read

    found = order_items.get(table, "ana", order.order_id)
    assert found.status is DELIVERED
    assert found.times == {PLACED: NOW, SHIPPED: ahead(days=1), DELIVERED: ahead(days=2)}


def test_a_step_notifies_once_and_remembers_the_request_that_took_it(table: Table, deal: Deal) -> None:
    order = buy(table, "ana", deal)

    for _ in range(2):
        steps.advance(table, order, SHIPPED, ahead(hours=1), correlation_id="a request", notify=steps.notify)

    (told,) = messages.latest(table, "ana", limit=9, now=NOW).items
    assert (told.created_at, told.about.id) == (ahead(hours=1), order.order_id)  # type: ignore[union-attr]  # AboutOther
    assert order_items.get(table, "ana", order.order_id).correlation_id == "a request"


def test_cancelling_gives_the_stock_back_to_where_it_came_from_once(table: Table) -> None:
    deal, other = on_sale(table, 4, shards=4), on_sale(table, 5)
    order = buy(table, "ana", wanted(deal, 3), wanted(other, 2))

    for when in (NOW, ahead(days=1)):
        found = steps.advance(table, order, CANCELLED, when)  # decided on an earlier read

    assert found.times[CANCELLED] == NOW
    assert left(table, [deal, other]) == [4, 5]
    shards = stock.of(table, deal.deal_id).shards
    assert [(shard.left, shard.ordered) for shard in shards] == [(1, 0)] * 4
    assert sorted(shard.changes for shard in shards) == [1, 3, 3, 3]  # put on sale; taken, given back


def test_more_than_was_ordered_is_never_given_back(table: Table) -> None:
    deal = on_sale(table, 4)
    order = buy(table, "ana", wanted(deal, 3))
    stock.leave(table, deal.deal_id, 1)
    table.write(
        update(shop_keys.stock_shard(deal.deal_id, 1), "SET Ordered = :two", values={":two": 2}, refused=NotFound())
    )

    with pytest.raises(NotSoldHere, match=deal.deal_id):
        steps.advance(table, order, CANCELLED, NOW)

    assert left(table, [deal]) == [1]
    assert order_items.get(table, "ana", order.order_id).status is PLACED


def test_the_steps_are_these_and_a_refusal_says_which_status_stood_in_the_way(table: Table, deal: Deal) -> None:
    possible = {(PLACED, SHIPPED), (PLACED, CANCELLED), (SHIPPED, DELIVERED)}
    ways = {PLACED: (), SHIPPED: (SHIPPED,), DELIVERED: (SHIPPED, DELIVERED), CANCELLED: (CANCELLED,)}
    remaining = 50

    for old, new in itertools.product(OrderStatus, repeat=2):
        order = buy(table, "ana", deal)
        for step in ways[old]:
            order = steps.advance(table, order, step, NOW)
        if (old, new) in possible or old is new:
            assert steps.advance(table, order, new, NOW).status is new
            remaining -= new is not CANCELLED
        else:
            with pytest.raises(WrongStep, match=old.value):
                steps.advance(table, order, new, NOW)
            remaining -= old is not CANCELLED
        assert left(table, [deal]) == [remaining]


# What is still to be sent or delivered


def listed(table: Table, status: OrderStatus) -> list[str]:
    """The ids of all orders of an open status."""
    return by_twos(partial(order_items.open_orders, table, NOW, status=status))


def test_orders_to_be_sent_and_sent_ones_are_everyones_oldest_first_page_by_page(table: Table, deal: Deal) -> None:
    a_buyer(table, "bo")
    placed = [  # while the shards are made more and fewer again
        buy(table, username, deal, now=ago(days=days, seconds=seconds), open_shards=seconds or 1)
        for username in ("ana", "bo")
        for days, seconds in [(9, 0), (3, 7), (3, 5), (3, 3), (1, 0), (0, 0)]
    ]
    for order in placed[::3]:
        steps.advance(table, steps.advance(table, order, SHIPPED, NOW), DELIVERED, NOW)
    for order in placed[1::3]:
        steps.advance(table, order, SHIPPED, NOW)
    cancelled_one = placed.pop()
    steps.advance(table, cancelled_one, CANCELLED, NOW)

    for _ in range(2):  # a page that begins behind the last order of a day does not make its day forgotten
        assert listed(table, PLACED) == sorted(order.order_id for order in placed[2::3])
    assert listed(table, SHIPPED) == sorted(order.order_id for order in placed[1::3])


def test_orders_of_one_day_are_spread_over_the_shards_of_the_index(table: Table, deal: Deal) -> None:
    for seconds in range(20):
        buy(table, "ana", deal, now=ago(seconds=seconds), entropy=bytes([seconds] * 16), open_shards=3)

    with watched(table) as wire:
        listed_orders = order_items.open_orders(table, NOW, limit=25).items

    assert len(listed_orders) == 20
    assert {order.open_shard for order in listed_orders} == {1, 2, 3}
    assert sorted(wire.partitions) == [f"OPENORDERS#placed#2050-06-15T00:00:00#{shard}" for shard in (1, 2, 3)]


def notes(table: Table) -> list[str]:
    """The orders that the container knows of, by their status, day and shard."""
    return [note["SK"] for note in table.query(shop_keys.open_orders())]


def test_a_partition_is_forgotten_only_when_no_order_that_the_index_does_not_show_can_be_in_it(
    table: Table, deal: Deal
) -> None:
    nothing = 200, {"Items": [], "Count": 0, "ScannedCount": 0}
    steps.advance(table, buy(table, "ana", deal, now=ago(days=9)), SHIPPED, NOW)

    with answered(table, "Query", lambda body: nothing if "IndexName" in body else None):  # it lags
        order_items.open_orders(table, ahead(days=1), status=SHIPPED, limit=25)
        known = notes(table)
        order_items.open_orders(table, ahead(days=3), status=SHIPPED, limit=25)

    assert known == ["placed#2050-06-06T00:00:00#1", "shipped#2050-06-06T00:00:00#1"]
    assert notes(table) == ["placed#2050-06-06T00:00:00#1"]


def test_a_partition_that_another_order_enters_while_it_is_forgotten_stays_known(table: Table, deal: Deal) -> None:
    first, second = (buy(table, "ana", deal, now=ago(days=9, seconds=seconds)) for seconds in (1, 2))
    steps.advance(table, steps.advance(table, first, SHIPPED, ago(days=8)), DELIVERED, ago(days=7))

    with before(table, "DeleteItem", lambda: steps.advance(table, second, SHIPPED, NOW)):
        empty = listed(table, SHIPPED)

    assert (empty, listed(table, SHIPPED)) == ([], [second.order_id])


def test_orders_ask_for_the_note_of_their_day_once_a_minute(table: Table, deal: Deal) -> None:
    asked = []

    for seconds in (0, 59, 61):
        with watched(table) as wire:
            buy(table, "ana", deal, now=ahead(seconds=seconds))
        asked.append(sum(shop_keys.open_orders() in str(each.body.get("Key")) for each in wire.requests))

    assert asked == [1, 0, 1]


def test_the_oldest_open_order_says_since_when_it_waits(table: Table, deal: Deal) -> None:
    sent, waits, newer = (buy(table, "ana", deal, now=ago(hours=hours)) for hours in (100, 30, 1))
    steps.advance(table, sent, SHIPPED, NOW)

    oldest = order_items.waiting_since(table, NOW)
    for order in (waits, newer):
        steps.advance(table, order, CANCELLED, NOW)

    assert oldest == ago(hours=30)
    assert order_items.waiting_since(table, NOW) is None


def test_looking_for_open_orders_reads_no_empty_day_twice(table: Table, deal: Deal) -> None:
    for days in range(5, 5 + order_items.MOST_DAYS + 2):
        steps.advance(table, buy(table, "ana", deal, now=ago(days=days)), SHIPPED, NOW)
    order = buy(table, "ana", deal)

    seen = [order_items.waiting_since(table, NOW) for _ in range(3)]

    with watched(table) as wire:
        order_items.waiting_since(table, NOW)
    assert seen == [None, NOW, NOW]
    assert wire.operations == {"Query": 2}
    with watched(table) as wire:
        page = order_items.open_orders(table, NOW, limit=25)
    assert [each.order_id for each in page.items] == [order.order_id]
    assert (wire.round_trips, wire.partitions) == (2, ["OPENORDERS#placed#2050-06-15T00:00:00#1"])


def test_a_receipt_that_is_too_old_answers_for_no_order(table: Table) -> None:
    deal = on_sale(table, 1)
    first = buy(table, "ana", deal, key="once")
    later = NOW + LIFETIME + timedelta(minutes=1)

    assert buy(table, "ana", deal, key="once") == first
    with pytest.raises(CannotOrder):
        buy(table, "ana", deal, key="once", now=later)

    assert order_items.get(table, "ana", first.order_id) == first
