"""How commands are made: from a function that uses the table, or from a row that names an API route.

The table is the environment's, or this checkout's local cloud's. The API's rules check the input. An answer is printed
as the API's JSON or drawn, and the requests that it made can follow it.

A row's command does what its route does, as documented in OpenAPI: the route's own function answers, in this process,
on the command's table. The event names the caller, as after the authorizer; with the right to write the table, a
command may call as anyone.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import secrets
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, cached_property
from keyword import iskeyword
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, TypeVar, cast

import typer

from cli import output
from cli.output import complain, note, show_json, show_trace
from local.cloud import running
from local.settings import Home, client_arguments
from shared import features, hooks
from shared.data.catalog import deals
from shared.data.catalog.editing import FIELDS
from shared.data.members import users
from shared.dynamodb.aws_errors import Budget
from shared.dynamodb.client import connect
from shared.dynamodb.table import Table
from shared.dynamodb.tracing import Trace
from shared.errors import DealIsOdd, Invalid
from shared.http.requests import MAX_CLIENT_KEY, MAX_PAGE, is_client_key
from shared.models.catalog import Sort
from shared.values import times
from shared.values.naming import normalise_username

PATIENCE = 30.0
"""Seconds that a command waits for an answer. No reader waits for it, and the local cloud takes longer for a page of a
scan the more items its table has, and seconds to restore one."""


class NoTable(Exception):  # users see its text, not an exception
    """No table is named; the text says how to name one."""


def open_table(home: Home | None = None) -> Table:
    """The table of ``BTD_TABLE`` in boto3's environment, or the running local cloud's.

    The local cloud accepts only its checkout's key, which goes to this client and never into the environment. Raises
    NoTable, Unavailable.
    """
    name = os.environ.get("BTD_TABLE")
    if name:
        # Other AWS tools obey AWS_REGION; botocore knows only AWS_DEFAULT_REGION and the profile's region.
        return connect(name, Budget(answer=PATIENCE), region_name=os.environ.get("AWS_REGION"))
    cloud, arguments = local_cloud("BTD_TABLE names no table", home)
    note(f"Local cloud at {cloud['endpoint']}, table {cloud['table']}")
    return connect(cloud["table"], Budget(answer=PATIENCE), **arguments)


def local_cloud(otherwise: str, home: Home | None = None) -> tuple[dict[str, str], dict[str, Any]]:
    """The record of ``make run`` about this checkout's running local cloud, and boto3's arguments for it.

    Raises NoTable if none runs; ``otherwise`` says why one is needed.
    """
    home = home or Home()
    there = running(home)
    if there is None or not home.cloud.exists():
        raise NoTable(f"{otherwise}, and no local cloud runs here: set it, or start one (make run).")
    description = json.loads(home.cloud.read_text(encoding="utf-8"))
    return description, client_arguments(home, there.port) | {"endpoint_url": description["endpoint"]}


T = TypeVar("T")


def deal_id(table: Table, id_or_number: str) -> str:
    """A deal's id, from its id or number; only a number takes a request. Raises NoSuchDeal."""
    return deals.place_of(table, id_or_number, consistent=True).deal_id


def from_stdin(what: str) -> str:
    """The first line of standard input. Raises Invalid if there is none."""
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
        "--idempotency-key", parser=_client_key, metavar="KEY", help="Repeats with the same key place the order once."
    ),
]
DealName = Annotated[str, typer.Argument(metavar="DEAL", help="The deal's id or number.")]
SortedBy = Annotated[str, typer.Option(help=f"One of {', '.join(Sort)}.")]
TopicName = Annotated[str, typer.Argument(metavar="NAME", help="Its name or slug.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation of warnings.")]


def sure(yes: bool, write: Callable[[Collection[str] | None], T]) -> T:
    """Write a deal, asking to confirm its warnings; ``write`` gets the confirmed ones."""
    try:
        return write(None if yes else ())
    except DealIsOdd as odd:
        typer.confirm(" ".join((*odd.warnings.values(), "Write it anyway?")), abort=True, err=True)
        return write(odd.warnings)


AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document, for other programs.")]
Limit = Annotated[int, typer.Option(min=1, max=MAX_PAGE, help="The most items on a page.")]
Cursor = Annotated[str | None, typer.Option(help="Where the page starts: the previous page's next.")]

View = Callable[[Any], None]
Function = Callable[..., Any]


class Work:
    """A command's table and time. The table is opened at first use, after the input was checked.

    ``failed`` is an error to print after the answer; empty text only sets the exit code.
    """

    def __init__(self) -> None:
        self.failed: str | None = None
        self.trace: Trace | None = None

    @cached_property
    def table(self) -> Table:
        """The table, with traced requests. Raises NoTable, Unavailable."""
        table = open_table()
        self.trace = Trace().attach(table)
        return table

    @cached_property
    def now(self) -> datetime:
        """The time of its first use, after a missing table was reported."""
        _ = self.table
        return times.now()


def group(name: str, about: str) -> typer.Typer:
    """A group of commands; without a command it lists them."""
    return typer.Typer(name=name, help=about, no_args_is_help=True)


