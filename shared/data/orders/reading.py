"""Reading orders: one, a user's of a status or a time, anyone's for editors."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

from shared.data import item_types, keys
from shared.data.orders import addresses
from shared.data.orders.order_items import from_item, item_from_item, item_id, item_ids
from shared.dynamodb import cursors
from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import GSI1, GSI2
from shared.dynamodb.table import Projection, Table
from shared.errors import NoSuchOrder, NoSuchUser
from shared.models.lists import Page
from shared.models.orders import Customer, Order, OrderStatus
from shared.values import ksuids

_OWNER = Projection.of("Username")


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
    missing = [item_id for item_id in item_ids(order.item_count) if item_id not in items]
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
    first = table.get(keys.order_item(order_id, item_id(1)), consistent=True, projection=_OWNER)
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
