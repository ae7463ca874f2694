"""Stock: put on sale, added, taken off, spread over shards, and what of it readers are told."""

from __future__ import annotations

import itertools
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest

from features.shop.data import keys as shop_keys
from features.shop.data import order_items, sold_here, stock
from features.shop.data.placing import CannotOrder
from features.shop.data.stock import NotSoldHere, NotThatMany
from features.shop.fields import StockLevel, level_of
from features.shop.models import Shard, Stock
from features.shop.tests.support import a_buyer, buy, on_sale, wanted
from shared.data import keys
from shared.data.catalog import deals
from shared.data.idempotency import Idempotency
from shared.dynamodb.attributes import marshal_item
from shared.dynamodb.schema import GSI1
from shared.dynamodb.table import Table
from shared.errors import Busy, IdempotencyKeyReused, InvalidCursor, NoSuchDeal
from shared.models.catalog import Deal
from shared.values import identifiers
from tests.support.engines import DYNOXIDE_ENGINE, on
from tests.support.factories import NOW, ids
from tests.support.wire import Answer, answered, before, taken_by


def by_shard(table: Table, deal_id: str) -> dict[int, int]:
    return {shard.number: shard.left for shard in stock.of(table, deal_id).shards}


def test_a_deal_without_stock_is_not_sold_here_and_says_nothing_of_it(table: Table, deal: Deal) -> None:
    with pytest.raises(NotSoldHere):
        stock.of(table, deal.deal_id)
    assert stock.show_level(table, deal.deal_id) is None
    assert level_of(deals.get(table, deal.deal_id, consistent=True)) is None


def listed_here(table: Table) -> list[str]:
    """The deals in the list of what is sold here, as its notes stand in the index, newest first."""
    return [keys.id_in(note["PK"]) for note in table.query(shop_keys.sold_here(), index=GSI1, newest_first=True)]


def followed(table: Table, deal: Deal, stocked: bool = True) -> None:
    """Do what the stream does after a change of a deal, or of its stock."""
    if stocked:
        stock.show_level(table, deal.deal_id)
    sold_here.file(table, deal.deal_id)


def test_a_deal_is_in_the_list_of_what_is_sold_here_while_pieces_are_left(table: Table) -> None:
    deal = on_sale(table, stock.LOW + 1)
    lists = [listed_here(table)]

    for left in (stock.LOW + 1, 1, 0, 5):
        stock.leave(table, deal.deal_id, left)
        followed(table, deal)
        followed(table, deal)  # the stream may repeat
        lists.append(listed_here(table))

    here = [deal.deal_id]
    assert lists == [[], here, here, [], here]


@pytest.mark.parametrize(
    "over", [{"withdrawn_at": NOW}, {"ends_at": NOW}, {"ends_at": NOW + timedelta(hours=1)}], ids=["no", "by hand", "-"]
)
def test_a_deal_that_is_over_leaves_the_list_and_comes_back_when_it_is_offered_again(
    table: Table, over: dict[str, datetime]
) -> None:
    deal, other = on_sale(table, 5), on_sale(table, 5, created_at=NOW - timedelta(hours=1))
    for each in (deal, other):
        followed(table, each)
    later = NOW + timedelta(hours=2)

    deals.edit(table, deal.deal_id, over, NOW)
    deals.edit(table, deal.deal_id, {}, later)  # the sweep
    followed(table, deal, stocked=False)
    without = listed_here(table)
    deals.edit(table, deal.deal_id, {"withdrawn_at": None, "ends_at": None}, later)
    followed(table, deal, stocked=False)

    assert without == [other.deal_id]
    assert listed_here(table) == [deal.deal_id, other.deal_id]


def test_the_last_of_two_functions_that_file_a_place_has_seen_the_last_change(table: Table) -> None:
    deal = on_sale(table, 5)
    stock.show_level(table, deal.deal_id)

    def sold_out() -> None:
        stock.leave(table, deal.deal_id, 0)
        followed(table, deal)

    with before(table, "UpdateItem", sold_out):  # between the read and the write of the first
        sold_here.file(table, deal.deal_id)

    assert listed_here(table) == []


