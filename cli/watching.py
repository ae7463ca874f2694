"""One command's work on the table: it prints items, and then the requests it made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

import typer

from cli.connection import open_table
from cli.output import show_json, show_trace
from shared.dynamodb.table import Table
from shared.dynamodb.tracing import Trace
from shared.http.parameters import MAX_PAGE
from shared.values import times

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document, for other programs.")]
Limit = Annotated[int, typer.Option(min=1, max=MAX_PAGE, help="Items a page has at most.")]
Cursor = Annotated[str | None, typer.Option(help="Where the page starts: the last page's next.")]

View = Callable[[Any], None]


@dataclass(slots=True)
class Work:
    """A command under way: its table, its time, and what it has to say (``answer``), in the API's own JSON."""

    table: Table
    now: datetime
    document: Any = None
    view: View | None = None

    def answer(self, document: Any, view: View) -> None:
        """Say this, as JSON or as ``view`` draws it."""
        self.document, self.view = document, view


@contextmanager
def at_work(as_json: bool) -> Iterator[Work]:
    """Connect, do the block's work, and print its answer and its requests - the requests also where it was refused."""
    table = open_table()
    trace = Trace().attach(table)
    work = Work(table, times.now())
    try:
        yield work
    finally:
        _print(work, trace, as_json)


def _print(work: Work, trace: Trace, as_json: bool) -> None:
    if as_json:
        show_json(
            {
                "result": work.document,
                "requests": [request.to_json() for request in trace.requests],
                "capacity": trace.capacity.to_json(),
            }
        )
        return
    if work.view is not None:
        work.view(work.document)
    show_trace(trace)
