"""Check the shop's items against each other: stock against orders, and the list of deals sold here against the deals.

Only a person knows how much stock is really left.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from features.shop.data import keys as shop_keys
from features.shop.data import order_items, sold_here
from features.shop.models import OrderStatus
from shared.data import keys
from shared.data.invariants import ACCOUNTS, Fault, Others
from shared.dynamodb import damage
from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import Key, without_places

STOCK = "stock"
SOLD_HERE = "deals sold here"

_PIECES = ("OnSale", "Left", "Ordered")
"""The counts of a stock shard; the first is the sum of the others."""


class Sales(Others):
    """The shop's items that one scan has seen."""

    READ: Mapping[str, Callable[[Item], object]] = {
        **dict.fromkeys((shop_keys.ORDER, shop_keys.SALE), order_items.from_item),
        shop_keys.ORDER_ITEM: order_items.item_from_item,
    }
    """The types of items with a model."""

    DERIVED: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
        "OrderDay": lambda values: order_items.open_day(values["OrderId"]),
        "OpenShard": lambda _: 1,  # orders from before shards
    }
    """Values in the rows' templates that are neither attributes nor parts of the key."""

    SEQUENCES: Mapping[str, Key] = {shop_keys.ORDER_NUMBER: shop_keys.order_numbers()}
    NEEDED = frozenset({shop_keys.OPEN_ORDERS, shop_keys.STOCK_NOTE})
    """The types of items that others require, and those compared at the end of the scan."""

    FROM: Mapping[str, frozenset[str]] = {
        STOCK: frozenset({keys.DEAL, shop_keys.STOCK}),
        SOLD_HERE: frozenset({keys.DEAL, shop_keys.STOCK}),
        ACCOUNTS: frozenset({shop_keys.ORDER}),  # an account counts its open ones
    }

    FOLLOW = frozenset({shop_keys.STOCK_NOTE})
    """The types of items whose index places depend on other items."""

    def __init__(self) -> None:
        self._shards = defaultdict[str, Counter[str]](Counter)
        self._ordered = defaultdict[str, Counter[str]](Counter)
        self._sold_here: dict[str, Key] = {}
        self._cancelled: set[str] = set()
        self._open_orders: Counter[str] = Counter()

    def add(self, item: Item, kind: str) -> None:
        """Record an item. Raises one of ``damage.UNREADABLE``."""
        if kind == shop_keys.STOCK:
            sums = self._shards[item["DealId"]]
            sums.update({name: damage.attribute(item, name, int) for name in _PIECES})
            sums["Shard"] = max(sums["Shard"], damage.attribute(item, "Shard", int))
        elif kind == shop_keys.ORDER_ITEM:
            self._ordered[item["OrderId"]][item["DealId"]] += item["Quantity"]
        elif kind == shop_keys.SALE:
            for part in item["Items"]:
                self._ordered[item["OrderId"]][part["DealId"]] += part["Quantity"]
        elif kind == shop_keys.ORDER and item["Status"] == OrderStatus.CANCELLED:
            self._cancelled.add(item["OrderId"])
        elif kind == shop_keys.ORDER and item["Status"] == OrderStatus.PLACED:
            self._open_orders[item["Username"]] += 1

    def add_deal(self, item: Item) -> None:
        """Record a deal."""
        if at := sold_here.place(item):
            self._sold_here[keys.id_in(item["PK"])] = at

    def of_account(self, username: str) -> Mapping[str, int]:
        """An account's counts."""
        return {"OpenOrders": self._open_orders[username]}

    def compared(self, of: Callable[[str], list[Item]]) -> Iterator[Fault]:
        """The faults that are only known at the end of the scan; ``of`` gives the kept items of a type."""
        in_orders: Counter[str] = Counter()
        for order, pieces in self._ordered.items():
            in_orders.update(pieces if order not in self._cancelled else {})
        for deal_id, sums in self._shards.items():
            due = {"OnSale": sums["Left"] + sums["Ordered"], "Left": sums["Left"], "Ordered": in_orders[deal_id]}
            found = {name: sums[name] for name in _PIECES}
            if due != found:
                yield Fault(STOCK, shop_keys.stock_shard(deal_id, 1), found, due, derived=False)
        notes = {item["DealId"]: item for item in of(shop_keys.STOCK_NOTE)}
        for deal_id in notes.keys() | self._shards.keys():
            note, shards = notes.get(deal_id), self._shards[deal_id]["Shard"]
            new = {**shop_keys.stock(deal_id), "Type": shop_keys.STOCK_NOTE, "DealId": deal_id}
            should = {**without_places(note or new), **self._sold_here.get(deal_id, {}), "Shards": shards}
            if note != should:  # a note of more shards than exist may be right
                derived = damage.attribute_or(note or {"Shards": 0}, "Shards", int, 0) <= shards
                rule = SOLD_HERE if (note or {}).get("Shards") == shards else STOCK
                yield Fault(rule, shop_keys.stock(deal_id), note, should, derived)


CHECK = Sales
