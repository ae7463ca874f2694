"""Removing a user's orders with the account, or turning them into sales without one.

An order that was sent is on its way to a customer, and its pieces are in the books. So it stays as a sale, without the
account: with name and address until it is delivered, then without them. A cancelled order goes.
"""

from __future__ import annotations

from itertools import chain

from shared.data import item_types, keys
from shared.data.orders.order_items import item_keys
from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import GSI3, INDEX_KEYS, KEYS
from shared.dynamodb.table import Table
from shared.dynamodb.writes import Write, delete, forget, put_new
from shared.errors import AlreadyExists, DealsError
from shared.models.orders import OrderStatus

_OF_OWNER = {"Username", "CorrelationId"}
_AT_DESK = {GSI3.partition_key, GSI3.sort_key}
"""Where the desk finds an order; no other index finds a sale."""


class _Moved(DealsError):
    """The order was delivered since it was read, or another run of the removal was here first."""


def close_some(table: Table, username: str, most: int, *, required: Write) -> int:
    """Take orders from a user who has none to be sent, ``most`` of them; returns how many.

    One transaction each, so an order is either its owner's or a sale.
    """
    collection = keys.user(username)["PK"]
    above = keys.order_sort_key("~")
    found = list(table.query(collection, after=above, newest_first=True, limit=most, consistent=True))
    parts = {order["OrderId"]: item_keys(order["OrderId"], order["ItemCount"]) for order in found}
    items = {item["PK"]: item for item in table.get_many(list(chain.from_iterable(parts.values())), consistent=True)}
    for order in found:
        own = [items[key["PK"]] for key in parts[order["OrderId"]] if key["PK"] in items]
        same = delete(
            keys.primary(order),
            condition="#status = :status",
            names={"#status": "Status"},
            values={":status": order["Status"]},
            refused=_Moved(),
        )
        gone = [forget(key, because="it goes with its order") for key in parts[order["OrderId"]]]
        if order["Status"] == OrderStatus.CANCELLED:
            rest = forget(keys.order_number(order["OrderNumber"]), because="it goes with its order")
        else:
            rest = _sale(order, own)
        try:
            table.transact(required, same, *gone, rest)
        except _Moved:
            return most  # there may be more: the next look finds it as it is by then
    return len(found)


def _sale(order: Item, parts: list[Item]) -> Write:
    """The write of what stays of an order. While it is among those still to be delivered, so is the sale."""
    left_out = _OF_OWNER | (INDEX_KEYS - _AT_DESK)
    if order["Status"] == OrderStatus.DELIVERED:
        left_out |= {"Address"}
    kept = {name: value for name, value in order.items() if name not in left_out}
    of_part = {*KEYS, *_OF_OWNER, "Type"}
    items = [{name: value for name, value in part.items() if name not in of_part} for part in parts]
    sale = {**kept, **keys.sale(order["OrderId"]), "Type": item_types.SALE, "Items": items}
    return put_new(sale, refused=AlreadyExists())
