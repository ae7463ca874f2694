"""Input of the commands, checked by the same rules as the API's."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection
from typing import Annotated, TypeVar

import typer
from pydantic import TypeAdapter, ValidationError

from shared.api import order_bodies
from shared.data.catalog import deal_numbers
from shared.dynamodb.table import Table
from shared.errors import DealIsOdd, Invalid
from shared.http.requests import MAX_CLIENT_KEY, is_client_key
from shared.http.statuses import reason
from shared.models.lists import Sort
from shared.values.naming import normalise_username

T = TypeVar("T")

_ADDRESS_NAME: TypeAdapter[str] = TypeAdapter(order_bodies.AddressName)


def deal_id(table: Table, id_or_number: str) -> str:
    """The id of a deal that is named by its id or its number; only a number takes a request. Raises NoSuchDeal."""
    return deal_numbers.place_of(table, id_or_number, consistent=True).deal_id


def from_stdin(what: str) -> str:
    """The first line of standard input. Raises Invalid where there is none."""
    line = sys.stdin.readline().rstrip("\r\n")
    if not line:
        raise Invalid(f"Standard input holds no {what}.")
    return line


def _username(text: str) -> str:
    try:
        return normalise_username(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error


def _address_name(text: str) -> str:
    try:
        return _ADDRESS_NAME.validate_python(text)
    except ValidationError as error:
        raise typer.BadParameter(reason(error.errors()[0])) from error


def _client_key(text: str) -> str:
    if not is_client_key(text):
        raise typer.BadParameter(f"must have 1 to {MAX_CLIENT_KEY} printable ASCII characters")
    return text


Username = Annotated[str, typer.Argument(parser=_username, metavar="USERNAME", help="The user's name.")]
AddressName = Annotated[
    str, typer.Argument(parser=_address_name, metavar="NAME", help="What the user calls it, such as home.")
]
ClientKey = Annotated[
    str | None,
    typer.Option(
        "--idempotency-key", parser=_client_key, metavar="KEY", help="The same key places the same order once."
    ),
]
DealName = Annotated[str, typer.Argument(metavar="DEAL", help="The deal's id or number.")]
SortedBy = Annotated[str, typer.Option(help=f"One of {', '.join(Sort)}.")]
TopicName = Annotated[str, typer.Argument(metavar="NAME", help="Its name or slug.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask about what is odd.")]


def sure(yes: bool, write: Callable[[Collection[str] | None], T]) -> T:
    """Write a deal, after asking about what is odd; ``write`` is told which oddities were seen."""
    try:
        return write(None if yes else ())
    except DealIsOdd as odd:
        typer.confirm(" ".join((*odd.oddities.values(), "Write it anyway?")), abort=True, err=True)
        return write(odd.oddities)
