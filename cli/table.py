"""``btd seed``, ``sweep`` and ``query``: the whole table. A deployed system seeds and sweeps by itself."""

from __future__ import annotations

from typing import Annotated

import typer

from cli import output
from cli.commands import Work, answering
from cli.output import show_rows
from shared.data.catalog import feeds, topics
from shared.dynamodb.schema import INDEXES, KEYS, PARTITION_KEY, SORT_KEY

BATCH = 500
"""Ended deals that one sweep examines."""


@answering()
def seed(work: Work) -> output.Json:
    """Create the eight categories and the container items that are missing."""
    return {"created": topics.plant_seeds(work.table, work.now)}


@answering()
def sweep(work: Work) -> output.Json:
    """Remove ended deals from the feeds."""
    swept = 0
    while (just_swept := feeds.sweep(work.table, work.now, most=BATCH)) == BATCH:
        swept += just_swept
    return {"swept": swept + just_swept}


_INDEXES = {index.name: index for index in INDEXES}
_SECRET = {"PasswordHash"}


def _rows(items: list[output.Json]) -> None:
    show_rows(
        [PARTITION_KEY, SORT_KEY, "Type", "Attributes"],
        ((item[PARTITION_KEY], item[SORT_KEY], item.get("Type", ""), _attributes(item)) for item in items),
    )


def _attributes(item: output.Json) -> str:
    return ", ".join(f"{name} {item[name]}" for name in sorted(item) if name not in {*KEYS, "Type"})


@answering(_rows)
def query(
    work: Work,
    partition: Annotated[str, typer.Argument(help="The whole partition key.")],
    index: Annotated[str | None, typer.Option(help=f"An index instead of the table: {', '.join(_INDEXES)}.")] = None,
    begins_with: Annotated[str | None, typer.Option(help="The prefix of the sort keys.")] = None,
    backward: Annotated[bool, typer.Option(help="From the last sort key to the first.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="The most items to show.")] = 100,
) -> list[output.Json]:
    """Show an item collection, item by item, without password hashes."""
    if index and index not in _INDEXES:
        raise typer.BadParameter(f"There is no index {index!r}.")
    of = _INDEXES[index] if index else None
    if begins_with and of is not None and of.sort_key is None:
        raise typer.BadParameter(f"{of.name} has no sort key.")
    found = work.table.query(partition, index=of, prefix=begins_with, newest_first=backward, limit=limit)
    return [{name: value for name, value in item.items() if name not in _SECRET} for item in found]
