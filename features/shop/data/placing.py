"""Place orders.

One transaction writes the order, its items, the stock that it takes and the request's receipt. The account counts its
unshipped orders, and can't be removed while it has any.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache, partial
from typing import Any

from features.shop.data import addresses, carts, keys, order_items, stock
from features.shop.data.addresses import UnknownAddress
from features.shop.data.order_items import (
    NUMBERS,
    Notify,
    item_id,
    item_to_item,
    no_message,
    open_shard,
    pointer,
    to_item,
)
from features.shop.models import NO_CHARGES, Address, Bill, Charges, Order, OrderItem, OrderStatus, Stock, Wanted
from shared.data import account_checks
from shared.data.catalog import deals
from shared.data.idempotency import Idempotency, Repeated, earlier_result, receipt
from shared.data.members import rate_limits
from shared.dynamodb.table import Table
from shared.dynamodb.writes import MOST_TOGETHER, Write, put_new
from shared.errors import AlreadyExists, Conflict, DealsError, SlowDown
from shared.models.catalog import Deal, Status
from shared.values import identifiers
from shared.values.money import sums, text, units
from shared.values.naming import counted


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why an item can't be ordered: its place from 0, the field at fault, and the reason in words.

    ``left`` is the remaining stock if it is too low; ``price`` and ``currency`` are today's if the price has risen or
    the currency has changed.
    """

    place: int
    deal_id: str
    field: str
    detail: str
    left: int | None = None
    price: str | None = None
    currency: str | None = None


class CannotOrder(Conflict):
    """Some items can't be ordered; nothing was ordered."""

    def __init__(self, obstacles: Sequence[Obstacle]) -> None:
        self.obstacles = tuple(obstacles)
        self.errors = {f"items.{each.place}.{each.field}": each.detail for each in obstacles}
        super().__init__(f"Nothing was ordered. {' '.join(obstacle.detail for obstacle in obstacles)}")


class AmountChanged(Conflict):
    """The order's total differs from the one that its buyer saw."""

    field = "totals"

    def __init__(self, totals: Mapping[str, str], as_read: str) -> None:
        self.totals = totals
        super().__init__(f"Nothing was ordered: the total is now {as_read}. Check it and order again.")


class AddressChanged(Conflict):
    field = "address"
    text = "Nothing was ordered: the address {!r} has changed. Check it again."


class TooManyOrders(SlowDown):
    """A member has sent as many orders as an hour allows."""

    def __init__(self, most: int, retry_after: int) -> None:
        self.retry_after = retry_after
        wait = counted(math.ceil(retry_after / 60), "minute")
        DealsError.__init__(self, f"You can send {most} orders an hour: try again in {wait}.")


@dataclass(frozen=True, slots=True)
class Asked:
    """A buyer's request: quantities of deals, to one of the buyer's addresses, by its name.

    ``idempotency`` also names the account. With ``from_cart``, the cart must hold all in these quantities, so a cart is
    ordered once from however many windows. ``totals`` (by currency) and ``goes_to`` (an address's ``fingerprint``) are
    what the buyer saw, if known: an order that differs isn't placed.
    """

    username: str
    address: str
    wanted: Sequence[Wanted]
    idempotency: Idempotency
    correlation_id: str | None = None
    from_cart: bool = False
    totals: Mapping[str, str] | None = None
    goes_to: str | None = None


AN_HOUR = 30
"""Orders that a member may send in an hour, unless the stage says otherwise: more than anyone types, and enough to try
again each second while a rush lasts."""


@dataclass(frozen=True, slots=True)
class Terms:
    """A stage's terms: ``charges`` are added to each order, and ``notify``'s writes join its transaction.

    A day's open orders are spread over ``open_shards`` index partitions. Each takes 1,000 write units a second, and
    placing or shipping an order takes one. A member may send ``an_hour`` orders in an hour, those that are refused
    included: an order of twenty deals costs as much as eight other requests. None is for commands, which have no limit.
    """

    charges: Charges = NO_CHARGES
    notify: Notify = no_message
    open_shards: int = 1
    an_hour: int | None = None

    @classmethod
    def of(cls, environment: Mapping[str, str], notify: Notify) -> Terms:
        """Read the terms from the environment: ``OPEN_ORDER_SHARDS``, ``ORDERS_AN_HOUR``, and the ``Charges``."""
        shards = int(environment.get("OPEN_ORDER_SHARDS", "1"))
        return cls(Charges.of(environment), notify, shards, int(environment.get("ORDERS_AN_HOUR", AN_HOUR)))


