"""``btd addresses`` and ``btd cart``: what a user needs to order."""

from __future__ import annotations

from typing import Annotated

import typer

from cli import views
from cli.inputs import AddressName, DealName, Username, checked, deal_id
from cli.output import show_rows
from cli.work import Work, command, group
from shared.api import member_documents, order_documents
from shared.api.order_bodies import CartChange, NewAddress
from shared.data.orders import addresses, carts

addresses_app = group("addresses", "The addresses that a user's orders can go to.")
cart_app = group("cart", "A user's cart.")


_cart = views.table(
    {
        "quantity": "quantity",
        "title": lambda item: item["deal"]["title"],
        "price": lambda item: item["deal"]["price"],
        "then": "priceThen",
        "deal": lambda item: item["deal"]["dealId"],
    }
)


def _addresses(found: views.Json) -> None:
    fields = ("recipient", "street", "city", "region", "postalCode", "country")
    show_rows(("name", *fields), [[name, *(each[field] for field in fields)] for name, each in found.items()])


@command(addresses_app, _addresses, "list")
def list_addresses(work: Work, username: Username) -> views.Json:
    """List a user's addresses."""
    found = addresses.of(work.table, username)
    return {name: member_documents.address(each) for name, each in found.items()}


@command(addresses_app)
def save(
    work: Work,
    username: Username,
    name: AddressName,
    recipient: Annotated[str, typer.Option(help="Who lives there.")],
    street: Annotated[str, typer.Option(help="Street and number.")],
    city: Annotated[str, typer.Option(help="City.")],
    country: Annotated[str, typer.Option(help="Country, in two capital letters.")],
    postal_code: Annotated[str, typer.Option(help="Postal code, where the country has them.")] = "",
    region: Annotated[str | None, typer.Option(help="State or region.")] = None,
) -> views.Json:
    """Save an address under a name, in place of the one that had it."""
    fields = {
        "recipient": recipient,
        "street": street,
        "city": city,
        "region": region,
        "postalCode": postal_code,
        "country": country,
    }
    address = checked(NewAddress, {field: text for field, text in fields.items() if text is not None}).to_address()
    addresses.save(work.table, username, name, address)
    return member_documents.address(address)


@command(addresses_app)
def remove(
    work: Work, username: Username, name: Annotated[str, typer.Argument(metavar="NAME", help="What the user calls it.")]
) -> views.Json:
    """Remove the address of a name."""
    addresses.remove(work.table, username, name)
    return {"removed": name}


@command(cart_app, _cart, "show")
def show_cart(work: Work, username: Username) -> views.Json:
    """Show what is in a user's cart, at today's prices."""
    return order_documents.cart(carts.view(work.table, username, work.now), work.now)


@command(cart_app, name="put")
def put_in(
    work: Work,
    username: Username,
    deal: DealName,
    quantity: Annotated[int, typer.Argument(help="How many pieces.")] = 1,
) -> views.Json:
    """Have so many pieces of a deal in the cart, whatever there were before."""
    pieces = checked(CartChange, {"quantity": quantity}).quantity
    item = carts.put_in(work.table, username, deal_id(work.table, deal), pieces, work.now)
    return order_documents.cart_item(item, work.now)


@command(cart_app)
def take_out(work: Work, username: Username, deal: DealName) -> views.Json:
    """Have a deal in the cart no longer."""
    taken = deal_id(work.table, deal)
    carts.take_out(work.table, username, taken)
    return {"takenOut": taken}
