"""Commands that work on the table: which table that is, what they take, and how each prints its answer.

The table is the one that the environment names, or this checkout's local cloud. Input is checked by the rules of the
API. An answer is printed in the API's own JSON or drawn, and the requests that it made can follow it.
"""

from __future__ import annotations

import inspect
import json
import os
import sys
from collections.abc import Callable, Collection
from contextlib import suppress
from datetime import datetime
from functools import cached_property
from typing import Annotated, Any, TypeVar

import typer

from cli import output
from cli.output import complain, note, show_json, show_trace
from local.cloud import in_words, running, waiting
from local.settings import Home, client_arguments
from shared.data.catalog import deal_items
from shared.dynamodb.client import connect
from shared.dynamodb.table import Table
from shared.dynamodb.tracing import Trace
from shared.errors import DealIsOdd, Invalid
from shared.http.requests import MAX_CLIENT_KEY, MAX_PAGE, is_client_key
from shared.models.catalog import Sort
from shared.values import times
from shared.values.naming import normalise_username


class NoTable(Exception):  # users see its text, and need not know that it is an exception
    """Nothing names a table; the text says what would."""


def open_table(home: Home | None = None) -> Table:
    """The table of ``BTD_TABLE`` where boto3's own environment says it is, or the running local cloud's.

    The local cloud takes its checkout's key only, which goes to this one client and never into the environment.
    Raises NoTable, Unavailable.
    """
    name = os.environ.get("BTD_TABLE")
    if name:
        # Other tools of AWS obey AWS_REGION; botocore knows AWS_DEFAULT_REGION and the profile's only.
        return connect(name, region_name=os.environ.get("AWS_REGION"))
    cloud, arguments = local_cloud("BTD_TABLE names no table", home)
    note(f"Local cloud at {cloud['endpoint']}, table {cloud['table']}")
    return connect(cloud["table"], **arguments)


def still_to_do() -> str:
    """The work that the local cloud still has after a write, in words; empty on AWS, which does not report it."""
    cloud = None if os.environ.get("BTD_TABLE") else running(Home())
    with suppress(OSError, ValueError):
        return in_words(waiting(Home(), cloud)) if cloud else ""
    return ""


def local_cloud(otherwise: str, home: Home | None = None) -> tuple[dict[str, str], dict[str, Any]]:
    """The record by ``make run`` of this checkout's running local cloud, and boto3's arguments to talk to it.

    Raises NoTable where none runs; ``otherwise`` says why one is needed.
    """
    home = home or Home()
    there = running(home)
    if there is None or not home.cloud.exists():
        raise NoTable(f"{otherwise}, and no local cloud runs here: set it, or start one (make run).")
    description = json.loads(home.cloud.read_text(encoding="utf-8"))
    return description, client_arguments(home, there.port) | {"endpoint_url": description["endpoint"]}


T = TypeVar("T")


def deal_id(table: Table, id_or_number: str) -> str:
    """The id of a deal that is named by its id or its number; only a number takes a request. Raises NoSuchDeal."""
    return deal_items.place_of(table, id_or_number, consistent=True).deal_id


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


def _client_key(text: str) -> str:
    if not is_client_key(text):
        raise typer.BadParameter(f"must have 1 to {MAX_CLIENT_KEY} printable ASCII characters")
    return text


Username = Annotated[str, typer.Argument(parser=_username, metavar="USERNAME", help="The user's name.")]
ClientKey = Annotated[
    str | None,
    typer.Option(
        "--idempotency-key", parser=_client_key, metavar="KEY", help="The same key places the same order once."
    ),
]
DealName = Annotated[str, typer.Argument(metavar="DEAL", help="The deal's id or number.")]
SortedBy = Annotated[str, typer.Option(help=f"One of {', '.join(Sort)}.")]
TopicName = Annotated[str, typer.Argument(metavar="NAME", help="Its name or slug.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation of warnings.")]


def sure(yes: bool, write: Callable[[Collection[str] | None], T]) -> T:
    """Write a deal, after asking about what is odd; ``write`` gets the warnings that were confirmed."""
    try:
        return write(None if yes else ())
    except DealIsOdd as odd:
        typer.confirm(" ".join((*odd.warnings.values(), "Write it anyway?")), abort=True, err=True)
        return write(odd.warnings)


AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document, for other programs.")]
Limit = Annotated[int, typer.Option(min=1, max=MAX_PAGE, help="Items a page has at most.")]
Cursor = Annotated[str | None, typer.Option(help="Where the page starts: the last page's next.")]

View = Callable[[Any], None]
Function = Callable[..., Any]


class Work:
    """A command's table and time. The table is opened when it is first asked for: input is checked before.

    ``failed`` is what there is to complain of after the answer, if only by the exit code.
    """

    def __init__(self) -> None:
        self.failed: str | None = None
        self.trace: Trace | None = None

    @cached_property
    def table(self) -> Table:
        """The table, whose requests are traced. Raises NoTable, Unavailable."""
        table = open_table()
        self.trace = Trace().attach(table)
        return table

    @cached_property
    def now(self) -> datetime:
        """The time at which it is first asked for; a missing table is reported first."""
        _ = self.table
        return times.now()


def group(name: str, about: str) -> typer.Typer:
    """A group of commands; without one it lists them."""
    return typer.Typer(name=name, help=about, no_args_is_help=True)


def command(group: typer.Typer, view: View = output.fields, name: str | None = None, **settings: Any) -> Function:
    """Add a command to a group: a function of its work and its arguments, which returns the text to print."""
    return lambda do: group.command(name, **settings)(answering(view)(do))


def answering(view: View = output.fields) -> Callable[[Function], Callable[..., None]]:
    """Make a command of a function: with ``--json`` its answer is printed as it is, without as ``view`` draws it.

    The requests follow, also where the last of them was refused.
    """

    def made_of(do: Function) -> Callable[..., None]:
        def run(*, as_json: bool, **typed: Any) -> None:
            work = Work()
            try:
                answer = do(work, **typed)
            except BaseException:
                if work.trace:
                    _print(None, None, work.trace, as_json)
                raise
            _print(answer, view, work.trace or Trace().attach(work.table), as_json)
            if work.failed is not None:
                complain(work.failed)
                raise typer.Exit(1)

        signature = inspect.signature(do, eval_str=True)
        _, *typed = signature.parameters.values()
        json = inspect.Parameter("as_json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=AsJson)
        run.__signature__ = signature.replace(parameters=[*typed, json])  # type: ignore[attr-defined]  # typer reads it
        run.__annotations__ = {each.name: each.annotation for each in (*typed, json)}
        run.__name__, run.__doc__ = do.__name__, do.__doc__
        return run

    return made_of


def _print(answer: Any, view: View | None, trace: Trace, as_json: bool) -> None:
    if as_json:
        requests = [request.to_json() for request in trace.requests]
        show_json({"result": answer, "requests": requests, "capacity": trace.capacity.to_json()})
        return
    if view is not None:
        view(answer)
    show_trace(trace)