PLAIN = Terms()


def _admit(table: Table, asked: Asked, most: int | None, now: datetime) -> str | None:
    """Count an order that a member sends in this hour. Raises TooManyOrders.

    If it is one too many, but was placed before (its answer may have been lost), returns the id of that order.
    """
    if most is None:
        return None
    try:
        rate_limits.add(table, [((keys.PLACING, asked.username), most)], now, seconds=3600)
    except SlowDown as error:
        if (earlier := earlier_result(table, asked.idempotency, now)) is None:
            raise TooManyOrders(most, error.retry_after) from error
        return earlier
    return None


@dataclass(frozen=True, slots=True)
class _Seen:
    """Everything that decides on an order, as read; ``earlier`` is the order that its request placed before."""

    earlier: str | None
    addresses: Mapping[str, Address]
    deals: Mapping[str, Deal]
    in_cart: Collection[str]
    stocks: Mapping[str, Stock | None]


def place(
    table: Table, asked: Asked, now: datetime, entropy: bytes, *, chance: Callable[[], float], terms: Terms = PLAIN
) -> Order:
    """Place an order, or return the one that an earlier request with the same key placed.

    The id is made from 16 bytes of ``entropy``; ``chance`` gives random numbers from 0 to below 1 that spread buyers
    over the shards. Prices are those read: a condition on them would make a deal's item a bottleneck for its buyers.
    Raises UnknownAddress, AddressChanged, CannotOrder, AmountChanged, CartChanged, NotSignedIn, IdempotencyKeyReused,
    TooManyOrders, Busy.
    """
    if (placed := _admit(table, asked, terms.an_hour, now)) is not None:
        return order_items.get(table, asked.username, placed)
    order_id = identifiers.random(now, entropy)
    shard = open_shard(order_id, terms.open_shards)
    number = cache(partial(NUMBERS.next, table))  # drawn only for a possible order, once for all attempts

    def once() -> Order:
        seen = _look(table, asked, partial(order_items.know, table, OrderStatus.PLACED, order_id, shard, now), now)
        if seen.earlier is not None:
            return order_items.get(table, asked.username, seen.earlier)
        try:
            items, bill = _filled(asked, seen, now, chance, terms.charges)
        except Conflict:
            # Perhaps the same request, sent twice, has just taken the last piece or emptied the cart.
            if (earlier := earlier_result(table, asked.idempotency, now)) is None:
                raise
            return order_items.get(table, asked.username, earlier)
        address = seen.addresses[asked.address]
        order = replace(_order(asked, address, items, bill, now, order_id, number()), open_shard=shard)
        writes = [*_writes(order, asked, seen.in_cart, now), *terms.notify(order, now)]
        if len(writes) > MOST_TOGETHER:
            for item in order.items:
                if len(item.shards) > 1:
                    stock.pool(table, item.deal_id)
            return once()
        table.transact(*writes)
        return order

    return table.retry(once, when=(stock.Short, Repeated), gave_up=stock.CROWDED)


def _look(table: Table, asked: Asked, note: Callable[[], None], now: datetime) -> _Seen:
    """Read everything that decides on an order, in two round trips (stock shards in the second), and call ``note``."""
    deal_ids = [each.deal_id for each in asked.wanted]
    reads: list[Callable[[], Any]] = [
        partial(earlier_result, table, asked.idempotency, now),
        partial(addresses.of, table, asked.username, asked.idempotency.account_id),
        partial(deals.get_many, table, deal_ids, consistent=True),
        partial(carts.deals_in, table, asked.username, now),
        partial(stock.find_many, table, deal_ids),
        note,
    ]
    earlier, known, found, in_cart, stocks, _ = table.gather(reads)
    # Eventually consistent reads at half the price, because the transaction decides. If stock seems too low, it is read
    # again before the order is refused.
    left = {deal_id: on_sale.left for deal_id, on_sale in stocks.items()}
    short = [each.deal_id for each in asked.wanted if left.get(each.deal_id, 0) < each.quantity]
    if earlier is None and short:
        settled = table.gather([partial(stock.settled, table, deal_id) for deal_id in short])
        stocks |= dict(zip(short, settled, strict=True))
    return _Seen(earlier, known, {deal.deal_id: deal for deal in found}, in_cart, stocks)