def test_the_list_of_what_is_sold_here_has_pages_and_leaves_out_what_is_over_meanwhile(table: Table) -> None:
    made = [on_sale(table, 5, created_at=NOW - timedelta(minutes=n)) for n in range(7)]
    for each in made:
        followed(table, each)
    deals.withdraw(table, made[1].deal_id, NOW)  # and the stream has not followed yet

    first = sold_here.page(table, NOW, limit=3)
    second = sold_here.page(table, NOW, limit=3, cursor=first.next)
    last = sold_here.page(table, NOW, limit=3, cursor=second.next)

    assert [ids(page.items) for page in (first, second, last)] == [
        ids([made[0], made[2]]),
        ids(made[3:6]),
        ids(made[6:]),
    ]
    assert last.next is None
    with pytest.raises(InvalidCursor):
        sold_here.page(table, NOW, limit=3, cursor="forged")


@on(DYNOXIDE_ENGINE)  # the others' capacity figures are not DynamoDB's
def test_the_list_of_what_is_sold_here_costs_a_query_and_its_deals(table: Table) -> None:
    for n in range(30):
        followed(table, on_sale(table, 5, created_at=NOW - timedelta(minutes=n)))

    took = taken_by(table, {"a page": lambda: sold_here.page(table, NOW, limit=24)})

    assert took["a page"].read == 13


def test_stock_of_no_deal_is_refused(table: Table) -> None:
    nobody = identifiers.random(NOW, bytes(16))

    with pytest.raises(NoSuchDeal):
        stock.add(table, nobody, 5, NOW)
    with pytest.raises(NoSuchDeal):
        stock.leave(table, nobody, 5)

    assert stock.find(table, nobody) is None


@pytest.mark.parametrize(
    ("shards", "added", "spread", "expected"),
    [
        (4, 0, None, {1: 3, 2: 3, 3: 2, 4: 2}),
        (4, 4, None, {1: 4, 2: 4, 3: 3, 4: 3}),
        (1, 0, 4, {1: 3, 2: 3, 3: 2, 4: 2}),
        (4, 0, 1, {1: 10, 2: 0, 3: 0, 4: 0}),
    ],
    ids=["put on sale", "added", "over more shards", "into one"],
)
def test_a_stock_is_spread_evenly_over_its_shards(
    table: Table, shards: int, added: int, spread: int | None, expected: dict[int, int]
) -> None:
    deal = on_sale(table, 10, shards=shards)

    found = stock.add(table, deal.deal_id, added, NOW, shards=spread)

    assert by_shard(table, deal.deal_id) == expected
    assert (found.left, found.ordered, found.on_sale) == (10 + added, 0, 10 + added)


@pytest.mark.parametrize(
    ("pieces", "too_many", "said", "bound"),
    [
        (10, -11, "10 are on sale: take off at most 10, or add at most 999,990", 0),
        (stock.MOST - 10, 11, "or add at most 10", stock.MOST),
    ],
    ids=["taken off", "added"],
)
def test_no_more_is_taken_off_than_is_left_nor_added_than_a_deal_may_have(
    table: Table, pieces: int, too_many: int, said: str, bound: int
) -> None:
    deal = on_sale(table, pieces)

    with pytest.raises(NotThatMany, match=said):
        stock.add(table, deal.deal_id, too_many, NOW)

    assert stock.add(table, deal.deal_id, bound - pieces, NOW).left == bound


@pytest.mark.parametrize("pieces", [0, 3])
def test_a_new_stock_is_in_one_shard_also_of_no_pieces(table: Table, deal: Deal, pieces: int) -> None:
    stock.add(table, deal.deal_id, pieces, NOW)

    assert by_shard(table, deal.deal_id) == {1: pieces}


def test_adding_nothing_moves_no_piece(table: Table) -> None:
    deal = on_sale(table, 10, shards=4)
    stock.pool(table, deal.deal_id)

    stock.add(table, deal.deal_id, 0, NOW)

    assert by_shard(table, deal.deal_id) == {1: 10, 2: 0, 3: 0, 4: 0}


