"""The shop's items: their keys, as ``shared/data/keys.py`` has those of others, their types, and what is exported."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from shared.data import item_types
from shared.data.entity import DEAL_ID, OF_DEAL, SAYS_DEAL, SAYS_USER, Entity, Exported, Partner, Shown, at
from shared.data.entity import named as _
from shared.data.keys import Item, Text
from shared.dynamodb.schema import GSI1, GSI2, GSI3
from shared.models.orders import CartItem, Order, OrderItem, OrderStatus, Shard

ORDER = "Order"
ORDER_ITEM = "OrderItem"
SALE = "Sale"
ORDER_NUMBER = "OrderNumber"
OPEN_ORDERS = "OpenOrders"
CART_ITEM = "CartItem"
CART_MARK = "CartMark"
STOCK = "Stock"
STOCK_NOTE = "StockNote"

order = Item[str, str](PK="USER#{username}", SK="#ORDER#{order_id}")
"""An order, in its owner's collection: its sort key is below the user's own, so one backward Query gives both."""
order_sort_key = Text[str]("#ORDER#{order_id}")
"""Of ``~``, a bound above all orders of a user."""
order_number = Item[int]("ORDERNUMBER#{number}")
order_numbers = Item[()]("SEQUENCE#ORDER")
order_item = Item[str, str]("ORDER#{order_id}#ITEM#{item_id}")
order_in_parts = Item[str](GSI1PK="ORDER#{order_id}", GSI1SK="ORDER#{order_id}")
order_item_in_parts = Item[str, str](GSI1PK="ORDER#{order_id}", GSI1SK="ITEM#{item_id}")
order_parts = Text[str]("ORDER#{order_id}")
order_in_history = Item[str, str, datetime, str](GSI2PK="ORDERS#{username}", GSI2SK="{status}#{placed_at}#{order_id}")
order_history = Text[str]("ORDERS#{username}")
order_in_open = Item[str, str, int, str](GSI3PK="OPENORDERS#{status}#{day}T00:00:00#{shard}", GSI3SK="ORDER#{order_id}")
open_order_sort_key = Text[str]("ORDER#{order_id}")
open_orders = Text[()]("OPENORDERS")
"""The container that knows which partitions of GSI3 have open orders."""
open_orders_note = Item[str, str, int](PK="OPENORDERS", SK="{status}#{day}T00:00:00#{shard}")
"""The container's note that there are orders of a status, placed on a day like ``2026-06-04``, in a shard."""
open_orders_prefix = Text[str]("{status}#")
"""The beginning of the sort keys of all notes of a status."""
order_in_closed = Item[str, str](GSI3PK="CLOSEDORDERS#{status}", GSI3SK="ORDER#{order_id}")
closed_orders_of = Text[str]("CLOSEDORDERS#{status}")
sale = Item[str]("SALE#{order_id}")
"""The rest of an order whose account was removed."""
cart = Text[str]("CART#{username}")
cart_item = Item[str, str](PK="CART#{username}", SK="DEAL#{deal_id}")
cart_mark = Item[str]("CART#{username}")
"""The mark of a cart's last change, beside what is in it."""
stock = Item[str]("STOCK#{deal_id}")
"""The note that says how many shards a deal's stock is in."""
stock_shard = Item[str, int]("STOCK#{deal_id}#{shard}")
"""One part of a deal's stock, in a partition of its own; shards count from 1."""
stock_in_sold_here = Item[str](GSI1PK="SOLDHERE", GSI1SK="DEAL#{deal_id}")
sold_here = Text[()]("SOLDHERE")


def history_before(status: str, placed_at: datetime | None = None, order_id: str = "~") -> str:
    """A bound in GSI2: below it are orders of a status, all of them or those before a time or an order."""
    return f"{status}#~" if placed_at is None else order_in_history("", status, placed_at, order_id)["GSI2SK"]


def open_orders_noted(note: Mapping[str, object]) -> tuple[str, str]:
    """The day of a note, and the GSI3 partition that it is about."""
    day = str(note["SK"]).partition("#")[2][: len("2026-06-04")]
    return day, f"{open_orders()}#{note['SK']}"


def _noted(note: Mapping[str, object]) -> tuple[str, str]:
    return open_orders_noted(note)[1], GSI3.name


NOTES = {OPEN_ORDERS: _noted}
"""By types of notes, the partition that a note is about, and its index."""


def deal_of_stock(key: str) -> str:
    """The id of the deal that the key of a shard of stock names."""
    return key.split("#")[1]


COLLECTIONS = {"Open orders": open_orders()}
"""Partitions to begin with in the table's browser."""


_USERNAME, _ORDER_ID, _SHARD = _("Username"), _("OrderId"), _("Shard")
_OPEN_ORDER = ("Status", ("placed", "shipped"))
_OPEN, _PARTLY = Shown.OPEN, Shown.PARTLY
_WHOLE, _DESCRIBED = Exported.WHOLE, Exported.DESCRIBED


def _numbered(says: Mapping[str, str]) -> tuple[Partner, ...]:
    """The partners of an order, or of what stays of it."""
    note = open_orders_note(_("Status"), _("OrderDay"), _("OpenShard"))
    return (
        Partner(
            order_number(_("OrderNumber")),
            {"Type": ORDER_NUMBER, "Number": "<OrderNumber>", **says},
        ),
        Partner(note, {"Type": OPEN_ORDERS}, {"KnownAt": "Now"}, when=_OPEN_ORDER),
    )


