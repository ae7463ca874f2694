"""``btd import``: deals from JSON Lines (``importing.py``).

Other features may read other files (``IMPORTED``), or put a command in place of this one that reads more and does more
to existing deals (``REPLACES``), with an ``Importer`` of its own.
"""

from __future__ import annotations

import itertools
import os
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from stat import S_ISREG
from typing import Annotated, BinaryIO, Protocol

import typer
from rich.progress import DownloadColumn

from cli.commands import open_table
from cli.output import complain, note, progress, say, summary
from features.imports.importing import WORKERS, Advance, Importer, Report
from local.cloud import in_words, running, waiting
from local.settings import Home
from shared import features, hooks
from shared.dynamodb.table import Table
from shared.dynamodb.tracing import Trace
from shared.errors import DealsError
from shared.values import times
from shared.values.naming import counted

SHOWN_BAD_LINES = 100

AGAIN = "Run the import again to continue."


class Making(Protocol):
    """Makes an importer, such as ``Importer`` itself."""

    def __call__(self, table: Table, now: datetime, /, *, workers: int, advance: Advance) -> Importer: ...


Workers = Annotated[int, typer.Option(min=1, max=32, help="The number of transactions in parallel.")]


def import_(
    file: Annotated[typer.FileBinaryRead, typer.Argument(help="JSON Lines, a deal each; - reads standard input.")],
    workers: Workers = WORKERS,
) -> None:
    """Import deals. A repeat creates nothing twice. Bad records are reported at the end."""
    if not import_other(file):
        import_records(file, Importer, workers)


def import_other(file: BinaryIO) -> bool:
    """Import a file of another kind, if it is one."""
    path = Path(getattr(file, "name", "-"))
    kinds = itertools.chain.from_iterable(each.IMPORTED for each in features.roles(hooks.Commands))
    kind = next((kind for kind in kinds if path.is_file() and kind.recognises(path)), None)
    if kind is not None:
        kind.read(path)
    return kind is not None


def import_records(file: BinaryIO, make: Making, workers: int) -> None:
    """Import a file's records into the open table, and print what was done. Raises DealsError, typer.Exit,
    KeyboardInterrupt."""
    table = open_table()
    trace = Trace(detailed=False).attach(table)
    began = time.monotonic()
    interrupted, failure = False, None
    with progress("Importing", _size(file), DownloadColumn()) as advance:
        before = signal.signal(signal.SIGTERM, _interrupt)
        importer = make(table, times.now(), workers=workers, advance=advance)
        try:
            importer.run(file)
        except KeyboardInterrupt:
            interrupted = True
        except DealsError as error:
            failure = error
        finally:
            signal.signal(signal.SIGTERM, before)
    _print_report(importer.report, trace, time.monotonic() - began)
    if failure is not None:
        raise DealsError(f"Stopped: {str(failure).rstrip('.')}. {AGAIN}") from failure
    if interrupted:
        raise KeyboardInterrupt(AGAIN)
    if importer.report.stopped:
        raise DealsError(importer.report.stopped)
    if importer.report.refused or importer.report.bad:
        raise typer.Exit(1)


def _interrupt(*_: object) -> None:
    """End like Ctrl-C: finish and count running work."""
    raise KeyboardInterrupt


def _print_report(report: Report, trace: Trace, seconds: float) -> None:
    for sentence in report.sentences():
        say(sentence)
    say(f"{summary(trace)}, {seconds:.1f} s")
    behind = _still_to_do()
    if behind:
        note(f"Search, pages and messages follow: functions still have {behind} (make status)")
    _print_bad(report.bad_lines())
    if report.refused:
        complain(report.refused)


def _still_to_do() -> str:
    """The local cloud's outstanding work after a write, in words; empty on AWS, which doesn't report it."""
    cloud = None if os.environ.get("BTD_TABLE") else running(Home())
    with suppress(OSError, ValueError):
        return in_words(waiting(Home(), cloud)) if cloud else ""
    return ""


def _print_bad(shown: Sequence[str]) -> None:
    for text in shown[:SHOWN_BAD_LINES]:
        complain(text)
    if len(shown) > SHOWN_BAD_LINES:
        note(f"and {counted(len(shown) - SHOWN_BAD_LINES, 'bad line')} more")


def _size(file: BinaryIO) -> int | None:
    """A file's size in bytes, or None for a stream."""
    status = os.fstat(file.fileno())
    return status.st_size if S_ISREG(status.st_mode) else None


COMMANDS = (import_,)
