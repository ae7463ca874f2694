"""``btd export``: all items of the table as a database for analysis, one SQL table for each type."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from cli.connection import open_table
from cli.exported import Export
from cli.output import note, say, show_rows, summary
from cli.segments import Number, Step, run
from shared.dynamodb.table import Table
from shared.dynamodb.tracing import Trace
from shared.errors import DealsError
from shared.values import times
from shared.values.naming import counted

FILE = "big-time-deals.sqlite"
UNFINISHED = f"{FILE}.part"

PAGE = 1000
"""Items that one request of the scan reads at most; one reads 1 MB at most, too."""

QUERIES = {
    "Discounts by brand": """
SELECT BrandName, count(*) AS Deals,
       round(avg(100 - 100.0 * CAST(Price AS REAL) / CAST(ListPrice AS REAL)), 1) AS PercentOff
FROM Deal
WHERE WithdrawnAt IS NULL AND CAST(ListPrice AS REAL) > 0
GROUP BY BrandName
ORDER BY PercentOff DESC, BrandName
LIMIT 10;""",
    "Messages read": """
SELECT Kind, count(*) AS Sent, count(ReadAt) AS Opened, round(100.0 * count(ReadAt) / count(*), 1) AS Percent
FROM Message
GROUP BY Kind
ORDER BY Sent DESC, Kind;""",
    "Orders a day": """
SELECT substr(CAST(PlacedAt AS TEXT), 1, 10) AS Day, count(*) AS Orders, sum(Pieces) AS Pieces
FROM (SELECT PlacedAt, Pieces FROM "Order" UNION ALL SELECT PlacedAt, Pieces FROM Sale) AS Placed
GROUP BY Day
ORDER BY Day;""",
}
"""Queries to begin with, by what they tell. SQLite and DuckDB both understand them."""

Personal = Annotated[
    bool, typer.Option("--personal", help="Names, addresses, hashes and sessions, too: all that the table holds.")
]


def export(
    folder: Annotated[Path, typer.Argument(metavar="DIR", file_okay=False, help="A new or empty folder.")],
    personal: Personal = False,
    segments: Number = 4,
) -> None:
    """Write all items into a database, without personal data; an interrupted export goes on where it stopped."""
    unfinished = folder / UNFINISHED
    if folder.exists() and any(folder.iterdir()) and not unfinished.exists():
        raise DealsError(f"{folder} is not empty: nothing was exported.")
    table = open_table()
    trace = Trace(detailed=False).attach(table)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        counts = _write(table, unfinished, personal, segments)
        unfinished.rename(folder / FILE)
    except (OSError, sqlite3.Error) as error:
        raise DealsError(f"The export stopped: {error}.") from error
    show_rows(("Table", "Rows"), sorted((name, f"{rows:,}") for name, rows in counts.items() if rows))
    say(f"{counted(sum(counts.values()), 'item')} exported to {folder / FILE}")
    say(summary(trace))
    if not personal:
        note("Personal data was left out; --personal writes it, too.")
    say(f"\nFor DuckDB (duckdb {folder / FILE}) or sqlite3, to begin with:")
    for title, query in QUERIES.items():
        say(f"\n-- {title}{query}")


def _write(table: Table, path: Path, personal: bool, segments: int) -> dict[str, int]:
    """Write what is not written yet; returns the rows of each table. Raises KeyboardInterrupt."""
    written = Export(path, table=table.name, personal=personal, segments=segments, began=times.to_iso(times.now()))
    try:
        about = written.about()
        if (about["table"], about["personal"]) != (table.name, personal):
            of = f"{about['table']} {'with' if about['personal'] else 'without'} personal data"
            raise DealsError(f"{path.parent} has an unfinished export of {of}: nothing was exported.")
        begun = sum(written.counts().values())
        _, interrupted = run(
            "Exporting", table, about["segments"], lambda number: steps(table, written, number), begun=begun
        )
        if interrupted:
            raise KeyboardInterrupt("Run the command again to continue.")
        return written.counts()
    finally:
        written.close()


def steps(table: Table, written: Export, segment: int) -> Iterator[Step]:
    """Export one segment, one page at a step, from where the last run stopped."""
    about, place = written.about(), f"segment {segment}"
    start = about.get(place)
    if place in about and start is None:
        return  # it is done
    while True:
        items, start = table.scan(segment=segment, segments=about["segments"], start=start, limit=PAGE)
        yield Step(len(items), written.take(items, place, start))
        if start is None:
            return
