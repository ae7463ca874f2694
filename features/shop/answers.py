"""The answers of the shop as pydantic models (``schemas.py``)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from pydantic import Field

from features.shop.api_fields import Address
from features.shop.data.carts import MOST_PIECES
from features.shop.data.order_items import OPEN
from features.shop.documents import place_of
from features.shop.models import OrderStatus
from shared.api.fields import Answer, Count, Cursor, Money
from shared.api.schemas import Brand, Deal, list_of
from shared.values import identifiers

Pieces = Annotated[int, Field(ge=1, le=MOST_PIECES)]


class CartItem(Answer):
    """A deal as it is now, with its price when it was put into the cart."""

    deal: Deal
    quantity: Pieces
    price_then: Money
    currency_then: str
    changed: bool
    put_at: datetime


class OrderItem(Answer):
    item_id: str
    deal_id: str
    deal_number: int | None
    title: str
    variant: str | None
    brand: Brand
    price: Money
    currency: str
    quantity: Pieces


class Total(Answer):
    currency: str
    amount: Money


class OrderHead(Answer):
    """An order without its items.

    Where the account was removed, it has no username, and no address once it is delivered.
    """

    order_id: str
    order_number: Annotated[str, Field(description="The number that people use.", examples=["BTD-10234"])]
    username: str | None
    status: Annotated[str, Field(json_schema_extra={"enum": list(OrderStatus)})]
    placed_at: datetime
    shipped_at: datetime | None
    delivered_at: datetime | None
    cancelled_at: datetime | None
    address: Address | None
    item_count: Count
    pieces: Count
    shipping: Annotated[list[Total], Field(description="Shipping, included in totals.")]
    tax: Annotated[list[Total], Field(description="Tax on goods and shipping, included in totals.")]
    totals: list[Total]


class Order(OrderHead):
    items: list[OrderItem]


class Customer(Answer):
    """A user with their newest orders, for editors."""

    username: str
    name: str
    addresses: dict[str, Address]
    orders: list[OrderHead]


class Shard(Answer):
    shard: Annotated[int, Field(ge=1)]
    left: Count
    ordered: Count


class Stock(Answer):
    """A deal's stock: pieces put on sale are either left or in orders that aren't cancelled."""

    deal_id: str
    left: Count
    ordered: Count
    on_sale: Count
    shards: list[Shard]


ANSWERS: Mapping[str, Any] = {
    **{each.__name__: each for each in (Address, CartItem, Order, Customer, Stock)},
    "Cart": list_of(CartItem),
    "OrderList": list_of(OrderHead, Cursor),
}
"""The models and lists that routes answer with, by their names."""

_STATUS = {"type": "string", "enum": list(OrderStatus)}
_TIME = {"type": "string", "format": "date-time"}
OPENAPI: Mapping[str, Mapping[Any, Any]] = {
    "parameters": {"status": {"in": "query", "schema": _STATUS, "description": "Only orders of this status."}},
    "of_paths": {
        ("/orders", "Idempotency-Key"): {"required": True},  # an order is never placed by chance twice
        ("/orders", "from"): {"schema": _TIME, "description": "Only orders placed at this time or later."},
        ("/orders", "to"): {"schema": _TIME, "description": "Only orders placed at this time or earlier."},
        ("/open-orders", "status"): {"schema": {**_STATUS, "enum": list(OPEN), "default": OrderStatus.PLACED}},
    },
    "headers": {"OrderLocation": ("The address of the new order.", f"^{place_of(identifiers.KSUID)}$")},
    "located": {("post", "/orders"): "OrderLocation"},
}
"""The shop's parameters and headers in the OpenAPI document (``tools/openapi.py``)."""