@pytest.mark.parametrize("pieces", [0, 10])
def test_of_two_who_spread_a_stock_at_once_both_find_all_shards(table: Table, pieces: int) -> None:
    deal = on_sale(table, pieces)

    with before(table, "TransactWriteItems", lambda: stock.add(table, deal.deal_id, 2, NOW, shards=6)):
        stock.add(table, deal.deal_id, 1, NOW, shards=3)

    found = stock.of(table, deal.deal_id)
    assert found.left == found.on_sale == pieces + 3
    assert len(found.shards) == found.noted == 6


def test_what_is_left_is_set_on_all_shards_though_others_came_meanwhile(table: Table) -> None:
    deal = on_sale(table, 1)

    def meanwhile() -> None:
        stock.add(table, deal.deal_id, 0, NOW, shards=2)
        stock.add(table, deal.deal_id, 2, NOW)

    with before(table, "TransactWriteItems", meanwhile):
        found = stock.leave(table, deal.deal_id, 7)

    assert (found.left, found.on_sale) == (7, 7)


def test_what_is_left_is_spread_over_the_shards_asked_for(table: Table, deal: Deal) -> None:
    for pieces, shards, expected in [
        (7, 3, {1: 3, 2: 2, 3: 2}),
        (7, None, {1: 3, 2: 2, 3: 2}),
        (9, None, {1: 4, 2: 3, 3: 2}),
        (4, None, {1: 2, 2: 1, 3: 1}),
        (4, 2, {1: 2, 2: 2, 3: 0}),
    ]:
        found = stock.leave(table, deal.deal_id, pieces, shards=shards)
        assert by_shard(table, deal.deal_id) == expected
        assert (found.left, found.ordered, found.on_sale) == (pieces, 0, pieces)


def test_of_two_who_say_what_is_left_of_new_stock_the_later_is_right(table: Table, deal: Deal) -> None:
    with before(table, "TransactWriteItems", lambda: stock.leave(table, deal.deal_id, 5)):
        found = stock.leave(table, deal.deal_id, 7)

    assert (found.left, found.on_sale) == (7, 7)


def test_saying_what_is_left_does_not_undo_what_is_ordered_meanwhile(table: Table) -> None:
    deal = on_sale(table, 10)
    a_buyer(table)
    bought: list[None] = []

    def meanwhile(_: object) -> None:
        if not bought:
            bought.append(None)
            buy(table, "ana", wanted(deal, 3))

    with answered(table, "TransactWriteItems", meanwhile):
        found = stock.leave(table, deal.deal_id, 5)

    assert (found.left, found.ordered, found.on_sale) == (5, 3, 8)


def test_a_repeated_addition_adds_once(table: Table) -> None:
    deal = on_sale(table, 0)
    once = Idempotency("ed", "key", {"add": 5})

    for _ in range(2):
        found = stock.add(table, deal.deal_id, 5, NOW, idempotency=once)

    assert found.left == 5
    off = Idempotency("ed", "another key", {"add": -5})
    assert [stock.add(table, deal.deal_id, -5, NOW, idempotency=off).left for _ in range(2)] == [0, 0]
    with pytest.raises(IdempotencyKeyReused):
        stock.add(table, deal.deal_id, 6, NOW, idempotency=Idempotency("ed", "key", {"add": 6}))


def test_of_two_who_order_the_last_piece_at_once_one_gets_it(table: Table) -> None:
    a_buyer(table)
    a_buyer(table, "bo")
    deal = on_sale(table, 1)

    with before(table, "TransactWriteItems", lambda: buy(table, "bo", deal)), pytest.raises(CannotOrder) as refused:
        buy(table, "ana", deal)

    assert refused.value.obstacles[0].left == 0
    found = stock.of(table, deal.deal_id)
    assert (found.left, found.ordered) == (0, 1)
    assert order_items.latest(table, "ana", limit=1).items == ()


def test_who_is_beaten_to_a_shard_takes_from_another(table: Table) -> None:
    a_buyer(table)
    a_buyer(table, "bo")
    deal = on_sale(table, 2, shards=2)
    first_shard = partial(buy, table, chance=lambda: 0.0)

    with before(table, "TransactWriteItems", lambda: first_shard("bo", deal)):
        order = first_shard("ana", deal)

    assert order.items[0].shards == {2: 1}
    assert by_shard(table, deal.deal_id) == {1: 0, 2: 0}


