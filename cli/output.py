"""How commands speak: items and requests on standard output, all else on standard error.

Text of items is printed as it is: nothing in it is read as markup, and nothing unprintable reaches the terminal.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rich import progress as bars
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from shared.dynamodb.capacity import Capacity, meanings
from shared.dynamodb.tracing import Trace
from shared.values.naming import counted

SHOWN_KEYS = 6
"""Keys of one request that are printed; ``--json`` has all of them."""

PLAIN_WIDTH = 200
"""Columns where no terminal says how many it has, as in a pipe."""


def note(text: str) -> None:
    """Print a remark, on standard error."""
    _console(stderr=True).print(Text(printable(text), style="dim"), soft_wrap=True)


def say(text: str) -> None:
    """Print a result on standard output."""
    _console().print(Text(printable(text)), soft_wrap=True)


def complain(text: str) -> None:
    """Say what went wrong, in one line on standard error, if anything is to be said."""
    if text:
        _console(stderr=True).print(Text(printable(" ".join(text.split()))), soft_wrap=True)


def printable(text: str) -> str:
    """A text without what a terminal might obey; line breaks stay."""
    return "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text)


def _escaped(text: str) -> str:
    """JSON text with its unprintable characters written as JSON's own escapes."""
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)


def show_rows(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Rows under headings."""
    grid = Grid(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in columns:
        grid.add_column(column, overflow="fold")
    for row in rows:
        grid.add_row(*(Text(printable(cell(value))) for value in row))
    if grid.row_count:
        _console().print(grid)
    else:
        say("none")


def show_json(document: Any) -> None:
    """A document as JSON, with escapes for what a terminal might obey: the same document, printable as it is."""
    sys.stdout.write(_escaped(json.dumps(document, ensure_ascii=False, indent=2)) + "\n")


def show_trace(trace: Trace) -> None:
    """The requests made: operation, index, keys, and the capacity each consumed; then their sum."""
    rows = []
    for number, request in enumerate(trace.requests, start=1):
        operation = request.operation + (f" ({request.refused})" if request.refused else "")
        more = [f"and {len(request.keys) - SHOWN_KEYS} more"] if len(request.keys) > SHOWN_KEYS else []
        keys = "\n".join([*request.keys[:SHOWN_KEYS], *more])
        rows.append((number, operation, request.index, keys, _capacity(request.capacity, request.by_index)))
    if rows:
        show_rows(["No.", "Request", "Index", "Key", "Capacity"], rows)
    say(summary(trace))
    for sentence in meanings(request.capacity for request in trace.requests):
        say(sentence)


def summary(trace: Trace) -> str:
    """How many requests were made, and what they consumed."""
    unsaid = f" ({counted(trace.silent, 'answer')} without a figure)" if trace.silent else ""
    return f"{counted(trace.count, 'request')}, {trace.capacity} consumed{unsaid}"


@contextmanager
def progress(doing: str, total: int | None, *amount: bars.ProgressColumn) -> Iterator[Callable[[int], None]]:
    """A bar on standard error while something is done, advanced by what this gives; nothing where nobody would see it.

    ``total`` is None where it is not known; ``amount`` shows how much is done, where that is not a number of items.
    """
    console = Console(stderr=True)
    left = bars.TimeRemainingColumn(elapsed_when_finished=True)
    done = (bars.TaskProgressColumn(), *(amount or (bars.MofNCompleteColumn(),)), left)
    columns = (bars.TextColumn(doing), bars.BarColumn(), *done)
    with bars.Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as bar:
        task = bar.add_task(doing, total=total)
        yield lambda done: bar.advance(task, done)


def cell(value: Any) -> str:
    """A value as a cell shows it."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case {"name": name}:
            return str(name)
        case dict():
            return ", ".join(f"{name} {cell(each)}" for name, each in value.items() if each is not None)
        case list() | tuple():
            several = any(isinstance(each, dict) and "name" not in each for each in value)
            return ("; " if several else ", ").join(map(cell, value))
    return str(value)


def _capacity(total: Capacity | None, by_index: Mapping[str, Capacity]) -> str:
    """The total, and where a write fed indexes too, what each took."""
    if total is None:
        return "not reported"
    taken = [f"{name} {units}" for name, units in by_index.items() if units != Capacity()]
    return f"{total}\n{', '.join(taken)}" if len(taken) > 1 else str(total)


def _console(*, stderr: bool = False) -> Console:
    # Made again each time: the streams may have been replaced since, as by a test.
    console = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = PLAIN_WIDTH
    return console
