"""``btd logs``: what all functions have logged of one request, deal or anything else that has an id."""

from __future__ import annotations

import os
from datetime import timedelta
from typing import Annotated, Any

import typer

from cli import log_groups as written
from cli.connection import local_cloud
from cli.log_groups import Line, Logs
from cli.output import show_json, show_rows
from cli.watching import AsJson
from infra.settings import STAGES
from local.settings import STAGE
from shared.values import times

_BOOKKEEPING = {"level", "location", "timestamp", "message", "service", "correlation_id", "_aws"}
"""Fields of a line that have a column of their own, or that nobody reads."""


def _a_term(text: str) -> str:
    if len(text) < 3 or not text.isprintable() or set(text) & {'"', "\\"}:
        raise typer.BadParameter("must be an id or a phrase without quotation marks")
    return text


def logs(
    text: Annotated[
        str,
        typer.Argument(metavar="TEXT", callback=_a_term, help="An answer's X-Correlation-Id, a deal's id, a phrase."),
    ],
    hours: Annotated[int, typer.Option(min=1, help="How far back to look.")] = 24,
    as_json: AsJson = False,
) -> None:
    """Show what all functions have logged of an id, such as from a request to its last message."""
    found = _logs().find(text, times.now() - timedelta(hours=hours))
    if as_json:
        show_json({"result": [line.fields for line in found]})
    else:
        show_rows(["Time", "Function", "Level", "What", "With"], map(_row, found))


def _row(line: Line) -> tuple[Any, ...]:
    fields = line.fields
    rest = ", ".join(f"{name}={value}" for name, value in fields.items() if name not in _BOOKKEEPING)
    return (f"{line.at:%H:%M:%S}", fields.get("service"), fields.get("level"), fields["message"], rest)


def _logs() -> Logs:
    """The logs of the stack that the environment names, or of the running local cloud. Raises NoTable."""
    stack = os.environ.get("BTD_STACK")
    if stack:
        return written.connect(stack, region_name=os.environ.get("AWS_REGION"))
    return written.connect(STAGES[STAGE].stack_name, **local_cloud("BTD_STACK names no stack").arguments)
