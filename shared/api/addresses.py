"""Addresses as the API's JSON, also in the answer about one's own account."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from shared.api.documents import Json
from shared.data.orders import addresses
from shared.models.orders import Address
from shared.values.stored import api_names

if TYPE_CHECKING:
    from shared.dynamodb.table import Table
    from shared.models.members import User

ADDRESS = api_names(Address)


def address(address: Address) -> Json:
    return {name: getattr(address, field) for name, field in ADDRESS.items()}


def by_name(found: Mapping[str, Address]) -> Json:
    """Some addresses, by their names."""
    return {name: address(each) for name, each in found.items()}


def of_account(table: Table, user: User) -> Json:
    """What the answer about one's own account says of the shop."""
    return {"addresses": by_name(addresses.of(table, user.username))}
