"""``btd query``: any item collection, of the table or an index."""

from __future__ import annotations

from typing import Annotated

import typer

from cli import views
from cli.output import show_rows
from cli.work import Work, answering
from shared.dynamodb.schema import INDEXES, KEYS, PARTITION_KEY, SORT_KEY

_INDEXES = {index.name: index for index in INDEXES}
_SECRET = {"PasswordHash"}


def _rows(items: list[views.Json]) -> None:
    show_rows(
        [PARTITION_KEY, SORT_KEY, "Type", "Attributes"],
        ((item[PARTITION_KEY], item[SORT_KEY], item.get("Type", ""), _attributes(item)) for item in items),
    )


def _attributes(item: views.Json) -> str:
    return ", ".join(f"{name} {item[name]}" for name in sorted(item) if name not in {*KEYS, "Type"})


@answering(_rows)
def query(
    work: Work,
    partition: Annotated[str, typer.Argument(help="The whole partition key.")],
    index: Annotated[str | None, typer.Option(help=f"Of the table, or of an index: {', '.join(_INDEXES)}.")] = None,
    begins_with: Annotated[str | None, typer.Option(help="What the sort keys begin with.")] = None,
    backward: Annotated[bool, typer.Option(help="From the last sort key to the first.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="Items at most.")] = 100,
) -> list[views.Json]:
    """Show an item collection, item by item, except for passwords' hashes."""
    if index and index not in _INDEXES:
        raise typer.BadParameter(f"There is no index {index!r}.")
    of = _INDEXES[index] if index else None
    if begins_with and of is not None and of.sort_key is None:
        raise typer.BadParameter(f"{of.name} has no sort key.")
    found = work.table.query(partition, index=of, prefix=begins_with, newest_first=backward, limit=limit)
    return [{name: value for name, value in item.items() if name not in _SECRET} for item in found]
