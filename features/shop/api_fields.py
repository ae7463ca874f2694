"""The shop's fields in others' answers: an account's addresses, a deal's stock, and a message's order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_type_hints

from pydantic import ConfigDict, Field, create_model
from pydantic.json_schema import SkipJsonSchema

from features.shop.fields import StockLevel
from features.shop.models import Address as StoredAddress
from shared.api.fields import Answer, without_defaults

_kinds: dict[str, Any] = {name: (kind, ...) for name, kind in get_type_hints(StoredAddress).items()}
_Address = create_model("Address", __base__=Answer, **_kinds)


class Address(_Address):  # type: ignore[valid-type, misc]  # mypy takes no fields from a model that is made
    country: Annotated[str, Field(pattern="^[A-Z]{2}$", examples=["US"])]


class MessageOrder(Answer):
    order_id: str


class AccountAddresses(Answer):
    """The shop's field of the caller's account."""

    addresses: Annotated[dict[str, Address], Field(description="Your addresses, by their names.")]


class DealStock(Answer):
    """The shop's field of deals."""

    stock: Annotated[
        Literal[*StockLevel] | None,  # type: ignore[valid-type]  # mypy takes no names from an enumeration
        Field(description="How much is left, if this site sells the deal; otherwise null."),
    ]


class AboutOrder(Answer):
    """The shop's field of messages."""

    model_config = ConfigDict(json_schema_extra=without_defaults)

    order: MessageOrder | SkipJsonSchema[None] = None


ANSWERS: Mapping[str, type[Answer]] = {"Account": AccountAddresses, "Deal": DealStock, "Message": AboutOrder}
"""The fields of others' answers, by the names of their models."""
