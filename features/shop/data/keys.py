"""The shop's keys and item types, as in ``shared/data/keys.py``."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from shared.data.keys import Item, Text, attempts

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
"""The id ``~`` makes the upper bound of all a user's orders."""
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
"""The container of notes about partitions of GSI3 that have open orders."""
open_orders_note = Item[str, str, int](PK="OPENORDERS", SK="{status}#{day}T00:00:00#{shard}")
"""The container's note that a partition has orders, by status, day like ``2026-06-04`` and shard."""
open_orders_prefix = Text[str]("{status}#")
"""The prefix of a status's notes."""
order_in_closed = Item[str, str](GSI3PK="CLOSEDORDERS#{status}", GSI3SK="ORDER#{order_id}")
closed_orders_of = Text[str]("CLOSEDORDERS#{status}")
sale = Item[str]("SALE#{order_id}")
"""What remains of an order whose account was removed."""
cart = Text[str]("CART#{username}")
cart_item = Item[str, str](PK="CART#{username}", SK="DEAL#{deal_id}")
cart_mark = Item[str]("CART#{username}")
"""The mark of a cart's last change."""
stock = Item[str]("STOCK#{deal_id}")
"""The note with the number of shards of a deal's stock."""
stock_shard = Item[str, int]("STOCK#{deal_id}#{shard}")
"""One shard of a deal's stock, in its own partition; shards count from 1."""
stock_in_sold_here = Item[str](GSI1PK="SOLDHERE", GSI1SK="DEAL#{deal_id}")
sold_here = Text[()]("SOLDHERE")

PLACING = "ORDERS"
"""What the counters of a member's orders in an hour are of, next to the core's counters of attempts."""
PLACED = attempts(PLACING, "*")["PK"]
"""The pattern of the partitions of these counters, and of no other attempts."""


def history_before(status: str, placed_at: datetime | None = None, order_id: str = "~") -> str:
    """An upper bound in GSI2 for orders of a status: all, or those before a time or an order."""
    return f"{status}#~" if placed_at is None else order_in_history("", status, placed_at, order_id)["GSI2SK"]


def open_orders_noted(note: Mapping[str, object]) -> tuple[str, str]:
    """A note's day and GSI3 partition."""
    day = str(note["SK"]).partition("#")[2][: len("2026-06-04")]
    return day, f"{open_orders()}#{note['SK']}"


def deal_of_stock(key: str) -> str:
    """The id of a stock shard's deal."""
    return key.split("#")[1]
