"""Reading orders: one, a user's of a status or a time, anyone's for editors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from itertools import chain, islice, takewhile
from operator import attrgetter
from typing import Any

from shared.data import item_types, keys
from shared.data.orders import addresses
from shared.data.orders.order_items import from_item, item_from_item, item_keys, order_id_of
from shared.dynamodb import cursors, damage
from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import GSI1, GSI2, GSI3
from shared.dynamodb.table import Projection, Table
from shared.errors import NoSuchOrder, NoSuchUser
from shared.models.catalog import Page
from shared.models.orders import Customer, Order, OrderStatus
from shared.values import identifiers

_OWNER = Projection.of("PK", "SK", "Username")


def get(table: Table, username: str, id_or_number: str) -> Order:
    """A user's order as it is now, with its items, by its id or its number. Raises NoSuchOrder.

    One round trip: the order is read from the base table, and beside it what GSI1 shows of its items.
    """
    order_id = order_id_of(table, id_or_number)
    itself = partial(table.get, keys.order(username, order_id), consistent=True)
    reads: list[Callable[[], Any]] = [itself, partial(_parts, table, order_id)]
    item, (_, parts) = table.gather(reads)
    if item is None:
        raise NoSuchOrder(order_id)
    return _whole(table, item, parts)


def find(table: Table, id_or_number: str) -> Order:
    """Anyone's order with its items, for editors, by its id or its number. Raises NoSuchOrder.

    One Query of GSI1 shows it. Where that lags, the order's first item names its owner. Where the account was removed,
    it is what stays of the order.
    """
    order_id = order_id_of(table, id_or_number)
    order, parts = _parts(table, order_id)
    if order is not None:
        return _whole(table, order, parts)
    first = table.get_many(item_keys(order_id, 1), consistent=True, projection=_OWNER)
    if not first:
        return sale(table, order_id)
    return get(table, damage.read(first[0], lambda item: damage.attribute(item, "Username", str)), order_id)


def sale(table: Table, order_id: str) -> Order:
    """An order whose account was removed, as far as it stays. Raises NoSuchOrder."""
    item = table.get(keys.sale(order_id), consistent=True)
    if item is None:
        raise NoSuchOrder(order_id)
    return damage.read(item, from_item)


def as_it_is(table: Table, order: Order) -> Order:
    """An order that was read before, as it is now, whether or not its account was removed since. Raises NoSuchOrder."""
    if order.username:
        with suppress(NoSuchOrder):
            return get(table, order.username, order.order_id)
    return sale(table, order.order_id)


def _parts(table: Table, order_id: str) -> tuple[Item | None, list[Item]]:
    """An order, or None, and those of its items that GSI1 shows. One Query."""
    shown = list(table.query(keys.order_parts(order_id), index=GSI1))
    order = next((part for part in shown if part.get("Type") == item_types.ORDER), None)
    return order, [part for part in shown if part.get("Type") == item_types.ORDER_ITEM]


def _whole(table: Table, item: Item, parts: Iterable[Item]) -> Order:
    """An order with its items. Those that are not shown yet are read by their keys, which the order's count tells."""
    order = damage.read(item, from_item)
    found = {part["PK"]: part for part in parts}
    missing = [key for key in item_keys(order.order_id, order.item_count) if key["PK"] not in found]
    if missing:
        found |= {part["PK"]: part for part in table.get_many(missing, consistent=True)}
    return replace(order, items=tuple(damage.read(found[each], item_from_item) for each in sorted(found)))


def customer(table: Table, username: str, *, newest: int = 5) -> Customer:
    """A user and the newest orders. One Query of the user's collection, backward. Raises NoSuchUser."""
    items = list(table.query(keys.user(username)["PK"], newest_first=True, limit=newest + 1, consistent=True))
    if not items or items[0].get("Type") != item_types.USER:
        raise NoSuchUser(username)
    user, *orders = items
    name, known = damage.read(user, lambda item: (damage.attribute(item, "Name", str), addresses.from_user(item)))
    return Customer(username, name, known, tuple(damage.readable(orders, from_item)))


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
    """A page of a user's orders without items, newest first; ``since`` and ``until`` included. Raises InvalidCursor."""
    scope = f"orders/{username}/{status or 'all'}"
    before = cursors.decode(scope, cursor) if cursor is not None else None
    if before is None and until is not None:
        before = _lowest_after(until)
    if status is None:
        read = partial(
            table.query, keys.user(username)["PK"], after=keys.order_sort_key(before or "~"), consistent=True
        )
    else:
        place = () if before is None else (identifiers.time_of(before), before)
        read = partial(table.query, keys.order_history(username), index=GSI2, after=keys.history_before(status, *place))

    def is_asked_for(order: Order) -> bool:
        return status in (None, order.status) and (since is None or order.placed_at >= since)

    items = read(newest_first=True, page_size=limit + 1)
    orders = (order for item in items for order in damage.readable([item], from_item))
    found = list(islice(takewhile(is_asked_for, orders), limit + 1))
    page = tuple(found[:limit])
    return Page(page, cursors.encode(scope, page[-1].order_id) if len(found) > limit else None)


def closed(table: Table, status: OrderStatus, *, limit: int, cursor: str | None = None) -> Page[Order]:
    """A page of all orders of a status that is their last, for editors, the last placed first. Raises InvalidCursor.

    One partition of GSI3 holds them: it takes 1,000 deliveries a second.
    """
    scope = f"closed orders/{status}"
    before = keys.open_order_sort_key("~" if cursor is None else cursors.decode(scope, cursor))
    shown = table.query(keys.closed_orders_of(status), index=GSI3, after=before, newest_first=True, limit=limit + 1)
    found = damage.readable(shown, from_item)
    page = tuple(found[:limit])
    return Page(page, cursors.encode(scope, page[-1].order_id) if len(found) > limit else None)


def filled(table: Table, orders: Sequence[Order]) -> list[Order]:
    """Some orders with their items, read by their keys, but without an order of which an item is damaged.

    BatchGetItem, 100 items a request.
    """
    # A sale has its items.
    parts = {each.order_id: [] if each.items else item_keys(each.order_id, each.item_count) for each in orders}
    found = {part["PK"]: part for part in table.get_many(list(chain.from_iterable(parts.values())))}

    def fill(order: Order) -> Order:
        own = [found[key["PK"]] for key in parts[order.order_id] if key["PK"] in found]
        return replace(order, items=tuple(damage.read(part, item_from_item) for part in own) or order.items)

    return list(damage.each(orders, fill, attrgetter("order_id")))


def _lowest_after(time: datetime) -> str | None:
    """The lowest id of the second after a time; before the first id it is that, and after the last there is none."""
    second = timedelta(seconds=1)
    if time >= identifiers.END - second:
        return None
    return identifiers.random(max(time + second, identifiers.EPOCH), bytes(16))
