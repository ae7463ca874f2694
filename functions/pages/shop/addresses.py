"""The addresses of a customer."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from shared.api import member_documents
from shared.api.fields import Body
from shared.api.order_bodies import AddressName, NewAddress
from shared.data.orders import addresses
from shared.errors import TooManyAddresses
from shared.html import cookies, forms, pages
from shared.html import orders as orders_shown
from shared.html.app import Routes
from shared.html.checking import check
from shared.html.forms import Fields, InvalidFields
from shared.html.pages import Answer
from shared.html.request import Request
from shared.models.members import Address
from shared.runtime.environment import table
from shared.values import countries

ADDRESSES = "/shop/addresses"

FIELDS = ("recipient", "street", "city", "postalCode", "country", "region")
"""The fields of an address, named as in the API's bodies."""

_WORDS = {"country": "Choose a country."}

routes = Routes()


class _Name(Body):
    name: AddressName


class NamedAddress(NewAddress, _Name):
    """An address and the name under which it is kept."""


@routes.get(ADDRESSES)
def address_book(request: Request) -> Answer:
    """All addresses, and a form: empty, or with the one that ``?name=`` names."""
    typed = {"name": request.query.get("name", "")}
    return _address_page(request, cookies.member_of(request).username, typed, fill=True)


@routes.post(ADDRESSES)
def save_address(request: Request) -> Answer:
    """Keep an address under its name, in place of the one that had it."""
    member = cookies.member_of(request)
    typed = forms.read(request.event)
    place = forms.own_path(typed.get("next"), ADDRESSES)
    try:
        name, address = _address(typed)
        addresses.save(table(), member.username, name, address, member.account_id)
    except InvalidFields as error:
        return _address_page(request, member.username, typed, error.errors)
    except TooManyAddresses as error:
        return _address_page(request, member.username, typed, {"name": str(error)})
    return forms.lead_to(place, said="address")


@routes.post(f"{ADDRESSES}/remove", stands_on=ADDRESSES)
def remove_address(request: Request) -> Answer:
    member = cookies.sender_of(request, ADDRESSES)
    addresses.remove(table(), member.username, forms.read(request.event).get("name", ""), member.account_id)
    return pages.redirect(ADDRESSES, said="address-removed")


def _address(typed: Mapping[str, str]) -> tuple[str, Address]:
    """The name and the address that a form says. Raises InvalidFields, for all fields at once."""
    given = {name: typed.get(name, "").strip() for name in ("name", *FIELDS)}
    country, region = given["country"].upper(), given["region"] or None
    new = check(NamedAddress, {**given, "country": country, "region": region}, _WORDS)
    return new.name, Address(**new.model_dump(exclude={"name"}))


def _address_page(
    request: Request, username: str, typed: Fields, errors: Mapping[str, str] | None = None, *, fill: bool = False
) -> Answer:
    (known,), head = cookies.beside_head(request, partial(addresses.of, table(), username))
    chosen = known.get(typed.get("name", ""))
    if fill:
        typed = _typed(typed["name"], chosen) if chosen else {}
    return pages.page(
        "shop/addresses.html",
        here=ADDRESSES,
        said=None if errors else request.said,
        addresses=shown(known),
        typed={name: typed.get(name, "") for name in ("name", *FIELDS)},
        countries=names_of_countries(typed.get("country", "")),
        editing=bool(chosen),
        errors=errors,
        next=forms.own_path(typed.get("next") or request.query.get("next"), ""),
        most=addresses.MOST,
        **head,
    )


def names_of_countries(chosen: str) -> dict[str, str]:
    """The names of all countries by code, after the ``chosen`` one: empty, or one that is no longer known."""
    names = sorted((name, code) for code, (name, _) in countries.countries().items())
    return {chosen: chosen or "Choose"} | {code: name for name, code in names}


def shown(known: Mapping[str, Address]) -> list[dict[str, Any]]:
    return [{"name": name, "lines": orders_shown.address_lines(address)} for name, address in known.items()]


def _typed(name: str, address: Address) -> Fields:
    return {"name": name} | {field: text or "" for field, text in member_documents.address(address).items()}
