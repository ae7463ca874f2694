"""The bodies of requests about addresses, carts, orders and stock.

Orders can go to ISO 3166's countries; ``generated.py`` makes the data.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, field_validator, model_validator
from typing_extensions import TypeAliasType

from features.shop.data.carts import MOST as MOST_DEALS
from features.shop.data.carts import MOST_PIECES
from features.shop.data.steps import STEPS
from features.shop.data.stock import MAX_SHARDS
from features.shop.data.stock import MOST as MOST_STOCK
from features.shop.models import Address as StoredAddress
from features.shop.models import Wanted
from shared.api.fields import HIDDEN, LINE, Body, Currency, DealId, Price, documented, known, line, one_of


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
    """An address for orders, with a postal code if its country requires one."""

    recipient: Annotated[AddressLine, Field(description="The recipient's name.")]
    street: Annotated[AddressLine, Field(description="Street and number.")]
    city: Annotated[AddressLine, Field(description="City.")]
    region: Annotated[AddressLine | None, Field(description="State or region.")] = None
    country: Annotated[Country, Field(description="Country, in two capital letters.")]
    postal_code: Annotated[PostalCode, Field(description="Postal code, if the country has them.")] = ""

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
    """Set how many pieces of a deal are in the cart."""

    quantity: Annotated[Quantity, Field(description="How many pieces.")]


class NewOrderItem(Body):
    """A number of pieces of a deal, at the price and in the currency that the buyer saw."""

    deal_id: DealId
    quantity: Quantity
    price: Price
    currency: Currency


class SeenTotal(Body):
    """The total of an order in a currency, with shipping and tax, as the buyer saw it."""

    currency: Currency
    amount: Price


class NewOrder(Body):
    """Place an order, shipped to a saved address of the caller.

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
    """The new status of an order."""

    status: Annotated[str, Field(json_schema_extra={"enum": [step.value for step in STEPS]}), AfterValidator(_step)]


class StockChange(Body):
    """Put stock on sale: add pieces (a negative number removes some), or set how many are left."""

    add: Annotated[More | None, Field(description="Pieces to add; a negative number removes some.")] = None
    left: Annotated[Left | None, Field(description="The number of pieces left from now on.")] = None
    shards: Annotated[Shards | None, Field(description="The number of shards to spread the stock over.")] = None

    @model_validator(mode="after")
    def _says_one_number(self) -> Self:
        if (self.add is None) == (self.left is None):
            raise ValueError("must have either add or left, and not both")
        return self