def _filled(
    asked: Asked, seen: _Seen, now: datetime, chance: Callable[[], float], charges: Charges
) -> tuple[Sequence[OrderItem], Bill]:
    """An order's items and bill. Raises UnknownAddress, AddressChanged, CannotOrder, AmountChanged."""
    if asked.address not in seen.addresses:
        raise UnknownAddress(asked.address)
    if asked.goes_to not in (None, addresses.fingerprint(seen.addresses[asked.address])):
        raise AddressChanged(asked.address)
    lines = [
        _line(place, each, seen.deals.get(each.deal_id), seen.stocks.get(each.deal_id), now, chance)
        for place, each in enumerate(asked.wanted)
    ]
    obstacles = [line for line in lines if isinstance(line, Obstacle)]
    if obstacles:
        raise CannotOrder(obstacles)
    items = tuple(line for line in lines if isinstance(line, OrderItem))
    bill = charges.bill((item.price, item.currency, item.quantity) for item in items)
    if asked.totals not in (None, bill.totals):
        raise AmountChanged(bill.totals, sums(bill.totals))
    return items, bill


def _order(
    asked: Asked, address: Address, items: Sequence[OrderItem], bill: Bill, now: datetime, order_id: str, number: int
) -> Order:
    return Order(
        order_id=order_id,
        number=number,
        username=asked.username,
        status=OrderStatus.PLACED,
        times={OrderStatus.PLACED: now},
        address=address,
        item_count=len(items),
        pieces=sum(item.quantity for item in items),
        shipping=bill.shipping,
        tax=bill.tax,
        totals=bill.totals,
        items=tuple(items),
        correlation_id=asked.correlation_id,
    )


def _line(
    place: int, wanted: Wanted, deal: Deal | None, on_sale: Stock | None, now: datetime, chance: Callable[[], float]
) -> OrderItem | Obstacle:
    """An item of the order, or why it can't be ordered."""
    because = partial(Obstacle, place, wanted.deal_id)
    if deal is None:
        return because("dealId", f"There is no deal {wanted.deal_id!r}.")
    if deal.status(now) is not Status.ACTIVE:
        return because("dealId", f"{deal.title}: this deal is over.")
    if on_sale is None:
        return because("dealId", f"{deal.title} is not sold here.")
    if deal.currency != wanted.currency or deal.units > units(wanted.price, wanted.currency):
        changed = "price" if deal.currency == wanted.currency else "currency"
        detail = f"{deal.title} costs {text(deal.price, deal.currency)} now, not {text(wanted.price, wanted.currency)}."
        return because(changed, detail, price=deal.price, currency=deal.currency)
    shards = stock.plan(on_sale, wanted.quantity, chance())
    if shards is None:
        few = f"only {on_sale.left} left." if on_sale.left else "sold out."
        return because("quantity", f"{deal.title}: {few}", left=on_sale.left)
    return OrderItem(
        item_id=item_id(place + 1),
        deal_id=deal.deal_id,
        number=deal.number,
        title=deal.title,
        variant=deal.variant,
        brand=deal.brand,
        brand_name=deal.brand_name,
        price=deal.price,
        currency=deal.currency,
        quantity=wanted.quantity,
        shards=shards,
    )


def _writes(order: Order, asked: Asked, in_cart: Collection[str], now: datetime) -> Iterator[Write]:
    """The writes that place an order. The receipt comes first, because its refusal identifies a repeated request."""
    yield receipt(asked.idempotency, order.order_id, now)
    yield put_new(to_item(order), refused=AlreadyExists())
    yield pointer(order.number, order.order_id)
    yield account_checks.held("OpenOrders", order.username, asked.idempotency.account_id)
    if asked.from_cart:
        yield from carts.ordering(order.username, {item.deal_id: item.quantity for item in order.items})
    else:
        yield from carts.emptying(order.username, [each.deal_id for each in order.items if each.deal_id in in_cart])
    for item in order.items:
        yield put_new(item_to_item(order, item), refused=AlreadyExists())
        yield from stock.take([item])
