"""``btd import``: deals from JSON Lines, or an export of ``btd export``."""

from __future__ import annotations

import itertools
import os
import signal
import sqlite3
import time
from pathlib import Path
from stat import S_ISREG
from typing import Annotated, BinaryIO

import typer
from rich.progress import DownloadColumn

from cli.connection import open_table, still_to_do
from cli.exported import Readable, is_export
from cli.importer import WORKERS, Importer, Report
from cli.output import complain, note, progress, say, summary
from shared.data import inserts
from shared.dynamodb.tracing import Trace
from shared.errors import DealsError
from shared.values import times
from shared.values.counts import counted

SHOWN_BAD_LINES = 100
AGAIN = "Repeat the import: it goes on from here."

TOGETHER = 1000
"""Items of an export that are in memory at a time."""


def import_deals(
    file: Annotated[typer.FileBinaryRead, typer.Argument(help="JSON Lines, or an export; - reads standard input.")],
    workers: Annotated[int, typer.Option(min=1, max=32, help="Transactions at once.")] = WORKERS,
) -> None:
    """Import deals, or an export's items. Repeating it creates nothing twice; bad lines are reported at the end."""
    if (path := Path(getattr(file, "name", "-"))).is_file() and is_export(path):
        _restore(path)
        return
    table = open_table()
    trace = Trace(detailed=False).attach(table)
    began = time.monotonic()
    interrupted, failure = False, None
    with progress("Importing", _size(file), DownloadColumn()) as advance:
        before = signal.signal(signal.SIGTERM, _interrupt)
        importer = Importer(table, times.now(), workers=workers, advance=advance)
        try:
            importer.run(file)
        except KeyboardInterrupt:
            interrupted = True
        except DealsError as error:
            failure = error
        finally:
            signal.signal(signal.SIGTERM, before)
    _tell(importer.report, trace, time.monotonic() - began)
    if failure is not None:
        raise DealsError(f"Stopped: {str(failure).rstrip('.')}. {AGAIN}") from failure
    if interrupted:
        raise KeyboardInterrupt(AGAIN)
    if importer.report.bad:
        raise typer.Exit(1)


def _interrupt(*_: object) -> None:
    """End as Ctrl-C does: what is under way is finished and counted."""
    raise KeyboardInterrupt


def _tell(report: Report, trace: Trace, seconds: float) -> None:
    created = counted(report.created, "deal") + " created"
    if report.created_withdrawn:
        created += f" ({report.created_withdrawn:,} of them withdrawn since)"
    say(created)
    say(f"{counted(report.existing, 'deal')} already there")
    say(f"{counted(report.withdrawn, 'deal')} of those withdrawn now")
    say(f"{counted(report.brands, 'brand')} created")
    say(f"{counted(len(report.bad), 'bad line')}")
    say(f"{summary(trace)}, {seconds:.1f} s")
    behind = still_to_do()
    if behind:
        note(f"Search, pages and messages follow: functions still have {behind} (make status)")
    for number, reason in sorted(report.bad.items())[:SHOWN_BAD_LINES]:
        complain(f"line {number}: {reason}")
    if len(report.bad) > SHOWN_BAD_LINES:
        note(f"and {counted(len(report.bad) - SHOWN_BAD_LINES, 'bad line')} more")


def _size(file: BinaryIO) -> int | None:
    """A file's size in bytes, or None for a stream."""
    status = os.fstat(file.fileno())
    return status.st_size if S_ISREG(status.st_mode) else None


def _restore(path: Path) -> None:
    """Import an export: its items go into the table as they are, and those that are there already stay."""
    table = open_table()
    trace = Trace(detailed=False).attach(table)
    done = new = 0
    interrupted = False
    try:
        export = Readable.of(path)
        items = export.items()
        with progress("Importing", export.count) as advance:
            while some := list(itertools.islice(items, TOGETHER)):
                new += inserts.insert(table, some)
                done += len(some)
                advance(len(some))
    except KeyboardInterrupt:
        interrupted = True
    except (sqlite3.Error, ValueError) as error:
        raise DealsError(f"{path} is no export that can be read: {error}.") from error
    say(f"{counted(new, 'item')} created")
    say(f"{counted(done - new, 'item')} already there, and left as they were")
    say(summary(trace))
    if interrupted:
        raise KeyboardInterrupt(AGAIN)
    if export.keyless:
        note(f"Not imported, for they have no keys: {', '.join(export.keyless)}.")
        note("What is counted of them, btd check --mend counts anew.")