def command(
    group: typer.Typer,
    view: View = output.fields,
    name: str | None = None,
    more: Mapping[str, Any] = MappingProxyType({}),
    **settings: Any,
) -> Function:
    """Add a command to a group: a function of a ``Work`` and arguments that returns the text to print."""
    return lambda do: group.command(name, **settings)(answering(view, more)(do))


def answering(
    view: View = output.fields, more: Mapping[str, Any] = MappingProxyType({})
) -> Callable[[Function], Callable[..., None]]:
    """Make a command from a function: it prints the answer as ``view`` draws it, or as JSON with ``--json``.

    The requests follow, even if the last one was refused. ``more`` are options that the function takes by ``**``, each
    with its annotation.
    """

    def made_of(do: Function) -> Callable[..., None]:
        def run(**typed: Any) -> None:
            work, as_json = Work(), typed.pop("as_json")
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
        _, *typed = (each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD)
        kind = inspect.Parameter.KEYWORD_ONLY
        typed += [inspect.Parameter(name, kind, default=None, annotation=option) for name, option in more.items()]
        json = inspect.Parameter("as_json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=AsJson)
        run.__signature__ = signature.replace(parameters=[*typed, json])  # type: ignore[attr-defined]  # typer reads it
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


BY = "the command line"
"""The name in deals' logs for changes by commands; no user can have it."""

OPENAPI = Path(__file__).parent.parent / "functions" / "api" / "openapi.json"


def argument(metavar: str, about: str) -> Any:
    return Annotated[str, typer.Argument(metavar=metavar, help=about)]


KINDS: dict[str, Any] = {
    "username": Username,
    "{username}": Username,
    "{dealId}": DealName,
    "{messageId}": argument("MESSAGE", "The message's id."),
    "{alertId}": argument("ALERT", "The alert's id."),
    "{brand}": TopicName,
    "{category}": TopicName,
    "q": argument("WORDS", "The words to search for."),
    "--sort": SortedBy,
    "--category": Annotated[str, typer.Option(help="The category.")],
    "--cursor": Cursor,
    "--yes": Yes,
    "--Idempotency-Key": ClientKey,
}
"""Wordings that differ from the document's: path parameters, and two shared options. Command modules add those of their
paths."""


@dataclass(frozen=True, slots=True)
class Row:
    """A command as typed, and its operation; typed names are the document's.

    After the command's name, words that begin with -- are options, the others arguments; ``quantity=1`` is optional,
    and ``--*`` stands for the whole body. ``username`` is the caller unless the path has it; without one, an editor
    calls. With ``--yes`` the command asks to confirm warnings.
    """

    typed: str
    operation: str
    help: str
    view: View = output.fields
    says: Mapping[str, Any] = field(default_factory=dict)
    """The text to print if the route answers nothing; arguments' names stand for their values."""

    sends: dict[str, Any] = field(default_factory=dict)
    """Values to send besides the arguments."""

    signed_in: bool = False
    """Whether the route writes the caller's account id, which is then read."""


def offer(group: typer.Typer, *rows: Row) -> None:
    """Add the commands of rows to a group."""
    for row in rows:
        name, *typed = row.typed.split()
        command(group, row.view, name, help=row.help)(_command(row, typed))


def ask(work: Work, operation: str, given: Mapping[str, Any], *, signed_in: bool = False) -> Any:
    """Call an operation's route; returns its answer, None if it is empty.

    ``given`` has the values to send by the document's names (None isn't sent), and the caller's ``username``. Raises
    InvalidBody, NoSuchUser if nothing is found for an unknown caller, and what the route raises.
    """
    # Imported late: most commands call no route, and "btd --help" none.
    from aws_lambda_powertools.event_handler.api_gateway import BaseRouter  # noqa: PLC0415
    from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent  # noqa: PLC0415

    from shared.api.fields import checked, models  # noqa: PLC0415
    from shared.runtime import environment  # noqa: PLC0415

    handler = _route(operation)
    places = {each["name"]: each["in"] for each in _described(operation).get("parameters", ())}
    caller = None if "username" in places else given.get("username")
    sent: dict[str, dict[str, Any]] = {"path": {}, "query": {}, "header": {}, "body": {}, "caller": {}}
    for name, value in given.items():
        if value is not None:
            place = places.get(name, "caller" if name == "username" else "body")
            sent[place][name] = json.dumps(value) if place == "query" and not isinstance(value, str) else value
    named = {
        "username": caller or BY,
        "accountId": users.get(work.table, str(caller), consistent=True).account_id if signed_in else None,
        "role": "member" if caller else "editor",
    }
    event = {
        "body": json.dumps(sent["body"]),
        "headers": sent["header"],
        "queryStringParameters": sent["query"],
        "requestContext": {"requestId": secrets.token_hex(16), "authorizer": named},
    }
    BaseRouter.current_event = APIGatewayProxyEvent(event)  # as Powertools does
    body = {name: checked(model, sent["body"]) for name, model in models(handler).items()}
    with environment.using(work.table):
        answer = handler(*(sent["path"][name] for name in re.findall(r"{(\w+)}", operation)), **body)
    found = json.loads(answer.body) if answer.body else None
    if caller and found is not None and not any(found.values()):
        users.get(work.table, caller)
    return found


def _command(row: Row, words: Iterable[str]) -> Callable[..., Any]:
    whole = (f"--{name}" for name in _body(row.operation))
    words = [each for word in words for each in (whole if word == "--*" else [word])]
    parameters = {each: _parameter(each, row.operation) for each in words}
    names = {each.name: word.removeprefix("--").partition("=")[0] for word, each in parameters.items()}

    def do(work: Work, **typed: Any) -> Any:
        given = {names[name]: value for name, value in typed.items()} | row.sends

        def answering(confirmed: Collection[str] | None) -> Any:
            fields = ",".join(FIELDS if confirmed is None else confirmed) or None
            means = {"confirm": fields} if _schema(row.operation, "confirm") else {}
            return ask(work, row.operation, given | means, signed_in=row.signed_in)

        answer = sure(given.pop("yes", True), answering)
        return {name: given.get(each, each) for name, each in row.says.items()} if answer is None else answer

    work = inspect.Parameter("work", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Work)
    do.__signature__ = inspect.Signature([work, *parameters.values()])  # type: ignore[attr-defined]  # it is read
    return do


def _parameter(typed: str, operation: str) -> inspect.Parameter:
    """A command's argument or option, from its typed form. Raises LookupError for one that the operation lacks."""
    name, _, given = typed.partition("=")
    words = re.sub("([a-z])([A-Z])", r"\1-\2", name.removeprefix("--")).lower()
    option, schema = name.startswith("--"), _schema(operation, name.removeprefix("--"))
    known = KINDS.get(f"{{{name}}}" if f"{{{name}}}" in operation else name)
    if known is None and not schema:
        raise LookupError(f"{operation} knows no {name}")
    plain = _choices(next((each for each in schema.get("anyOf", ()) if each.get("type") != "null"), schema))
    kind: Any = {"integer": int, "boolean": bool}.get(plain.get("type", ""), str)
    if "enum" in plain:
        kind = Literal[*plain["enum"]]
    default: Any = schema.get("default") if not given else int(given) if kind is int else given
    required = default is None and (not option or schema.get("required", False))
    bounds = {end: int(plain[most]) for end, most in (("min", "minimum"), ("max", "maximum")) if most in plain}
    such = "".join(f"Such as {example}." for example in plain.get("examples", ()))
    settings: dict[str, Any] = {"help": schema.get("description") or plain.get("description") or such, **bounds}
    made = typer.Option(f"--{words}", **settings) if option else typer.Argument(metavar=words.upper(), **settings)
    return inspect.Parameter(
        words.replace("-", "_") + "_" * iskeyword(words),
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if required else default,
        annotation=known or Annotated[kind if required or kind is bool else kind | None, made],
    )


def _body(operation: str) -> dict[str, Any]:
    """The schemas of an operation's body fields, each with whether it is ``required``."""
    for described in _described(operation).get("requestBody", {}).get("content", {}).values():
        schema = _document()["components"]["schemas"][described["schema"]["$ref"].rpartition("/")[2]]
        needed = schema.get("required", ())
        return {name: {**each, "required": name in needed} for name, each in schema["properties"].items()}
    return {}


MOST_CHOICES = 20
"""The most choices that a command's help lists; other values are texts, which the route checks."""


def _choices(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of the choices that another refers to, if there are few, or else that one."""
    named = _document()["components"]["schemas"].get(schema.get("$ref", "").rpartition("/")[2], schema)
    return cast("dict[str, Any]", named if 0 < len(named.get("enum", ())) <= MOST_CHOICES else schema)


def _schema(operation: str, name: str) -> dict[str, Any]:
    """The schema of an operation's parameter or body field."""
    parameters = {each["name"]: {**each, **each["schema"]} for each in _described(operation).get("parameters", ())}
    return parameters.get(name) or _body(operation).get(name) or {}


def _described(operation: str) -> dict[str, Any]:
    """What the document says of an operation. Raises LookupError if it was written before there was one."""
    method, path = operation.split()
    described = _document()["paths"].get(path, {}).get(method.lower())
    if described is None:
        raise LookupError(f'{OPENAPI.name} has no {operation}: "make format" writes it')
    return cast("dict[str, Any]", described)


@cache
def _document() -> Any:
    return json.loads(OPENAPI.read_text(encoding="utf-8"))


def _route(operation: str) -> Callable[..., Any]:
    """The function of an operation's route."""
    from functions.api import catalog, editors, members  # noqa: PLC0415  # as above

    wanted = re.sub(r"{\w+}", "*", operation)
    for app in (catalog.app, editors.app, members.app, *(each.app for each in features.roles(hooks.Api))):
        for route in (*app._static_routes, *app._dynamic_routes):  # noqa: SLF001  # Powertools has no other list
            if f"{route.method} {re.sub('<[^>]+>', '*', route.path)}" == wanted:
                return route.func
    raise LookupError(operation)
