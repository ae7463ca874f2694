"""``btd import`` of an export: its items go into a table as they are; those that are there already stay."""

from __future__ import annotations

import itertools
import sqlite3
from pathlib import Path

import typer
from rich.progress import MofNCompleteColumn

from cli.connection import open_table
from cli.exits import INTERRUPTED
from cli.exported import Readable
from cli.output import complain, note, say, summary
from cli.progress import progress
from shared.data import inserts
from shared.dynamodb.tracing import Trace
from shared.values.counts import counted

TOGETHER = 1000
"""Items in memory at a time."""


def restore(path: Path) -> None:
    """Import an export. Raises NoTable, Busy, Unavailable; typer.Exit where the file cannot be read, or on Ctrl-C."""
    table = open_table()
    trace = Trace(detailed=False).attach(table)
    done = new = 0
    interrupted = False
    try:
        export = Readable.of(path)
        items = export.items()
        with progress("Importing", export.count, MofNCompleteColumn()) as advance:
            while some := list(itertools.islice(items, TOGETHER)):
                new += inserts.insert(table, some)
                done += len(some)
                advance(len(some))
    except KeyboardInterrupt:
        interrupted = True
    except (sqlite3.Error, ValueError) as error:
        complain(f"{path} is no export that can be read: {error}.")
        raise typer.Exit(1) from error
    say(f"{counted(new, 'item')} created")
    say(f"{counted(done - new, 'item')} already there, and left as they were")
    say(summary(trace))
    if interrupted:
        complain("Interrupted. Repeat the import: it goes on from here.")
        raise typer.Exit(INTERRUPTED)
    if export.keyless:
        note(f"Not imported, for they have no keys: {', '.join(export.keyless)}.")
        note("What is counted of them, btd check --mend counts anew.")
