"""The shop's first morning in the model for NoSQL Workbench (``tools/workbench.py``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from features.shop.data import addresses, carts, placing, sold_here, steps, stock
from features.shop.models import Address, OrderStatus, Wanted
from shared.data.idempotency import Idempotency
from shared.dynamodb.table import Table
from shared.models.catalog import Deal
from shared.models.members import User

ORDERS = (
    ("ana", 1, ()),
    ("ana", 2, (OrderStatus.SHIPPED,)),
    ("bo", 1, (OrderStatus.SHIPPED, OrderStatus.DELIVERED)),
    ("cy", 1, (OrderStatus.CANCELLED,)),
)
"""The orders: a buyer, the pieces, and the steps that the order takes."""


def happens(table: Table, posted: Sequence[Deal], readers: Mapping[str, User], now: datetime) -> None:
    """The shop sells two of the deals: one is ordered, by everyone, and the other lies in a cart."""
    for name, reader in readers.items():
        home = Address(reader.name, "12 Harbour Street", "Portland", "04101", "US", region="ME")
        addresses.save(table, name, "home", home)
    ordered, wished = posted[1], posted[2]
    for deal in (ordered, wished):
        stock.add(table, deal.deal_id, 20, now, shards=2)
        stock.show_level(table, deal.deal_id)
        sold_here.file(table, deal.deal_id)
    carts.put_in(table, "ana", wished.deal_id, 2, now)
    terms = placing.Terms(notify=steps.notify)
    for number, (buyer, pieces, way) in enumerate(ORDERS):
        once = Idempotency(readers[buyer].account_id, f"5f2c1e{number}", {"address": "home"})
        wanted = Wanted(ordered.deal_id, pieces, ordered.price, ordered.currency)
        asked, at = placing.Asked(buyer, "home", [wanted], once), now + timedelta(minutes=number)
        order = placing.place(table, asked, at, bytes([number] * 16), chance=lambda: 0.0, terms=terms)
        for hours, status in enumerate(way, start=1):
            order = steps.advance(table, order, status, now + timedelta(hours=hours), notify=steps.notify)
