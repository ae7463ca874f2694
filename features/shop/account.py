"""The shop's part of an account: the addresses that orders can go to, in JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from features.shop.data import addresses
from features.shop.models import Address
from shared.api.documents import Json
from shared.values.stored import api_names

if TYPE_CHECKING:
    from shared.dynamodb.table import Table
    from shared.models.members import User

ADDRESS_FIELDS = api_names(Address)


def document(address: Address) -> Json:
    return {name: getattr(address, field) for name, field in ADDRESS_FIELDS.items()}


def by_name(found: Mapping[str, Address]) -> Json:
    """Addresses by name."""
    return {name: document(each) for name, each in found.items()}


def of_account(table: Table, user: User) -> Json:
    """The shop's fields of the caller's account."""
    return {"addresses": by_name(addresses.of(table, user.username))}
