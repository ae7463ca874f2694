"""Placing orders, reading them, and the steps they take.

An order, its items, the stock it takes and the receipt of its request are written in one transaction, so there is no
order without stock and no stock lost. The User item counts its orders: an account that has any is not deleted, so the
next owner of its name finds none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

from shared.data import item_types, keys
from shared.data.catalog import deals
from shared.data.idempotency import Idempotency, Repeated, is_used, receipt, result_of
from shared.data.orders import addresses, carts, stock
from shared.data.orders.order_items import from_item, item_from_item, item_to_item, time_attribute, to_item
from shared.dynamodb import cursors
from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import GSI1, GSI2, GSI3
from shared.dynamodb.table import Projection, Table
from shared.dynamodb.writes import MOST_TOGETHER, Write, delete, forget, put_new, update
from shared.errors import (
    AlreadyExists,
    CannotOrder,
    DealsError,
    NoSuchOrder,
    NoSuchUser,
    Obstacle,
    OrdersRemain,
    UnknownAddress,
    WrongStep,
)
from shared.models.catalog import Deal, Period, Status
from shared.models.lists import Page
from shared.models.members import Address
from shared.models.orders import Customer, Order, OrderItem, OrderStatus, Stock, Wanted
from shared.values import ksuids
from shared.values.money import cents, money
from shared.values.times import to_iso

SETTLED = timedelta(days=2)
"""Age of a day to which no order is added any more, and which the index shows completely."""

MOST_DAYS = 10
"""Days that the clock looks at in one run; the next runs forget further days without an open order."""

_DAYS = Projection.of("PK", "SK", "Days")
_OWNER = Projection.of("Username")
_ID = Projection.of("OrderId")
_KEYS = Projection.of("PK", "SK", "Status", "OrderId", "ItemCount")


@dataclass(frozen=True, slots=True)
class Step:
    """A step of an order: the status before it, and whether the stock is given back."""

    after: OrderStatus
    gives_back: bool = False


STEPS: Mapping[OrderStatus, Step] = {
    OrderStatus.SHIPPED: Step(after=OrderStatus.PLACED),
    OrderStatus.DELIVERED: Step(after=OrderStatus.SHIPPED),
    OrderStatus.CANCELLED: Step(after=OrderStatus.PLACED, gives_back=True),
}
"""All steps there are. Only orders that are ``placed`` are open: they are still to be sent."""


Telling = Callable[[Order, datetime], Sequence[Write]]
"""The message to an order's owner, written in the transaction that places the order or takes a step."""


def untold(_order: Order, _now: datetime) -> Sequence[Write]:
    """Tells nobody."""
    return ()


class _Moved(DealsError):
    """The order changed since it was read."""


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
        return get(table, username, result_of(table, idempotency))
    except (CannotOrder, UnknownAddress):
        # The last pieces may have gone to this very request, whose answer was lost.
        if not is_used(table, idempotency, now):
            raise
        return get(table, username, result_of(table, idempotency))


def get(table: Table, username: str, order_id: str) -> Order:
    """A user's order with its items: the order from the base table, the items from GSI1. Raises NoSuchOrder.

    Items that the index does not show yet are read by their keys, which the order's count of them tells.
    """
    if not ksuids.is_ksuid(order_id):
        raise NoSuchOrder(order_id)
    item = table.get(keys.order(username, order_id), consistent=True)
    if item is None:
        raise NoSuchOrder(order_id)
    order = from_item(item)
    shown = [
        part for part in table.query(keys.order_parts(order_id), index=GSI1) if part["Type"] == item_types.ORDER_ITEM
    ]
    items = {part["ItemId"]: part for part in shown}
    missing = [item_id for item_id in _item_ids(order.item_count) if item_id not in items]
    if missing:
        late = table.gather([partial(_item_of, table, order_id, item_id) for item_id in missing])
        items |= {part["ItemId"]: part for part in late if part is not None}
    return replace(order, items=tuple(item_from_item(items[item_id]) for item_id in sorted(items)))


def _item_of(table: Table, order_id: str, item_id: str) -> Item | None:
    """One item of an order, as it is now, if it is there."""
    return table.get(keys.order_item(order_id, item_id), consistent=True)


def find(table: Table, order_id: str) -> Order:
    """Anyone's order, for editors. Its first item, which each order has, names its owner. Raises NoSuchOrder."""
    if not ksuids.is_ksuid(order_id):
        raise NoSuchOrder(order_id)
    first = table.get(keys.order_item(order_id, _item_id(1)), consistent=True, projection=_OWNER)
    if first is None:
        raise NoSuchOrder(order_id)
    return get(table, first["Username"], order_id)


