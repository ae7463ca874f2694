"""``btd logs``: what a stack's functions have logged about a request, a deal or anything else with an id."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import starmap
from typing import Annotated, Any

import boto3
import typer
from botocore.exceptions import BotoCoreError, ClientError

from cli.commands import AsJson, local_cloud
from cli.output import show_json, show_rows
from infra.settings import STAGES
from local.settings import STAGE
from shared.errors import Unavailable
from shared.values import times

Fields = Mapping[str, Any]
"""A function's log line, as a JSON object."""

_BOOKKEEPING = {"level", "location", "timestamp", "message", "service", "correlation_id", "_aws"}
"""Fields of a line that have their own column or aren't printed."""


def _a_term(text: str) -> str:
    if len(text) < 3 or not text.isprintable() or set(text) & {'"', "\\"}:
        raise typer.BadParameter("must be an id or a phrase without quotation marks")
    return text


def logs(
    text: Annotated[
        str,
        typer.Argument(metavar="TEXT", callback=_a_term, help="An X-Correlation-Id, a deal's id, or a phrase."),
    ],
    hours: Annotated[int, typer.Option(min=1, help="How many hours to look back.")] = 24,
    as_json: AsJson = False,
) -> None:
    """Show the log lines of all functions that contain an id, such as from a request to its last message."""
    found = _find(text, times.now() - timedelta(hours=hours))
    if as_json:
        show_json({"result": [fields for _, fields in found]})
    else:
        show_rows(["Time", "Function", "Level", "What", "With"], starmap(_row, found))


def _row(at: datetime, fields: Fields) -> tuple[Any, ...]:
    rest = ", ".join(f"{name}={value}" for name, value in fields.items() if name not in _BOOKKEEPING)
    return (f"{at:%H:%M:%S}", fields.get("service"), fields.get("level"), fields["message"], rest)


def _find(text: str, since: datetime) -> list[tuple[datetime, Fields]]:
    """The lines since a time that contain a text (without quotation marks), in the order of writing.

    They come from the stack in the environment, or from the running local cloud. Raises NoTable, Unavailable.
    """
    stack = os.environ.get("BTD_STACK")
    if stack:
        client: Any = boto3.client("logs", region_name=os.environ.get("AWS_REGION"))
    else:
        stack = STAGES[STAGE].stack_name
        _, arguments = local_cloud("BTD_STACK names no stack")
        client = boto3.client("logs", **arguments)
    asked = {"filterPattern": f'"{text}"', "startTime": int(since.timestamp() * 1000)}
    groups = [
        group["logGroupName"]
        for page in _pages(client, "describe_log_groups", logGroupNamePattern=stack)
        for group in page["logGroups"]
    ]
    pages = (page for group in groups for page in _pages(client, "filter_log_events", logGroupName=group, **asked))
    events = sorted((event for page in pages for event in page["events"]), key=lambda event: event["timestamp"])
    return [(datetime.fromtimestamp(event["timestamp"] / 1000, UTC), _fields(event["message"])) for event in events]


def _pages(client: Any, operation: str, **arguments: Any) -> Iterator[Mapping[str, Any]]:
    try:
        yield from client.get_paginator(operation).paginate(**arguments)
    except (BotoCoreError, ClientError) as error:
        raise Unavailable(f"The logs cannot be read: {error}") from error


def _fields(text: str) -> Fields:
    """A log line's fields. Lambda's own lines, such as about a timeout, aren't JSON."""
    with suppress(ValueError):
        fields = json.loads(text)
        if isinstance(fields, dict):
            return fields
    return {"message": text.strip()}
