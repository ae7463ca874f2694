"""The shop's fields in other documents: an account's addresses, a deal's stock, and a message's order.

They are separate from the shop's bodies, so that account functions don't load those.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from shared.api.documents import Json
from shared.api.fields import Answer
from shared.data.orders import addresses
from shared.models.orders import Address as StoredAddress
from shared.models.stock_levels import StockLevel
from shared.values.stored import api_names

if TYPE_CHECKING:
    from shared.dynamodb.table import Table
    from shared.models.members import User

ADDRESS_FIELDS = api_names(StoredAddress)


def address(address: StoredAddress) -> Json:
    return {name: getattr(address, field) for name, field in ADDRESS_FIELDS.items()}


def by_name(found: Mapping[str, StoredAddress]) -> Json:
    """Addresses by name."""
    return {name: address(each) for name, each in found.items()}


def of_account(table: Table, user: User) -> Json:
    """The shop's fields of the caller's account."""
    return {"addresses": by_name(addresses.of(table, user.username))}


class Address(Answer):
    __annotations__ |= {each.name: each.type for each in fields(StoredAddress)}
    country: Annotated[str, Field(pattern="^[A-Z]{2}$", examples=["US"])]


class MessageOrder(Answer):
    order_id: str


Addresses = Annotated[dict[str, Address], Field(description="One's addresses, by their names.")]
StockName = Annotated[
    Literal[*StockLevel] | None,  # type: ignore[valid-type]  # mypy takes no names from an enumeration
    Field(description="How much is left where this site sells it; null where it does not."),
]
AboutOrder = Annotated[MessageOrder | SkipJsonSchema[None], Field(default=None)]

IN_ANSWERS: Mapping[str, Mapping[str, Any]] = {
    "Account": {"addresses": Addresses},
    "Deal": {"stock": StockName},
    "Message": {"order": AboutOrder},
}
"""By model, the fields that the shop adds."""
