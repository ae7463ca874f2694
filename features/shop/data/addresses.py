"""A user's addresses: a map in the User item."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from functools import partial

from features.shop.models import Address
from shared.data import account_checks, keys
from shared.dynamodb import damage
from shared.dynamodb.attributes import Codec, Entity, Item
from shared.dynamodb.table import Projection, Table
from shared.dynamodb.writes import update
from shared.errors import DealsError, Invalid, NotFound

MOST = 10
"""Addresses of one user. At most 4 KB, so that the User item stays small."""

_NONE = "-"
"""The stored value for no postal code: a required text is never stored empty."""

_POSTAL_CODE = Codec(lambda code: code or _NONE, lambda stored: "" if stored == _NONE else stored)
_ADDRESS = Entity(Address, forms={"postal_code": _POSTAL_CODE})

to_map, from_map = _ADDRESS.write, _ADDRESS.read
"""Convert an address to and from its stored map."""

_ADDRESSES = Projection.of("PK", "SK", "AccountId", "Addresses")
_OF_OWNER = Projection.of("PK", "SK", "AccountId", "Addresses", "Name")


class UnknownAddress(NotFound):
    field = "address"
    text = "You have no address {!r}."


class TooManyAddresses(Invalid):
    field = "address"
    text = "You cannot have more than {} addresses: replace or remove one."


class _Refused(DealsError):
    """The map of addresses is full, missing, or exists already."""


def save(table: Table, username: str, name: str, address: Address, account_id: str | None = None) -> None:
    """Save an address under a name, replacing an older one. Raises TooManyAddresses, NotSignedIn, NoSuchUser.

    One UpdateItem of a map entry; a user's first address takes two, because it creates the map.
    """
    account, held = account_checks.is_of(account_id)
    entry = update(
        keys.user(username),
        "SET Addresses.#name = :address",
        condition=f"{account} AND attribute_exists(Addresses)"
        " AND (attribute_exists(Addresses.#name) OR size(Addresses) < :most)",
        names={"#name": name},
        values={":address": to_map(address), ":most": MOST, **held},
        refused=_Refused(),
    )
    beginning = update(
        keys.user(username),
        "SET Addresses = :addresses",
        condition=f"{account} AND attribute_not_exists(Addresses)",
        values={":addresses": {name: to_map(address)}, **held},
        refused=_Refused(),
    )
    for write in (entry, beginning, entry):  # another request may have created the map
        with suppress(_Refused):
            table.write(write)
            return
    of(table, username, account_id)
    raise TooManyAddresses(MOST)


def remove(table: Table, username: str, name: str, account_id: str | None = None) -> None:
    """Remove an address by its name. Raises UnknownAddress, also if the account is gone."""
    account, held = account_checks.is_of(account_id)
    removal = update(
        keys.user(username),
        "REMOVE Addresses.#name",
        condition=f"{account} AND attribute_exists(Addresses.#name)",
        names={"#name": name},
        values=held,
        refused=UnknownAddress(name),
    )
    table.write(removal)


def of(table: Table, username: str, account_id: str | None = None) -> dict[str, Address]:
    """A user's addresses by name. One consistent GetItem. Raises NotSignedIn, NoSuchUser."""
    return from_user(_read(table, username, account_id, _ADDRESSES))


def of_owner(table: Table, username: str) -> tuple[dict[str, Address], str]:
    """A user's addresses by name, and the user's own name. One consistent GetItem. Raises NoSuchUser."""
    item = _read(table, username, None, _OF_OWNER)
    return from_user(item), str(item.get("Name", ""))


def _read(table: Table, username: str, account_id: str | None, projection: Projection) -> Item:
    item = table.get(keys.user(username), consistent=True, projection=projection) or {}
    if "AccountId" not in item or account_id not in (None, item["AccountId"]):
        raise account_checks.account_missing(username, account_id)
    return item


def from_user(item: Item) -> dict[str, Address]:
    """The addresses in a User item, by name."""
    names: list[str] = damage.read_or(item, lambda user: sorted(user.get("Addresses", {}).keys()), otherwise=[])
    return dict(entry for name in names for entry in damage.readable([item], partial(_entry, name)))


def _entry(name: str, user: Item) -> tuple[str, Address]:
    return name, from_map(user["Addresses"][name])


def fingerprint(address: Address) -> str:
    """A short text that identifies an address's content; a form sends it back."""
    return hashlib.sha256(json.dumps(to_map(address), sort_keys=True).encode()).hexdigest()[:16]
