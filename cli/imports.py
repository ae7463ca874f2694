"""``btd import``: deals from a shop's feed or from JSON Lines, or an export of ``btd export``."""

from __future__ import annotations

import itertools
import os
import signal
import sqlite3
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from stat import S_ISREG
from typing import Annotated, BinaryIO

import typer
from rich.progress import DownloadColumn

from cli.exports import Readable, is_export
from cli.feeds import Format, Shop, records, template
from cli.feeds import categories as read_categories
from cli.importer import WORKERS, Importer, Report
from cli.output import complain, note, progress, say, summary
from cli.work import open_table, still_to_do
from shared.data import bulk
from shared.dynamodb.tracing import Trace
from shared.errors import DealsError, Invalid
from shared.values import money, times
from shared.values.naming import counted

SHOWN_BAD_LINES = 100

SHOWN_ALIKE = 3
"""Bad lines of one reason that are named one by one."""

AGAIN = "Run the import again to continue."

TOGETHER = 1000
"""Items of an export that are in memory at a time."""


def _currency(text: str) -> str:
    if text.upper() not in money.currencies():
        raise typer.BadParameter("must be a currency's code, such as EUR")
    return text.upper()


def import_deals(
    file: Annotated[typer.FileBinaryRead, typer.Argument(help="The file, or an export; - reads standard input.")],
    form: Annotated[Format, typer.Option("--format", help="The file's format; auto takes it from the file.")] = (
        Format.AUTO
    ),
    source: Annotated[str, typer.Option(metavar="NAME", help="The shop's name, which ids are unique in.")] = "",
    shop: Annotated[str, typer.Option(metavar="ADDRESS", help="The shop's address, for a Shopify export.")] = "",
    currency: Annotated[str, typer.Option(parser=_currency, help="The currency of amounts without one.")] = "USD",
    categories: Annotated[
        Path | None, typer.Option(metavar="MAP", help="A map of categories to ours, in TOML.")
    ] = None,
    suggest_categories: Annotated[
        Path | None,
        typer.Option(metavar="MAP", help="Write a map of the categories that have none, and import nothing."),
    ] = None,
    update: Annotated[bool, typer.Option("--update", help="Change deals that exist to what the file has.")] = False,
    end_missing: Annotated[
        bool, typer.Option("--end-missing", help="End deals of --source that the file no longer has.")
    ] = False,
    workers: Annotated[int, typer.Option(min=1, max=32, help="Transactions at once.")] = WORKERS,
) -> None:
    """Import deals from a shop's feed, or an export's items. Repeating it creates nothing twice; bad records are
    reported at the end."""
    if end_missing and not source:
        raise typer.BadParameter("needs --source, the shop whose deals it may end", param_hint="--end-missing")
    if (path := Path(getattr(file, "name", "-"))).is_file() and is_export(path):
        _restore(path)
        return
    of = Shop(source, shop, currency, read_categories(categories) if categories else {})
    if suggest_categories is not None:
        _suggest(file, of, form, suggest_categories)
        return
    table = open_table()
    trace = Trace(detailed=False).attach(table)
    began = time.monotonic()
    interrupted, failure = False, None
    with progress("Importing", _size(file), DownloadColumn()) as advance:
        before = signal.signal(signal.SIGTERM, _interrupt)
        importer = Importer(
            table,
            times.now(),
            shop=of,
            form=form,
            update=update,
            end_missing=end_missing,
            workers=workers,
            advance=advance,
        )
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
    if importer.report.bad:
        raise typer.Exit(1)


def _suggest(file: BinaryIO, shop: Shop, form: Format, path: Path) -> None:
    """Write a map of the file's categories. Raises Invalid where the map's file exists, WrongFile."""
    if path.exists():
        raise Invalid(f"{path} exists: name another file, or add to that one.")
    read = sum(1 for _ in records(file, shop, form, times.now()))
    path.write_text(template(shop.unknown), encoding="utf-8")
    say(f"{path}: {counted(len(shop.unknown), 'name')} of categories in {counted(read, 'record')}")
    note(f"Fill it in and import with --categories {path}.")


def _interrupt(*_: object) -> None:
    """End as Ctrl-C does: what is under way is finished and counted."""
    raise KeyboardInterrupt


def _print_report(report: Report, trace: Trace, seconds: float) -> None:
    created = counted(report.created, "deal") + " created"
    if report.created_withdrawn:
        created += f" ({report.created_withdrawn:,} of them withdrawn since)"
    say(created)
    say(f"{counted(report.existing, 'deal')} already there")
    say(f"{counted(report.withdrawn, 'deal')} of those withdrawn now")
    for done in ("updated", "ended"):
        if number := getattr(report, done):
            say(f"{counted(number, 'deal')} {done}")
    for why, number in report.left_out.items():
        say(f"{counted(number, 'record')} left out: {why}")
    say(f"{counted(report.brands, 'brand')} created")
    say(f"{counted(len(report.bad), 'bad line')}")
    say(f"{summary(trace)}, {seconds:.1f} s")
    behind = still_to_do()
    if behind:
        note(f"Search, pages and messages follow: functions still have {behind} (make status)")
    _print_bad(report.bad)


def _print_bad(bad: Mapping[int, str]) -> None:
    """Name the lines that were not imported, and why: of a reason that many lines share, the first of them."""
    many = {reason: number for reason, number in Counter(bad.values()).items() if number > SHOWN_ALIKE}
    shown: dict[str, str] = {}
    for number, reason in sorted(bad.items()):
        if reason in many:
            shown.setdefault(reason, f"line {number} and {many[reason] - 1:,} more: {reason}")
        else:
            shown[str(number)] = f"line {number}: {reason}"
    for text in itertools.islice(shown.values(), SHOWN_BAD_LINES):
        complain(text)
    if len(shown) > SHOWN_BAD_LINES:
        note(f"and {counted(len(shown) - SHOWN_BAD_LINES, 'bad line')} more")


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
        note(f"Not imported, for they have no keys: {', '.join(export.keyless)}.")
        note("What is counted of them, btd check --mend counts anew.")
