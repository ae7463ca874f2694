"""What commands take from their user, checked against the rules that the API has too."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

import typer
from pydantic import BaseModel, ValidationError

from shared.data.catalog import deals
from shared.dynamodb.table import Table
from shared.errors import Invalid
from shared.http.reasons import reason
from shared.values import ksuids
from shared.values.usernames import normalise_username

B = TypeVar("B", bound=BaseModel)


def checked(body: type[B], fields: Mapping[str, Any]) -> B:
    """Some fields as a request's body. Raises Invalid, which names each field at fault."""
    try:
        return body.model_validate(dict(fields))
    except ValidationError as error:
        raise Invalid(faults(error)) from error


def faults(error: ValidationError) -> str:
    """What pydantic refuses, in one line."""
    return "; ".join(
        f"{'.'.join(map(str, entry['loc'])) or 'line'}: {reason(entry)}"
        for entry in error.errors(include_url=False, include_context=False, include_input=False)
    )


def deal_id(table: Table, id_or_number: str) -> str:
    """The id of a deal that is named by its id or its number; only a number takes requests. Raises NoSuchDeal."""
    return id_or_number if ksuids.is_ksuid(id_or_number) else deals.find(table, id_or_number, consistent=True).deal_id


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


Username = Annotated[str, typer.Argument(parser=_username, metavar="USERNAME", help="The user's name.")]
DealName = Annotated[str, typer.Argument(metavar="DEAL", help="The deal's id or number.")]