def test_a_stock_that_changes_while_it_is_read_is_shown_as_it_was_at_one_moment(table: Table) -> None:
    deal = on_sale(table, 5, shards=2)

    with before(table, "BatchGetItem", lambda: stock.pool(table, deal.deal_id), skip=2):
        found = stock.settled(table, deal.deal_id)

    assert found is not None
    assert {shard.number: shard.left for shard in found.shards} == {1: 5, 2: 0}


def test_a_stock_that_never_comes_to_rest_is_busy(table: Table) -> None:
    deal = on_sale(table, 5)
    shard = table.get(shop_keys.stock_shard(deal.deal_id, 1)) or {}
    stock.add(table, deal.deal_id, -5, NOW)
    changes = itertools.count()

    def changed(asked: dict[str, Any]) -> Answer | None:
        if str(shop_keys.stock_shard(deal.deal_id, 1)["PK"]) not in str(asked):
            return None
        item = marshal_item({**shard, "Changes": next(changes)})
        return 200, {"Responses": {table.name: [item]}, "UnprocessedKeys": {}}

    with answered(table, "BatchGetItem", changed):
        for act in (stock.settled, partial(stock.leave, left=7), partial(stock.add, pieces=-1, now=NOW)):
            with pytest.raises(Busy):
                act(replace(table, sleep=lambda _: None), deal.deal_id)


def a_stock(*left: int) -> Stock:
    return Stock("deal", tuple(Shard(number, pieces, 0, pieces, 1) for number, pieces in enumerate(left, 1)))


@pytest.mark.parametrize(
    ("shards", "pieces", "chance", "taken"),
    [
        ((5, 0, 2, 1), 2, 0.0, {1: 2}),
        ((5, 0, 2, 1), 2, 0.99, {3: 2}),
        ((2, 0, 3, 1), 5, 0.5, {3: 3, 1: 2}),
        ((2, 0, 3, 1), 6, 0.5, {3: 3, 1: 2, 4: 1}),
        ((2, 0, 3, 1), 7, 0.5, None),
        ((), 1, 0.5, None),
    ],
)
def test_pieces_are_taken_from_a_random_shard_that_holds_enough_else_from_several(
    shards: tuple[int, ...], pieces: int, chance: float, taken: dict[int, int] | None
) -> None:
    assert stock.plan(a_stock(*shards), pieces, chance) == taken


@pytest.mark.parametrize(
    ("pieces", "said"), [(0, StockLevel.SOLD_OUT), (5, StockLevel.LOW), (6, StockLevel.AVAILABLE)], ids=str
)
def test_a_deal_says_how_much_of_it_is_left(table: Table, pieces: int, said: StockLevel) -> None:
    deal = on_sale(table, pieces)

    stock.show_level(table, deal.deal_id)

    assert level_of(deals.get(table, deal.deal_id, consistent=True)) is said


def test_what_is_ordered_while_a_deal_says_how_much_is_left_is_seen_too(table: Table) -> None:
    deal = on_sale(table, 1)
    a_buyer(table)

    with before(table, "UpdateItem", lambda: buy(table, "ana", deal), skip=0):
        level = stock.show_level(table, deal.deal_id)

    assert level is StockLevel.SOLD_OUT
    assert level_of(deals.get(table, deal.deal_id, consistent=True)) is StockLevel.SOLD_OUT


def test_what_was_seen_earlier_and_arrives_later_is_no_news(table: Table) -> None:
    deal = on_sale(table, 1)
    sold_here.show(table, deal.deal_id, StockLevel.AVAILABLE, 7)

    assert not sold_here.show(table, deal.deal_id, StockLevel.SOLD_OUT, 6)
    assert sold_here.show(table, deal.deal_id, StockLevel.SOLD_OUT, 8)
    assert level_of(deals.get(table, deal.deal_id, consistent=True)) is StockLevel.SOLD_OUT


def test_an_edit_of_a_deal_leaves_its_stock_as_it_is(table: Table) -> None:
    deal = on_sale(table, 1)
    stock.show_level(table, deal.deal_id)

    edited = deals.edit(table, deal.deal_id, {"title": "Road runner"}, NOW)

    assert level_of(edited) is StockLevel.LOW
    assert edited.version == 2
