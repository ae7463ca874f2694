"""Removing a user's orders, before the account goes."""

from __future__ import annotations

from shared.data import keys
from shared.data.orders import carts
from shared.data.orders.order_items import item_ids
from shared.dynamodb.table import Projection, Table
from shared.dynamodb.writes import Write, delete, forget, update
from shared.errors import NoSuchUser, OrdersRemain
from shared.models.orders import OrderStatus

_KEYS = Projection.of("PK", "SK", "Status", "OrderId", "ItemCount")


def forget_all(table: Table, username: str) -> None:
    """Remove all of a user's orders, and the cart. Raises OrdersRemain, having removed nothing, if one is open."""
    found = list(table.query(keys.user(username)["PK"], after=keys.orders_before(), newest_first=True, projection=_KEYS,
                             consistent=True))  # fmt: skip
    if any(item["Status"] == OrderStatus.PLACED for item in found):
        raise OrdersRemain
    for item in found:
        parts = [keys.order_item(item["OrderId"], item_id) for item_id in item_ids(item["ItemCount"])]
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
