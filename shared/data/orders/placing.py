"""Placing orders.

An order, its items, the stock it takes and the receipt of its request are written in one transaction, so there is no
order without stock and no stock lost. The account counts its orders that are still to be sent: with any it is not
removed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache, partial
from typing import Any

from shared.data import account_checks
from shared.data.catalog import deals
from shared.data.idempotency import Idempotency, Repeated, earlier_result, receipt
from shared.data.orders import addresses, carts, order_items, stock
from shared.data.orders.addresses import UnknownAddress
from shared.data.orders.order_items import (
    NUMBERS,
    Notify,
    item_id,
    item_to_item,
    no_message,
    open_shard,
    pointer,
    to_item,
)
from shared.dynamodb.table import Table
from shared.dynamodb.writes import MOST_TOGETHER, Write, put_new
from shared.errors import AlreadyExists, Conflict
from shared.models.catalog import Deal, Status
from shared.models.orders import NO_CHARGES, Address, Bill, Charges, Order, OrderItem, OrderStatus, Stock, Wanted
from shared.values import identifiers
from shared.values.money import sums, text, units


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why one item cannot be ordered: the item's place from 0, the field at fault, the reason in words.

    ``left`` is how many pieces are left where they are too few, ``price`` and ``currency`` today's where it has risen
    or is in another currency.
    """

    place: int
    deal_id: str
    field: str
    detail: str
    left: int | None = None
    price: str | None = None
    currency: str | None = None


class CannotOrder(Conflict):
    """Some items cannot be ordered as asked for. Nothing was ordered."""

    def __init__(self, obstacles: Sequence[Obstacle]) -> None:
        self.obstacles = tuple(obstacles)
        self.errors = {f"items.{each.place}.{each.field}": each.detail for each in obstacles}
        super().__init__(f"Nothing was ordered. {' '.join(obstacle.detail for obstacle in obstacles)}")


class AmountChanged(Conflict):
    """An order would come to something else than its buyer saw."""

    field = "totals"

    def __init__(self, totals: Mapping[str, str], as_read: str) -> None:
        self.totals = totals
        super().__init__(f"Nothing was ordered: the total is now {as_read}. Check it and order again.")


class AddressChanged(Conflict):
    field = "address"
    text = "Nothing was ordered: the address {!r} has changed. Check it again."


@dataclass(frozen=True, slots=True)
class Asked:
    """A buyer's request: pieces of some deals, to be sent to one of the buyer's addresses, by its name.

    ``idempotency`` also says whose account it is. With ``from_cart`` all must be in the cart, in these quantities: what
    is in a cart is ordered once, from however many windows. ``totals``, by currency, and ``goes_to``, an address's
    ``fingerprint``, are what the buyer was shown, where that is known: an order that would differ is not placed.
    """

    username: str
    address: str
    wanted: Sequence[Wanted]
    idempotency: Idempotency
    correlation_id: str | None = None
    from_cart: bool = False
    totals: Mapping[str, str] | None = None
    goes_to: str | None = None


@dataclass(frozen=True, slots=True)
class Terms:
    """A stage's terms: ``charges`` are added to each order, and what ``notify`` gives is written with it.

    The open orders of a day are spread over ``open_shards`` partitions of the index. Each takes 1,000 write units a
    second, and an order that is placed or sent is one.
    """

    charges: Charges = NO_CHARGES
    notify: Notify = no_message
    open_shards: int = 1

    @classmethod
    def of(cls, environment: Mapping[str, str], notify: Notify) -> Terms:
        """From environment variables: ``OPEN_ORDER_SHARDS``, and the ``Charges``."""
        return cls(Charges.of(environment), notify, int(environment.get("OPEN_ORDER_SHARDS", "1")))


PLAIN = Terms()


@dataclass(frozen=True, slots=True)
class _Seen:
    """All that an order is decided on, as it was read; ``earlier`` is the order that its request placed before."""

    earlier: str | None
    addresses: Mapping[str, Address]
    deals: Mapping[str, Deal]
    in_cart: Collection[str]
    stocks: Mapping[str, Stock | None]


def place(
    table: Table, asked: Asked, now: datetime, entropy: bytes, *, chance: Callable[[], float], terms: Terms = PLAIN
) -> Order:
    """Place an order, or give the one that an earlier request with the same key placed.

    The id is made of 16 bytes of ``entropy``; ``chance`` gives random numbers from 0 to below 1, with which buyers
    spread over the shards. Prices are those of the moment the deals are read: a condition on them would have all buyers
    of a deal meet in its item. Raises UnknownAddress, AddressChanged, CannotOrder, AmountChanged, CartChanged,
    NotSignedIn, IdempotencyKeyReused, Busy.
    """
    order_id = identifiers.random(now, entropy)
    shard = open_shard(order_id, terms.open_shards)
    number = cache(partial(NUMBERS.next, table))  # for what can be ordered, and then one, however often it is tried

    def once() -> Order:
        seen = _look(table, asked, partial(order_items.know, table, OrderStatus.PLACED, order_id, shard, now), now)
        if seen.earlier is not None:
            return order_items.get(table, asked.username, seen.earlier)
        items, bill = _filled(asked, seen, now, chance, terms.charges)
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
    """Read all that an order is decided on, in two round trips, the second of the stock's shards; and call ``note``."""
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
    # Stock is read at half the price, because the transaction decides. Where there seems to be too little, it is read
    # again before the buyer is told so.
    left = {deal_id: on_sale.left for deal_id, on_sale in stocks.items()}
    short = [each.deal_id for each in asked.wanted if left.get(each.deal_id, 0) < each.quantity]
    if earlier is None and short:
        settled = table.gather([partial(stock.settled, table, deal_id) for deal_id in short])
        stocks |= dict(zip(short, settled, strict=True))
    return _Seen(earlier, known, {deal.deal_id: deal for deal in found}, in_cart, stocks)


def _filled(
    asked: Asked, seen: _Seen, now: datetime, chance: Callable[[], float], charges: Charges
) -> tuple[Sequence[OrderItem], Bill]:
    """An order's items and its bill as of now. Raises UnknownAddress, AddressChanged, CannotOrder, AmountChanged."""
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
    """An item of the order, or why it cannot be ordered as asked for."""
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
    """The writes that place an order. The receipt is the first: of a request that comes twice, its refusal counts."""
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
