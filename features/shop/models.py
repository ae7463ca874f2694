"""Orders: addresses, items, tax and shipping, and stock."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from enum import StrEnum

from shared.models.catalog import Deal
from shared.values import money
from shared.values.stored import stored


@dataclass(frozen=True, slots=True)
class Address:
    """An address of orders: ``region`` a state or province, if its country has them, ``country`` two letters."""

    recipient: str = field(metadata=stored("Recipient"))
    street: str = field(metadata=stored("Street"))
    city: str = field(metadata=stored("City"))
    region: str | None = field(default=None, metadata=stored("Region"), kw_only=True)
    postal_code: str = field(metadata=stored("PostalCode"))
    country: str = field(metadata=stored("Country"))


Amounts = Mapping[str, str]
"""An amount in each of some currencies."""


@dataclass(frozen=True, slots=True)
class Bill:
    """The sums of an order, by currency: shipping, tax, and everything together."""

    shipping: Amounts
    tax: Amounts
    totals: Amounts


@dataclass(frozen=True, slots=True)
class Charges:
    """``shipping`` is what sending an order costs in its currency, ``tax`` the percents on goods and shipping."""

    shipping: Amounts = field(default_factory=dict)
    tax: Decimal = Decimal(0)

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Charges:
        """From the environment variables ``SHIPPING``, such as ``USD=4.90 EUR=5.00``, and ``TAX``; none without
        them."""
        shipping = dict(each.split("=") for each in environment.get("SHIPPING", "").split())
        return cls(shipping, Decimal(environment.get("TAX", "0")))

    def bill(self, items: Iterable[tuple[str, str, int]]) -> Bill:
        """The bill of some items, each a price, its currency and the pieces. What comes to nothing is left out."""
        goods: dict[str, int] = {}
        for price, currency, pieces in items:
            goods[currency] = goods.get(currency, 0) + money.units(price, currency) * pieces
        shipping = {currency: money.units(self.shipping.get(currency, "0.00"), currency) for currency in goods}
        tax = {currency: self._tax(goods[currency] + shipping[currency], currency) for currency in goods}
        totals = {currency: goods[currency] + shipping[currency] + tax[currency] for currency in goods}
        return Bill(_amounts(shipping), _amounts(tax), _amounts(totals, also_none=True))

    def _tax(self, units: int, currency: str) -> int:
        """The tax on an amount, rounded half up to what the currency has."""
        smallest: int = money.units("1", currency) // 10 ** money.decimals(currency)
        return int((self.tax * units / 100 / smallest).quantize(Decimal(1), ROUND_HALF_UP)) * smallest


NO_CHARGES = Charges()


def _amounts(sums: Mapping[str, int], *, also_none: bool = False) -> dict[str, str]:
    return {currency: money.of_units(units, currency) for currency, units in sorted(sums.items()) if units or also_none}


class OrderStatus(StrEnum):
    PLACED = "placed"
    SHIPPED = "shipped"
    DELIVERED = "delivered"
    CANCELLED = "cancelled"

    @property
    def time_attribute(self) -> str:
        """The attribute that says when an order took this status."""
        return f"{self.capitalize()}At"


@dataclass(frozen=True, slots=True)
class Wanted:
    """One line of a buyer's order: pieces of a deal, at the price that the buyer saw."""

    deal_id: str
    quantity: int
    price: str
    currency: str


@dataclass(frozen=True, slots=True)
class OrderItem:
    """Ordered pieces of a deal, as it was then; ``shards`` says how many each shard of the stock gave."""

    item_id: str = field(metadata=stored("ItemId"))
    deal_id: str = field(metadata=stored("DealId"))
    title: str = field(metadata=stored("Title"))
    brand: str = field(metadata=stored("Brand"))
    brand_name: str = field(metadata=stored("BrandName"))
    price: str = field(metadata=stored("Price"))
    currency: str = field(metadata=stored("Currency"))
    quantity: int = field(metadata=stored("Quantity", int))
    shards: Mapping[int, int] = field(metadata=stored("Shards", Mapping))
    number: int | None = field(default=None, metadata=stored("DealNumber", int))
    variant: str | None = field(default=None, metadata=stored("Variant"))