def customer(table: Table, username: str, *, newest: int = 5) -> Customer:
    """A user and the newest orders. One Query of the user's collection, backward. Raises NoSuchUser."""
    items = list(table.query(keys.user(username)["PK"], newest_first=True, limit=newest + 1, consistent=True))
    if not items or items[0]["Type"] != item_types.USER:
        raise NoSuchUser(username)
    user, *orders = items
    return Customer(username, user["Name"], addresses.from_user(user), tuple(map(from_item, orders)))


def latest(
    table: Table,
    username: str,
    *,
    limit: int,
    cursor: str | None = None,
    status: OrderStatus | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> Page[Order]:
    """A page of a user's orders without their items, newest first: those of a status from GSI2.

    ``since`` and ``until`` bound the time they were placed, both included. Raises InvalidCursor.
    """
    scope = f"orders/{username}/{status or 'all'}"
    before = cursors.decode(scope, cursor) if cursor is not None else None
    if before is None and until is not None:
        before = _lowest_after(until)
    if status is None:
        read = partial(table.query, keys.user(username)["PK"], after=keys.orders_before(before), consistent=True)
    else:
        bound = (
            keys.history_before(status)
            if before is None
            else keys.history_before(status, ksuids.time_of(before), before)
        )
        read = partial(table.query, keys.order_history(username), index=GSI2, after=bound)
    found: list[Order] = []
    for item in read(newest_first=True, page_size=limit + 1):
        order = from_item(item)
        if (status is not None and order.status is not status) or (since is not None and order.placed_at < since):
            break
        found.append(order)
        if len(found) > limit:
            break
    page = tuple(found[:limit])
    return Page(page, cursors.encode(scope, page[-1].order_id) if len(found) > limit else None)


def _lowest_after(time: datetime) -> str | None:
    """The lowest id of the second after a time; for times that ids do not reach, that of their first second, or
    none."""
    second = timedelta(seconds=1)
    if time >= ksuids.END - second:
        return None
    return ksuids.random(max(time + second, ksuids.EPOCH), bytes(16))


def open_orders(table: Table, now: datetime, *, limit: int, cursor: str | None = None) -> Page[Order]:
    """A page of the orders that are still to be sent, oldest first, without their items. Raises InvalidCursor.

    Two round trips: the container knows the days that have any. A day that turns out to have none is forgotten.
    """
    after = cursors.decode("open orders", cursor) if cursor is not None else None
    first_day = "" if after is None else Period.DAY.start_of(ksuids.time_of(after))
    container = table.get(keys.open_orders(), projection=_DAYS) or {}
    days = [day for day in sorted(container.get("Days", ())) if day >= first_day]
    found: list[Order] = []
    while days and len(found) <= limit:
        together, days = days[: limit + 1], days[limit + 1 :]
        bounds = {day: keys.open_order_sort_key(after) if after and day == first_day else None for day in together}
        read = table.gather(
            [partial(_open_on, table, day, after=bound, limit=limit + 1) for day, bound in bounds.items()]
        )
        for (day, bound), orders in zip(bounds.items(), read, strict=True):
            if not orders and bound is None:
                _forget_settled(table, day, now)
            found += orders
    page = tuple(found[:limit])
    return Page(page, cursors.encode("open orders", page[-1].order_id) if len(found) > limit else None)


def waiting_since(table: Table, now: datetime) -> datetime | None:
    """When the open order that waits longest was placed; None where none is open. For the clock.

    A GetItem of the container and a Query of each day until one has an order: usually the first, for a day that has
    none left is forgotten. Its id says the time, so nothing of its buyer is read.
    """
    container = table.get(keys.open_orders(), projection=_DAYS) or {}
    for day in sorted(container.get("Days", ()))[:MOST_DAYS]:
        for item in table.query(keys.open_orders_of(day), index=GSI3, limit=1, projection=_ID):
            return ksuids.time_of(item["OrderId"])
        _forget_settled(table, day, now)
    return None


def advance(
    table: Table,
    order: Order,
    status: OrderStatus,
    now: datetime,
    *,
    correlation_id: str | None = None,
    telling: Telling = untold,
) -> Order:
    """Move an order to a status; one that has it already is left as it is. Raises WrongStep, NoSuchOrder.

    A step is one conditional write, so of two that exclude each other one wins and the other is refused. Cancelling
    gives the stock back in the same transaction.
    """
    step = STEPS.get(status)
    if order.status is status:
        return order
    if step is None or order.status is not step.after:
        raise WrongStep(order.order_id, order.status, status)
    new = replace(order, status=status, times={**order.times, status: now}, correlation_id=correlation_id)
    try:
        table.transact(
            _step(order, new), *(stock.give_back(_taken(order)) if step.gives_back else ()), *telling(new, now)
        )
    except _Moved:
        # Decide again on the order as it is now: it may have taken this very step, whose answer was lost.
        now_it_is = get(table, order.username, order.order_id)
        return advance(table, now_it_is, status, now, correlation_id=correlation_id, telling=telling)
    return new


def forget_all(table: Table, username: str) -> None:
    """Remove all of a user's orders, and the cart. Raises OrdersRemain, having removed nothing, if one is open."""
    found = list(table.query(keys.user(username)["PK"], after=keys.orders_before(), newest_first=True, projection=_KEYS,
                             consistent=True))  # fmt: skip
    if any(item["Status"] == OrderStatus.PLACED for item in found):
        raise OrdersRemain
    for item in found:
        parts = [keys.order_item(item["OrderId"], item_id) for item_id in _item_ids(item["ItemCount"])]
        try:
            table.transact(
                delete(
                    keys.primary(item),
                    # An order that is gone has no status either, and would be counted as gone once more.
                    condition="attribute_exists(PK) AND #status <> :placed",
                    names={"#status": "Status"},
                    values={":placed": OrderStatus.PLACED.value},
                    refused=OrdersRemain(),
                ),
                update(keys.user(username), "ADD OrderCount :less", values={":less": -1}, refused=NoSuchUser(username)),
                *(forget(part, because="it goes with its order") for part in parts),
            )
        except OrdersRemain:
            if table.get(keys.primary(item), consistent=True) is not None:
                raise
    carts.forget_all(table, username)


def leaving(username: str) -> Write:
    """The write that deletes a User item that has no orders: for the removal of the account."""
    return delete(
        keys.user(username),
        condition="attribute_exists(PK) AND (attribute_not_exists(OrderCount) OR OrderCount = :none)",
        values={":none": 0},
        refused=OrdersRemain(),
    )


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
        lambda: _know_day(table, Period.DAY.start_of(now)),
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
        items.append(_item(_item_id(place), deal, each.quantity, shards))
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


def _taken(order: Order) -> dict[tuple[str, int], int]:
    """The pieces that an order took, by deal and shard."""
    return {(item.deal_id, shard): pieces for item in order.items for shard, pieces in item.shards.items()}


def _step(old: Order, new: Order) -> Write:
    """The write by which an order takes a step. It leaves the open orders when it is sent or cancelled."""
    history = keys.order_in_history(new.username, new.status, new.placed_at, new.order_id)
    leaves = old.status is OrderStatus.PLACED
    request = {":request": new.correlation_id} if new.correlation_id else {}
    return update(
        keys.order(new.username, new.order_id),
        "SET #status = :status, #time = :time, GSI2SK = :history"
        + (", CorrelationId = :request" if request else "")
        + (" REMOVE GSI3PK, GSI3SK" if leaves else ""),
        condition="#status = :old",
        names={"#status": "Status", "#time": time_attribute(new.status)},
        values={
            ":status": new.status.value,
            ":old": old.status.value,
            ":time": to_iso(new.times[new.status]),
            ":history": history["GSI2SK"],
            **request,
        },
        refused=_Moved(),
    )


def _open_on(table: Table, day: str, *, after: str | None, limit: int) -> list[Order]:
    return [from_item(item) for item in table.query(keys.open_orders_of(day), index=GSI3, after=after, limit=limit)]


def _know_day(table: Table, day: str) -> None:
    """Write down in the container that a day has open orders, before its first: a day too many is only an empty read.

    A count in each order's transaction would be one item in which all buyers of a rush meet; a day is written once.
    """
    known = table.get(keys.open_orders(), projection=_DAYS)
    if known is None or day not in known.get("Days", ()):
        write = update(
            keys.open_orders(),
            "SET #type = :type ADD #days :day",
            condition=None,  # the first order of all makes the container
            names={"#type": "Type", "#days": "Days"},
            values={":type": item_types.OPEN_ORDERS, ":day": {day}},
            refused=None,
        )
        table.write(write)


def _forget_settled(table: Table, day: str, now: datetime) -> None:
    """Forget a day that has no open order, once none can be added."""
    if day >= Period.DAY.start_of(now - SETTLED):
        return
    table.write(
        update(
            keys.open_orders(),
            "DELETE #days :day",
            condition=None,  # nobody adds to a day that is settled
            names={"#days": "Days"},
            values={":day": {day}},
            refused=None,
        )
    )


def _item_id(place: int) -> str:
    """The id of an order's item: its place, from 1."""
    return f"{place:03d}"


def _item_ids(count: int) -> Iterator[str]:
    return map(_item_id, range(1, count + 1))
