"""Placing orders.

An order, its items, the stock it takes and the receipt of its request are written in one transaction, so there is no
order without stock and no stock lost. The User item counts its orders: an account that has any is not deleted, so the
next owner of its name finds none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

from shared.data import keys
from shared.data.catalog import deals
from shared.data.idempotency import Idempotency, Repeated, is_used, receipt, result_of
from shared.data.orders import addresses, carts, open_orders, reading, stock
from shared.data.orders.order_items import Telling, item_id, item_to_item, to_item, untold
from shared.dynamodb.table import Table
from shared.dynamodb.writes import MOST_TOGETHER, Write, put_new, update
from shared.errors import AlreadyExists, CannotOrder, NoSuchUser, Obstacle, UnknownAddress
from shared.models.catalog import Deal, Period, Status
from shared.models.members import Address
from shared.models.orders import Order, OrderItem, OrderStatus, Stock, Wanted
from shared.values import ksuids
from shared.values.money import cents, money


def place(
    table: Table,
    username: str,
    address: str,
    wanted: Sequence[Wanted],
    now: datetime,
    entropy: bytes,
    *,
    chance: Callable[[], float],
    idempotency: Idempotency,
    correlation_id: str | None = None,
    telling: Telling = untold,
) -> Order:
    """Place an order, or give the one that an earlier request with the same key placed.

    The id is made of 16 bytes of ``entropy``; ``chance`` gives random numbers from 0 to below 1, by which buyers spread
    over the shards. Prices are those of the moment the deals are read: a condition on them would have all buyers of a
    deal meet in its item.

    What ``telling`` writes is in the transaction.
    Raises UnknownAddress, CannotOrder, NoSuchUser, IdempotencyKeyReused, Busy.
    """

    def once() -> Order:
        order, writes = _order(table, username, address, wanted, now, entropy, chance)
        order = replace(order, correlation_id=correlation_id)
        every = [
            put_new(to_item(order), refused=AlreadyExists()),
            update(
                keys.user(username),
                "ADD OrderCount :one",
                condition=carts.STAYS,
                values={":one": 1},
                refused=NoSuchUser(username),
            ),
            *(put_new(item_to_item(order, item), refused=AlreadyExists()) for item in order.items),
            *writes,
            *telling(order, now),
        ]
        if len(every) >= MOST_TOGETHER:
            for item in order.items:
                if len(item.shards) > 1:
                    stock.pool(table, item.deal_id)
            raise stock.Short
        table.transact(receipt(idempotency, order.order_id, now), *every)
        return order

    try:
        return table.retry(once, when=stock.Short, gave_up=stock.CROWDED)
    except Repeated:
        return reading.get(table, username, result_of(table, idempotency))
    except (CannotOrder, UnknownAddress):
        # The last pieces may have gone to this very request, whose answer was lost.
        if not is_used(table, idempotency, now):
            raise
        return reading.get(table, username, result_of(table, idempotency))


def _order(
    table: Table,
    username: str,
    address_name: str,
    wanted: Sequence[Wanted],
    now: datetime,
    entropy: bytes,
    chance: Callable[[], float],
) -> tuple[Order, list[Write]]:
    """The order as it would be now, and the writes that take its stock and empty the cart. One round trip of reads."""
    deal_ids = [each.deal_id for each in wanted]
    known: dict[str, Address] = {}
    today: dict[str, Deal] = {}
    stocks: dict[str, Stock | None] = {}
    in_cart: set[str] = set()

    def read_stock(deal_id: str) -> None:
        stocks[deal_id] = stock.find(table, deal_id)

    reads: list[Callable[[], None]] = [
        lambda: known.update(addresses.of(table, username)),
        lambda: today.update({deal.deal_id: deal for deal in deals.get_many(table, deal_ids, consistent=True)}),
        lambda: in_cart.update(carts.deals_in(table, username, now)),
        lambda: open_orders.know_day(table, Period.DAY.start_of(now)),
        *(partial(read_stock, deal_id) for deal_id in deal_ids),
    ]
    table.gather(reads)
    if address_name not in known:
        raise UnknownAddress(address_name)
    obstacles = [
        obstacle
        for place, each in enumerate(wanted)
        if (obstacle := _obstacle(table, place, each, today.get(each.deal_id), stocks[each.deal_id], now))
    ]
    if obstacles:
        raise CannotOrder(obstacles)
    items: list[OrderItem] = []
    for place, each in enumerate(wanted, 1):
        deal, on_sale = today[each.deal_id], stocks[each.deal_id]
        shards = stock.plan(on_sale, each.quantity, chance()) if on_sale else None
        if shards is None:  # less is left than a moment ago
            raise stock.Short
        items.append(_item(item_id(place), deal, each.quantity, shards))
    order = Order(
        order_id=ksuids.random(now, entropy),
        username=username,
        status=OrderStatus.PLACED,
        times={OrderStatus.PLACED: now},
        address=known[address_name],
        item_count=len(items),
        pieces=sum(item.quantity for item in items),
        totals=_totals(items),
        items=tuple(items),
    )
    takes = [write for item in items for write in stock.take(item.deal_id, item.shards)]
    return order, [*takes, *carts.emptying(username, [deal_id for deal_id in deal_ids if deal_id in in_cart])]


def _obstacle(
    table: Table, place: int, wanted: Wanted, deal: Deal | None, on_sale: Stock | None, now: datetime
) -> Obstacle | None:
    """Why an item cannot be ordered as asked for, or None."""
    because = partial(Obstacle, place, wanted.deal_id)
    if deal is None:
        return because("dealId", f"There is no deal {wanted.deal_id!r}.")
    if deal.status(now) is not Status.ACTIVE:
        return because("dealId", f"{deal.title}: this deal is over.")
    if on_sale is None:
        return because("dealId", f"{deal.title} is not sold here.")
    if cents(deal.price) > cents(wanted.price):
        detail = f"{deal.title} costs {deal.currency} {deal.price} now, not {wanted.price}."
        return because("price", detail, price=deal.price)
    if on_sale.left < wanted.quantity:
        left = stock.settled(table, wanted.deal_id).left
        if left < wanted.quantity:
            few = f"only {left} left." if left else "sold out."
            return because("quantity", f"{deal.title}: {few}", left=left)
    return None


def _item(item_id: str, deal: Deal, quantity: int, shards: Mapping[int, int]) -> OrderItem:
    return OrderItem(
        item_id=item_id,
        deal_id=deal.deal_id,
        number=deal.number,
        title=deal.title,
        brand=deal.brand,
        brand_name=deal.brand_name,
        price=deal.price,
        currency=deal.currency,
        quantity=quantity,
        shards=shards,
    )


def _totals(items: Sequence[OrderItem]) -> dict[str, str]:
    """The sums of some items, by currency."""
    sums: Counter[str] = Counter()
    for item in items:
        sums[item.currency] += cents(item.price) * item.quantity
    return {currency: money(amount) for currency, amount in sorted(sums.items())}
