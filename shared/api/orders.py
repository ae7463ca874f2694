"""The shop's JSON: request bodies for addresses, carts, orders and stock, and answers.

Orders can go to ISO 3166's countries; ``tools/shop.py`` makes the data.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, field_validator, model_validator
from typing_extensions import TypeAliasType

from shared.api import documents
from shared.api.app import ROOT
from shared.api.documents import Json
from shared.api.fields import HIDDEN, LINE, Body, Currency, DealId, Price, documented, known, line, one_of
from shared.api.shop_fields import address, by_name
from shared.data.orders.carts import MOST as MOST_DEALS
from shared.data.orders.carts import MOST_PIECES
from shared.data.orders.steps import STEPS
from shared.data.orders.stock import MAX_SHARDS
from shared.data.orders.stock import MOST as MOST_STOCK
from shared.models.orders import Address as StoredAddress
from shared.models.orders import CartItem, Customer, Order, OrderItem, OrderStatus, Stock, Wanted, order_number
from shared.values.times import to_iso


def place_of(order_id: str) -> str:
    """An order's address in the API."""
    return f"{ROOT}/orders/{order_id}"


@cache
def countries() -> Mapping[str, tuple[str, bool]]:
    """Each country's name, and whether its addresses need a postal code; read at first use."""
    known: dict[str, tuple[str, bool]] = json.loads(Path(__file__).with_name("countries.json").read_text("utf-8"))
    return known


def needs_postal_code(country: str) -> bool:
    """Whether a country's addresses need a postal code; true for an unknown country."""
    return countries().get(country, ("", True))[1]


def _whole(number: object) -> object:
    """A number without a fraction as an integer: JSON has one number type, so 2.0 is 2."""
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _step(text: str) -> str:
    if text not in STEPS:
        raise ValueError(f"must be one of {', '.join(STEPS)}")
    return text


_A_COUNTRY = "a country's code of ISO 3166, such as US"
AddressLine = Annotated[str, Field(min_length=1, max_length=100, json_schema_extra=LINE), AfterValidator(line)]
AddressName = Annotated[str, Field(min_length=1, max_length=40, json_schema_extra=LINE), AfterValidator(line)]
PostalCode = Annotated[str, Field(max_length=20, json_schema_extra=documented(rf"[^{HIDDEN}]*"), examples=["04101"])]
Country = TypeAliasType(
    "Country",
    Annotated[str, one_of(countries, "US"), AfterValidator(partial(known, countries, _A_COUNTRY))],
)
WHOLE = BeforeValidator(_whole)
Quantity = Annotated[int, Field(ge=1, le=MOST_PIECES), WHOLE]
More = Annotated[int, Field(ge=-MOST_STOCK, le=MOST_STOCK), WHOLE]
Left = Annotated[int, Field(ge=0, le=MOST_STOCK), WHOLE]
Shards = Annotated[int, Field(ge=1, le=MAX_SHARDS), WHOLE]


class NewAddress(Body):
    """An address that orders can go to; with the postal code that its country's addresses need, where they do."""

    recipient: Annotated[AddressLine, Field(description="The recipient's name.")]
    street: Annotated[AddressLine, Field(description="Street and number.")]
    city: Annotated[AddressLine, Field(description="City.")]
    region: Annotated[AddressLine | None, Field(description="State or region.")] = None
    country: Annotated[Country, Field(description="Country, in two capital letters.")]
    postal_code: Annotated[PostalCode, Field(description="Postal code, where the country has them.")] = ""

    @model_validator(mode="before")
    @classmethod
    def _without_a_postal_code(cls, sent: Any) -> Any:
        return {"postalCode": ""} | sent if isinstance(sent, dict) else sent

    @field_validator("postal_code")
    @classmethod
    def _as_its_country_needs(cls, text: str, info: ValidationInfo) -> str:
        country = info.data.get("country")
        return line(text) if text.strip() or (country and needs_postal_code(country)) else ""

    def to_address(self) -> StoredAddress:
        """The address to store."""
        return StoredAddress(**self.model_dump())


class CartChange(Body):
    """How many pieces of a deal are in the cart."""

    quantity: Annotated[Quantity, Field(description="How many pieces.")]


class NewOrderItem(Body):
    """So many pieces of a deal, at the price that the buyer saw, in the currency that the buyer saw."""

    deal_id: DealId
    quantity: Quantity
    price: Price
    currency: Currency


