"""``btd import`` of a file that ``btd export`` wrote: its items as they were, except those that exist."""

from __future__ import annotations

import itertools
import sqlite3
from pathlib import Path

from cli.commands import open_table
from cli.output import note, progress, say, summary
from features.imports.commands import AGAIN
from features.operations.exports import Readable
from shared.data import bulk
from shared.dynamodb.tracing import Trace
from shared.errors import DealsError
from shared.values.naming import counted

TOGETHER = 1000
"""Items of an export in memory at a time."""


def restore(path: Path) -> None:
    """Import an export: write its items, except those that exist."""
    table = open_table()
    trace = Trace(detailed=False).attach(table)
    done = new = 0
    interrupted = False
    try:
        export = Readable.of(path)
        items = export.items()
        with progress("Importing", export.count) as advance:
            while some := list(itertools.islice(items, TOGETHER)):
                new += bulk.insert(table, some)
                done += len(some)
                advance(len(some))
    except KeyboardInterrupt:
        interrupted = True
    except (sqlite3.Error, ValueError) as error:
        raise DealsError(f"{path} is not a readable export: {error}.") from error
    say(f"{counted(new, 'item')} created")
    say(f"{counted(done - new, 'item')} already there, and left as they were")
    say(summary(trace))
    if interrupted:
        raise KeyboardInterrupt(AGAIN)
    if export.keyless:
        note(f"Not imported, because they have no keys: {', '.join(export.keyless)}.")
        note("Afterwards, btd check --mend corrects their counts.")
