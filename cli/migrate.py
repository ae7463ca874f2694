"""``btd migrate``: what the first release kept in one item moves to items of its own."""

from __future__ import annotations

import time
from typing import Annotated

import typer
from rich.progress import MofNCompleteColumn

from cli import migrations
from cli.connection import open_table
from cli.decorate import Segments
from cli.output import complain, counted, say, summary
from cli.progress import progress
from cli.start import INTERRUPTED
from shared.dynamodb.tracing import Trace


def migrate(
    segments: Annotated[int, typer.Option(min=1, max=64, help="Parts of the table that are read at once.")] = 4,
) -> None:
    """Bring a table of the first release over, while the site runs; it continues where it was interrupted."""
    table = open_table()
    trace = Trace(detailed=False).attach(table)
    work = Segments(segments, migrations.steps(table, segments))
    with progress("Migrating", table.roughly() or None, MofNCompleteColumn()) as advance:
        interrupted = work.run(advance)
    if not interrupted and work.rewritten:
        time.sleep(migrations.SETTLED)
    dropped = 0 if interrupted else migrations.finish(table)
    say(f"{counted(work.seen, 'item')} looked at, {work.rewritten + dropped:,} moved or split")
    say(summary(trace))
    if interrupted:
        complain("Interrupted. Repeat the command with as many segments: it goes on from here.")
        raise typer.Exit(INTERRUPTED)