@dataclass(frozen=True, slots=True)
class Order:
    """An order and its status. ``times`` says when it took each status, ``placed`` included.

    ``shipping`` and ``tax`` are added to its items, by currency; ``totals`` are with both. ``username`` is
    empty where the account was removed; its order has an address until it is delivered. ``open_shard`` says which
    partition of the open orders of its day it is in while it is one.
    """

    order_id: str = field(metadata=stored("OrderId"))
    number: int = field(metadata=stored("OrderNumber", int))
    username: str
    status: OrderStatus = field(metadata=stored("Status", OrderStatus))
    times: Mapping[OrderStatus, datetime]
    item_count: int = field(metadata=stored("ItemCount", int))
    pieces: int = field(metadata=stored("Pieces", int))
    shipping: Mapping[str, str] = field(metadata=stored("Shipping", Mapping))
    tax: Mapping[str, str] = field(metadata=stored("Tax", Mapping))
    totals: Mapping[str, str] = field(metadata=stored("Totals", Mapping))
    address: Address | None = field(default=None, metadata=stored("Address", Address, personal=True))
    items: tuple[OrderItem, ...] = ()
    correlation_id: str | None = field(default=None, metadata=stored("CorrelationId", personal=True))
    open_shard: int = field(default=1, metadata=stored("OpenShard", int))

    @property
    def placed_at(self) -> datetime:
        return self.times[OrderStatus.PLACED]


@dataclass(frozen=True, slots=True)
class Customer:
    """A user as the shop knows them: name, addresses by their own names, and the newest orders."""

    username: str
    name: str
    addresses: Mapping[str, Address]
    orders: tuple[Order, ...]


@dataclass(frozen=True, slots=True)
class CartItem:
    """Pieces of a deal in a cart. ``price`` and ``currency`` are those of when it was put in; ``deal`` is the
    deal today."""

    deal: Deal
    quantity: int = field(metadata=stored("Quantity", int))
    price: str = field(metadata=stored("Price"))
    currency: str = field(metadata=stored("Currency"))
    put_at: datetime = field(metadata=stored("PutAt", datetime))

    @property
    def changed(self) -> bool:
        """Whether the price is another one since, or in another currency."""
        return (self.price, self.currency) != (self.deal.price, self.deal.currency)


@dataclass(frozen=True, slots=True)
class Shard:
    """One shard of a deal's stock: pieces left, ordered and put on sale, and how often it changed."""

    number: int = field(metadata=stored("Shard", int))
    left: int = field(metadata=stored("Left", int))
    ordered: int = field(metadata=stored("Ordered", int))
    on_sale: int = field(metadata=stored("OnSale", int))
    changes: int = field(metadata=stored("Changes", int))


@dataclass(frozen=True, slots=True)
class Stock:
    """The pieces left of a deal, and those in orders that are not cancelled: both together were put on sale.

    ``noted`` is the number of shards that its note says.
    """

    deal_id: str
    shards: tuple[Shard, ...]
    noted: int = 0

    @property
    def left(self) -> int:
        return sum(shard.left for shard in self.shards)

    @property
    def ordered(self) -> int:
        return sum(shard.ordered for shard in self.shards)

    @property
    def on_sale(self) -> int:
        return sum(shard.on_sale for shard in self.shards)

    @property
    def changes(self) -> int:
        return sum(shard.changes for shard in self.shards)


PREFIX = "BTD-"
"""The prefix of an order's number, as people read and write it: ``BTD-10234``."""

_WRITTEN = re.compile(rf"\s*(?:{PREFIX})?([0-9]{{5,12}})\s*", re.ASCII | re.IGNORECASE)


def order_number(number: int) -> str:
    """A formatted number."""
    return f"{PREFIX}{number}"


def read_order_number(text: str) -> int | None:
    """The number that a text says, with or without its letters; None for any other text."""
    found = _WRITTEN.fullmatch(text)
    return int(found[1]) if found else None
