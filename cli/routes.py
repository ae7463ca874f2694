"""Commands that do what a route of the API does: each is a row, described by the OpenAPI document.

The route's own function answers, in this process, on the command's table. It learns who calls from the event, as the
authorizer would pass it; with the right to write the table, a command may call as anyone.
"""

from __future__ import annotations

import inspect
import json
import re
import secrets
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from keyword import iskeyword
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import typer

from cli import output
from cli.work import (
    ClientKey,
    Cursor,
    DealName,
    SortedBy,
    TopicName,
    Username,
    View,
    Work,
    Yes,
    command,
    sure,
)
from shared import features
from shared.data.catalog.editing import FIELDS
from shared.data.members import users

BY = "the command line"
"""The name in the logs of deals that commands change; no user can have it."""

OPENAPI = Path(__file__).parent.parent / "functions" / "api" / "openapi.json"


def argument(metavar: str, about: str) -> Any:
    return Annotated[str, typer.Argument(metavar=metavar, help=about)]


KINDS: dict[str, Any] = {
    "username": Username,
    "{username}": Username,
    "{dealId}": DealName,
    "{messageId}": argument("MESSAGE", "The message's id."),
    "{alertId}": argument("ALERT", "The alert's id."),
    "{draftId}": argument("DRAFT", "The draft's id."),
    "{brand}": TopicName,
    "{category}": TopicName,
    "q": argument("WORDS", "What is searched for."),
    "--sort": SortedBy,
    "--category": Annotated[str, typer.Option(help="The category.")],
    "--cursor": Cursor,
    "--yes": Yes,
    "--Idempotency-Key": ClientKey,
}
"""Where commands word it otherwise than the document: the parameters of paths, and two options that commands share.
Modules of commands add those of their paths."""


@dataclass(frozen=True, slots=True)
class Row:
    """A command as it is typed, and the operation that it asks for; what is typed has the document's names.

    After the command's own name, what begins with -- is an option, and the rest are arguments; ``quantity=1`` is one
    that may be left out, and ``--*`` is all of the body. ``username`` is the caller where no path has it; without one,
    an editor calls. With ``--yes`` it asks about what is odd, without nothing is asked.
    """

    typed: str
    operation: str
    help: str
    view: View = output.fields
    says: Mapping[str, Any] = field(default_factory=dict)
    """The text to print where the route answers nothing; the name of an argument stands for its value."""

    sends: dict[str, Any] = field(default_factory=dict)
    """Values to send in addition to the arguments."""

    signed_in: bool = False
    """Whether the route writes the id of the caller's account, which is read then."""


def offer(group: typer.Typer, *rows: Row) -> None:
    """Add the commands of some rows to a group."""
    for row in rows:
        name, *typed = row.typed.split()
        command(group, row.view, name, help=row.help)(_command(row, typed))


def ask(work: Work, operation: str, given: Mapping[str, Any], *, signed_in: bool = False) -> Any:
    """The answer of an operation's route; None where it is empty.

    ``given`` has by the document's names what it is sent, and ``username``, the caller; None is not sent. Raises
    InvalidBody, NoSuchUser where nothing is found for a caller that does not exist, and what the route raises.
    """
    # Imported here: most commands ask no route, and "btd --help" none.
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
    BaseRouter.current_event = APIGatewayProxyEvent(event)  # as Powertools sets it
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
    """The argument or option of a command that is typed so. Raises LookupError for what the operation does not know."""
    name, _, given = typed.partition("=")
    words = re.sub("([a-z])([A-Z])", r"\1-\2", name.removeprefix("--")).lower()
    option, schema = name.startswith("--"), _schema(operation, name.removeprefix("--"))
    known = KINDS.get(f"{{{name}}}" if f"{{{name}}}" in operation else name)
    if known is None and not schema:
        raise LookupError(f"{operation} knows no {name}")
    plain = next((each for each in schema.get("anyOf", ()) if each.get("type") != "null"), schema)
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
    """The schemas of the fields of an operation's body, each with whether it is ``required``."""
    for described in _described(operation).get("requestBody", {}).get("content", {}).values():
        schema = _document()["components"]["schemas"][described["schema"]["$ref"].rpartition("/")[2]]
        needed = schema.get("required", ())
        return {name: {**each, "required": name in needed} for name, each in schema["properties"].items()}
    return {}


def _schema(operation: str, name: str) -> dict[str, Any]:
    """The schema of one thing that an operation is sent: a parameter, or a field of its body."""
    parameters = {each["name"]: {**each, **each["schema"]} for each in _described(operation).get("parameters", ())}
    return parameters.get(name) or _body(operation).get(name) or {}


def _described(operation: str) -> dict[str, Any]:
    method, path = operation.split()
    return cast("dict[str, Any]", _document()["paths"][path][method.lower()])


@cache
def _document() -> Any:
    return json.loads(OPENAPI.read_text(encoding="utf-8"))


def _route(operation: str) -> Callable[..., Any]:
    """The function of an operation's route."""
    from functions.api import catalog, editors, members  # noqa: PLC0415  # as above

    wanted = re.sub(r"{\w+}", "*", operation)
    for app in (catalog.app, editors.app, members.app, *features.of("api")):
        for route in (*app._static_routes, *app._dynamic_routes):  # noqa: SLF001  # Powertools has no other list
            if f"{route.method} {re.sub('<[^>]+>', '*', route.path)}" == wanted:
                return cast("Callable[..., Any]", route.func)
    raise LookupError(operation)