_IN_OPEN = order_in_open(_("Status"), _("OrderDay"), _("OpenShard"), _ORDER_ID)
_IN_CLOSED = order_in_closed(_("Status"), _ORDER_ID)
_AT_DESK = (
    at(_IN_OPEN, "open orders of a day", "34", _PARTLY, index=GSI3, when=_OPEN_ORDER),
    at(_IN_CLOSED, "closed orders", "34", _PARTLY, index=GSI3, when=("Status", ("delivered", "cancelled"))),
)
"""The places of an order, or of what stays of it, in the desk's lists: while it is open, and from then on."""

_ORDER_NEEDS = "OrderId OrderNumber Status PlacedAt ItemCount Pieces Shipping Tax Totals"
_ORDER_MAY = "ShippedAt DeliveredAt CancelledAt CorrelationId OpenShard"
_LIVES = "where a member lives"

# fmt: off
ENTITIES: Mapping[str, tuple[Entity, ...]] = {
    "The shop": (
        Entity(ORDER, at(order(_USERNAME, _ORDER_ID), shown=_PARTLY),
            (at(order_in_parts(_ORDER_ID), "an order and its items", "31", _PARTLY, index=GSI1),
                at(order_in_history(_USERNAME, _("Status"), _("PlacedAt"), _ORDER_ID),
                    "a user's orders by status", "32", _PARTLY, index=GSI2),
                *_AT_DESK),
            needs=_ORDER_NEEDS, may=_ORDER_MAY, hides={"Address": _LIVES}, says={**SAYS_USER, "OrderId": "<OrderId>"},
            partners=_numbered({"OrderId": "<OrderId>"}), owned=True, exported=_DESCRIBED),
        Entity(ORDER_ITEM, at(order_item(_ORDER_ID, _("ItemId")), "an item of an order", "31"),
            (at(order_item_in_parts(_ORDER_ID, _("ItemId")), shown=_PARTLY, index=GSI1),),
            needs="Username DealId Title Brand BrandName Price Currency Quantity Shards", may="DealNumber Variant",
            says={"OrderId": "<OrderId>", "ItemId": "<ItemId>"}, partners=(Partner(order(_USERNAME, _ORDER_ID)),),
            exported=_DESCRIBED),
        Entity(ORDER_NUMBER, at(order_number(_("Number")), "an order's number", "31"),
            needs="OrderId", says={"Number": "<Number:d>"}, claimed=True),
        Entity(SALE, at(sale(_ORDER_ID), "what stays of an order", "31", _PARTLY),
            _AT_DESK,
            needs=f"{_ORDER_NEEDS} Items", may=_ORDER_MAY, hides={"Address": _LIVES},
            says={"OrderId": "<OrderId>"}, partners=_numbered({"OrderId": "<OrderId>"}),
            exported=_DESCRIBED),
        Entity(CART_ITEM, at(cart_item(_USERNAME, DEAL_ID), "a cart", "29"),
            needs="Quantity Price Currency PutAt", says={**SAYS_USER, **SAYS_DEAL}, partners=(OF_DEAL,), owned=True,
            expires=True, exported=_DESCRIBED),
        Entity(CART_MARK, at(cart_mark(_USERNAME)), needs="Mark", owned=True, expires=True),
        Entity(STOCK, at(stock_shard(DEAL_ID, _SHARD), "the stock of a deal", "35"),
            needs="Left Ordered OnSale Changes", says={**SAYS_DEAL, "Shard": "<Shard:d>"}, partners=(OF_DEAL,),
            exported=_WHOLE),
        # It is in the index while its deal is listed and there are pieces left: the deal says so (invariants.py).
        Entity(STOCK_NOTE, at(stock(DEAL_ID), "the stock of a deal", "35"),
            (at(stock_in_sold_here(DEAL_ID), "deals sold here", "58", _OPEN, index=GSI1),),
            needs="Shards", says=SAYS_DEAL, exported=_WHOLE),
        Entity(OPEN_ORDERS,
            at(open_orders_note(_("Status"), _("Day"), _SHARD), "where open orders are", "34"),
            needs="KnownAt"),
        Entity(item_types.SEQUENCE, at(order_numbers(), "a sequence of numbers", "30"),
            needs="LastNumber", exported=_WHOLE),
    ),
}
# fmt: on
"""The types of items, by what they belong to."""

USER_HIDES = {"Addresses": _LIVES}
"""Hidden attributes that it keeps in the items of users."""


_TIMES = {status.time_attribute: datetime for status in OrderStatus}

DESCRIBED: Mapping[str, tuple[tuple[type, ...], Mapping[str, type]]] = {
    item_types.MESSAGE: ((), {"OrderId": str}),
    ORDER: ((Order,), _TIMES),
    ORDER_ITEM: ((OrderItem,), {"OrderId": str}),
    SALE: ((Order,), {**_TIMES, "Items": list}),
    CART_ITEM: ((CartItem,), {"DealId": str}),
    STOCK: ((Shard,), {"DealId": str}),
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
