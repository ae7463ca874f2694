"""``btd addresses`` and ``btd cart``: what a user needs to order."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from cli import views
from cli.inputs import AddressName, DealName, Username, checked, deal_id
from cli.output import show_rows
from cli.watching import AsJson, at_work
from shared.api import member_documents, order_documents
from shared.api.order_bodies import CartChange, NewAddress
from shared.data.orders import addresses, carts

addresses_app = typer.Typer(help="The addresses that a user's orders can go to.", no_args_is_help=True)
cart_app = typer.Typer(help="A user's cart.", no_args_is_help=True)


@addresses_app.command("list")
def list_addresses(username: Username, as_json: AsJson = False) -> None:
    """List a user's addresses."""
    with at_work(as_json) as work:
        found = addresses.of(work.table, username)
        work.answer({name: member_documents.address(each) for name, each in found.items()}, _addresses)


@addresses_app.command()
def save(
    username: Username,
    name: AddressName,
    recipient: Annotated[str, typer.Option(help="Who lives there.")],
    street: Annotated[str, typer.Option(help="Street and number.")],
    city: Annotated[str, typer.Option(help="City.")],
    postal_code: Annotated[str, typer.Option(help="Postal code.")],
    country: Annotated[str, typer.Option(help="Country, in two capital letters.")],
    region: Annotated[str | None, typer.Option(help="State or region.")] = None,
    as_json: AsJson = False,
) -> None:
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
    with at_work(as_json) as work:
        addresses.save(work.table, username, name, address)
        work.answer(member_documents.address(address), views.fields)


@addresses_app.command()
def remove(
    username: Username,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the user calls it.")],
    as_json: AsJson = False,
) -> None:
    """Remove the address of a name."""
    with at_work(as_json) as work:
        addresses.remove(work.table, username, name)
        work.answer({"removed": name}, views.fields)


@cart_app.command("show")
def show_cart(username: Username, as_json: AsJson = False) -> None:
    """Show what is in a user's cart, at today's prices."""
    with at_work(as_json) as work:
        work.answer(order_documents.cart(carts.view(work.table, username, work.now), work.now), _cart)


@cart_app.command("put")
def put_in(
    username: Username,
    deal: DealName,
    quantity: Annotated[int, typer.Argument(help="How many pieces.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Have so many pieces of a deal in the cart, whatever there were before."""
    pieces = checked(CartChange, {"quantity": quantity}).quantity
    with at_work(as_json) as work:
        item = carts.put_in(work.table, username, deal_id(work.table, deal), pieces, work.now)
        work.answer(order_documents.cart_item(item, work.now), views.fields)


@cart_app.command("take-out")
def take_out(username: Username, deal: DealName, as_json: AsJson = False) -> None:
    """Have a deal in the cart no longer."""
    with at_work(as_json) as work:
        taken = deal_id(work.table, deal)
        carts.take_out(work.table, username, taken)
        work.answer({"takenOut": taken}, views.fields)


def _addresses(found: Any) -> None:
    fields = ("recipient", "street", "city", "region", "postalCode", "country")
    show_rows(("name", *fields), [[name, *(each[field] for field in fields)] for name, each in found.items()])


def _cart(page: Any) -> None:
    show_rows(
        ("quantity", "title", "price", "then", "deal"),
        [
            [each["quantity"], each["deal"]["title"], each["deal"]["price"], each["priceThen"], each["deal"]["dealId"]]
            for each in page["items"]
        ],
    )
