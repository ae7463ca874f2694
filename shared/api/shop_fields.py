"""What the shop adds to answers of others: one's addresses to an account, and an order to a message."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Annotated, Any

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from shared.api.fields import Answer
from shared.models.orders import Address as StoredAddress


class Address(Answer):
    __annotations__ |= {each.name: each.type for each in fields(StoredAddress)}
    country: Annotated[str, Field(pattern="^[A-Z]{2}$", examples=["US"])]


class MessageOrder(Answer):
    order_id: str


Addresses = Annotated[dict[str, Address], Field(description="One's addresses, by their names.")]
AboutOrder = Annotated[MessageOrder | SkipJsonSchema[None], Field(default=None)]

ADDED: Mapping[str, Mapping[str, Any]] = {"Account": {"addresses": Addresses}, "Message": {"order": AboutOrder}}
"""By a model's name, the fields that it has in addition to its own."""
