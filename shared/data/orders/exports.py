"""What exports say of the shop's items: their columns for ``btd export``, and queries to begin with."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from shared.data import item_types
from shared.data.orders import keys as shop_keys
from shared.data.orders.order_items import time_attribute
from shared.models.orders import CartItem, Order, OrderItem, OrderStatus, Shard

_TIMES = {time_attribute(status): datetime for status in OrderStatus}

DESCRIBED: Mapping[str, tuple[tuple[type, ...], Mapping[str, type]]] = {
    item_types.MESSAGE: ((), {"OrderId": str}),
    shop_keys.ORDER: ((Order,), _TIMES),
    shop_keys.ORDER_ITEM: ((OrderItem,), {"OrderId": str}),
    shop_keys.SALE: ((Order,), {**_TIMES, "Items": list}),
    shop_keys.CART_ITEM: ((CartItem,), {"DealId": str}),
    shop_keys.STOCK: ((Shard,), {"DealId": str}),
}
"""The models of the types of items, and the attributes that no field holds alone."""

QUERIES = {
    "Orders a day": (
        """
SELECT substr(CAST(PlacedAt AS TEXT), 1, 10) AS Day, count(*) AS Orders, sum(Pieces) AS Pieces
FROM (SELECT PlacedAt, Pieces FROM "Order" UNION ALL SELECT PlacedAt, Pieces FROM Sale) AS Placed
GROUP BY Day
ORDER BY Day;""",
        """
SELECT substr(json_extract_scalar(item, '$.PlacedAt.S'), 1, 10) AS day, count(*) AS orders
FROM items WHERE json_extract_scalar(item, '$.Type.S') IN ('Order', 'Sale') GROUP BY 1 ORDER BY 1""",
    )
}
"""By its name, each query for SQLite and for Athena."""