class SeenTotal(Body):
    """The total of an order in a currency, with shipping and tax, as the buyer saw it."""

    currency: Currency
    amount: Price


class NewOrder(Body):
    """Place an order, to be sent to one of one's addresses.

    With ``fromCart`` all of it must be in the cart, in these quantities, so that a cart is ordered once. With
    ``totals`` it is placed only if it comes to these.
    """

    address: AddressName
    items: Annotated[list[NewOrderItem], Field(min_length=1, max_length=MOST_DEALS)]
    from_cart: bool = False
    totals: Annotated[list[SeenTotal], Field(min_length=1, max_length=MOST_DEALS)] | None = None

    @model_validator(mode="after")
    def _names_each_deal_once(self) -> Self:
        if len({item.deal_id for item in self.items}) < len(self.items):
            raise ValueError("must name each deal once, with its quantity")
        return self

    def wanted(self) -> list[Wanted]:
        """The requested items."""
        return [Wanted(item.deal_id, item.quantity, item.price, item.currency) for item in self.items]

    def seen(self) -> dict[str, str] | None:
        """The expected totals by currency; None if not given."""
        return None if self.totals is None else {total.currency: total.amount for total in self.totals}


class OrderStep(Body):
    """The status that an order takes."""

    status: Annotated[str, Field(json_schema_extra={"enum": [step.value for step in STEPS]}), AfterValidator(_step)]


class StockChange(Body):
    """Put stock on sale: so much more (or, below zero, less), or so much left; spread over so many shards."""

    add: Annotated[More | None, Field(description="How many pieces more; below zero, how many fewer.")] = None
    left: Annotated[Left | None, Field(description="How many are left from now on.")] = None
    shards: Annotated[Shards | None, Field(description="Spread it over so many shards.")] = None

    @model_validator(mode="after")
    def _says_one_number(self) -> Self:
        if (self.add is None) == (self.left is None):
            raise ValueError("must have either add or left, and not both")
        return self


def cart(items: Iterable[CartItem], now: datetime) -> Json:
    """A cart: each deal as it is today, and its price when it was added."""
    return documents.all_of(cart_item(item, now) for item in items)


def cart_item(item: CartItem, now: datetime) -> Json:
    return {
        "deal": documents.deal(item.deal, now),
        "quantity": item.quantity,
        "priceThen": item.price,
        "currencyThen": item.currency,
        "changed": item.changed,
        "putAt": to_iso(item.put_at),
    }


def order(order: Order) -> Json:
    """An order with its items."""
    return {**order_head(order), "items": [_order_item(item) for item in order.items]}


def order_head(order: Order) -> Json:
    """An order without its items, for lists."""
    return {
        "orderId": order.order_id,
        "orderNumber": order_number(order.number),
        "username": order.username or None,
        "status": order.status.value,
        **{f"{status.value}At": documents.time(order.times.get(status)) for status in OrderStatus},
        "address": None if order.address is None else address(order.address),
        "itemCount": order.item_count,
        "pieces": order.pieces,
        "shipping": _amounts(order.shipping),
        "tax": _amounts(order.tax),
        "totals": _amounts(order.totals),
    }


def customer(customer: Customer) -> Json:
    """A user and the newest orders, for the shop's editors."""
    return {
        "username": customer.username,
        "name": customer.name,
        "addresses": by_name(customer.addresses),
        "orders": [order_head(order) for order in customer.orders],
    }


def _amounts(by_currency: Mapping[str, str]) -> list[Json]:
    return [{"currency": currency, "amount": amount} for currency, amount in by_currency.items()]


def stock(stock: Stock) -> Json:
    """A deal's pieces left, by shard, and those in orders that aren't cancelled."""
    return {
        "dealId": stock.deal_id,
        "left": stock.left,
        "ordered": stock.ordered,
        "onSale": stock.on_sale,
        "shards": [{"shard": each.number, "left": each.left, "ordered": each.ordered} for each in stock.shards],
    }


def _order_item(item: OrderItem) -> Json:
    return {
        "itemId": item.item_id,
        "dealId": item.deal_id,
        "dealNumber": item.number,
        "title": item.title,
        "variant": item.variant,
        "brand": documents.brand(item.brand, item.brand_name),
        "price": item.price,
        "currency": item.currency,
        "quantity": item.quantity,
    }
