"""The shop's item types, one row each (see ``shared/data/entities.py``), and descriptions for exports."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from features.shop.data import keys
from features.shop.models import CartItem, Order, OrderItem, OrderStatus, Shard
from shared.data import keys as core_keys
from shared.data.entity import (
    DEAL_ID,
    EVERYTHING_ELSE,
    OF_DEAL,
    SAYS_DEAL,
    SAYS_USER,
    Entity,
    Exported,
    Partner,
    Shown,
    at,
)
from shared.data.entity import named as _
from shared.dynamodb.schema import GSI1, GSI2, GSI3

_USERNAME, _ORDER_ID, _SHARD = _("Username"), _("OrderId"), _("Shard")
_OPEN_ORDER = ("Status", ("placed", "shipped"))
_OPEN, _PARTLY = Shown.OPEN, Shown.PARTLY
_WHOLE, _DESCRIBED = Exported.WHOLE, Exported.DESCRIBED


def _numbered(says: Mapping[str, str]) -> tuple[Partner, ...]:
    """The partners of an order or a sale: its number, and its partition's note."""
    note = keys.open_orders_note(_("Status"), _("OrderDay"), _("OpenShard"))
    return (
        Partner(
            keys.order_number(_("OrderNumber")),
            {"Type": keys.ORDER_NUMBER, "Number": "<OrderNumber>", **says},
        ),
        Partner(note, {"Type": keys.OPEN_ORDERS}, {"KnownAt": "Now"}, when=_OPEN_ORDER),
    )


_IN_OPEN = keys.order_in_open(_("Status"), _("OrderDay"), _("OpenShard"), _ORDER_ID)
_IN_CLOSED = keys.order_in_closed(_("Status"), _ORDER_ID)
_AT_DESK = (
    at(_IN_OPEN, "open orders of a day", "34", _PARTLY, index=GSI3, when=_OPEN_ORDER),
    at(_IN_CLOSED, "closed orders", "34", _PARTLY, index=GSI3, when=("Status", ("delivered", "cancelled"))),
)
"""The places of an order or a sale in the desk's lists: while open, and afterwards."""

_ORDER_NEEDS = "OrderId OrderNumber Status PlacedAt ItemCount Pieces Shipping Tax Totals"
_ORDER_MAY = "ShippedAt DeliveredAt CancelledAt CorrelationId OpenShard"
_LIVES = "a member's address"

# fmt: off
ENTITIES: Mapping[str, tuple[Entity, ...]] = {
    "The shop": (
        Entity(keys.ORDER, at(keys.order(_USERNAME, _ORDER_ID), "", "28", _PARTLY),
            (at(keys.order_in_parts(_ORDER_ID), "an order and its items", "31", _PARTLY, index=GSI1),
                at(keys.order_in_history(_USERNAME, _("Status"), _("PlacedAt"), _ORDER_ID),
                    "a user's orders by status", "32", _PARTLY, index=GSI2),
                *_AT_DESK),
            needs=_ORDER_NEEDS, may=_ORDER_MAY, hides={"Address": _LIVES}, says={**SAYS_USER, "OrderId": "<OrderId>"},
            partners=_numbered({"OrderId": "<OrderId>"}), owned=True, remover=True,
            # They are most of a large account, whose other items then wait for the clock.
            removed_before=(EVERYTHING_ELSE,), exported=_DESCRIBED),
        Entity(keys.ORDER_ITEM, at(keys.order_item(_ORDER_ID, _("ItemId")), "an item of an order", "31"),
            (at(keys.order_item_in_parts(_ORDER_ID, _("ItemId")), shown=_PARTLY, index=GSI1),),
            needs="Username DealId Title Brand BrandName Price Currency Quantity Shards", may="DealNumber Variant",
            says={"OrderId": "<OrderId>", "ItemId": "<ItemId>"}, partners=(Partner(keys.order(_USERNAME, _ORDER_ID)),),
            exported=_DESCRIBED),
        Entity(keys.ORDER_NUMBER, at(keys.order_number(_("Number")), "an order's number", "31"),
            needs="OrderId", says={"Number": "<Number:d>"}, claimed=True),
        Entity(keys.SALE, at(keys.sale(_ORDER_ID), "the record of an order", "31", _PARTLY),
            _AT_DESK,
            needs=f"{_ORDER_NEEDS} Items", may=_ORDER_MAY, hides={"Address": _LIVES},
            says={"OrderId": "<OrderId>"}, partners=_numbered({"OrderId": "<OrderId>"}),
            exported=_DESCRIBED),
        Entity(keys.CART_ITEM, at(keys.cart_item(_USERNAME, DEAL_ID), "a cart", "29"),
            needs="Quantity Price Currency PutAt", says={**SAYS_USER, **SAYS_DEAL}, partners=(OF_DEAL,), owned=True,
            expires=True, exported=_DESCRIBED),
        Entity(keys.CART_MARK, at(keys.cart_mark(_USERNAME)), needs="Mark", owned=True, expires=True),
        Entity(keys.STOCK, at(keys.stock_shard(DEAL_ID, _SHARD), "the stock of a deal", "35"),
            needs="Left Ordered OnSale Changes", says={**SAYS_DEAL, "Shard": "<Shard:d>"}, partners=(OF_DEAL,),
            exported=_WHOLE),
        # It is in the index while its deal is listed and pieces are left, which the deal says (invariants.py).
        Entity(keys.STOCK_NOTE, at(keys.stock(DEAL_ID), "the stock of a deal", "35"),
            (at(keys.stock_in_sold_here(DEAL_ID), "deals sold here", "58", _OPEN, index=GSI1),),
            needs="Shards", says=SAYS_DEAL, exported=_WHOLE),
        Entity(keys.OPEN_ORDERS,
            at(keys.open_orders_note(_("Status"), _("Day"), _SHARD), "partitions that hold open orders", "34"),
            needs="KnownAt"),
        Entity(core_keys.SEQUENCE, at(keys.order_numbers(), "a sequence of numbers", "30"),
            needs="LastNumber", exported=_WHOLE),
    ),
}
# fmt: on
"""The item types, grouped by what they belong to."""

USER_HIDES = {"Addresses": _LIVES}
"""Hidden attributes of User items that the shop adds."""

NOTES: Mapping[str, Callable[[Mapping[str, object]], tuple[str, str]]] = {
    keys.OPEN_ORDERS: lambda note: (keys.open_orders_noted(note)[1], GSI3.name)
}
"""For each type of note, the partition that a note points to, and its index."""

COLLECTIONS = {"Open orders": keys.open_orders()}
"""Partitions that the table browser offers to start with."""


_TIMES = {status.time_attribute: datetime for status in OrderStatus}

DESCRIBED: Mapping[str, tuple[tuple[type, ...], Mapping[str, type]]] = {
    core_keys.MESSAGE: ((), {"OrderId": str}),
    keys.ORDER: ((Order,), _TIMES),
    keys.ORDER_ITEM: ((OrderItem,), {"OrderId": str}),
    keys.SALE: ((Order,), {**_TIMES, "Items": list}),
    keys.CART_ITEM: ((CartItem,), {"DealId": str}),
    keys.STOCK: ((Shard,), {"DealId": str}),
}
"""The models of item types, and the attributes that no field holds alone."""

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
"""The queries for SQLite and Athena, by name."""

REFRESHES = {keys.STOCK: "stock"}
