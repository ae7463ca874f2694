"""``btd export``: all items of the table as an SQLite database for analysis, one SQL table for each type of item."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import Enum
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer

from cli.commands import open_table
from cli.output import note, say, show_rows, summary
from features.upkeep.runs import Number, Step, run_steps
from shared import features, hooks
from shared.data import keys
from shared.data.entities import ROWS
from shared.data.entity import Exported
from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import PARTITION_KEY
from shared.dynamodb.table import Table
from shared.dynamodb.tracing import Trace
from shared.errors import DealsError
from shared.models.catalog import Deal
from shared.models.members import Limits, PriceAlert, User, WordsAlert
from shared.models.messages import AboutDeal, Message
from shared.values import times
from shared.values.naming import counted
from shared.values.stored import Attribute, attribute_of

NAMELESS = frozenset(row.type for row in ROWS if row.exported is Exported.WHOLE)
"""Types of items that name no person, except in attributes that their models call personal."""


@dataclass(frozen=True, slots=True)
class Described:
    """A type of items as its models and the features' attributes describe it; ``others`` are attributes without a
    field."""

    models: tuple[type | Attribute, ...]
    others: Mapping[str, type] = field(default_factory=dict)

    def columns(self, *, personal: bool) -> dict[str, str]:
        """The columns' names and declared types."""
        stored = [attribute for model in self.models for attribute in _attributes(model)]
        held = {each.name: each.kind for each in stored if personal or not each.personal}
        return {name: _declared(name, kind) for name, kind in {**held, **self.others}.items()}


DESCRIBED = {
    keys.DEAL: Described((Deal, *chain.from_iterable(each.STORED for each in features.roles(hooks.Fields)))),
    keys.USER: Described((User,)),
    keys.MESSAGE: Described((Message, AboutDeal), {"ReadAt": datetime}),
    keys.PRICE_ALERT: Described((PriceAlert, Limits)),
    keys.WORDS_ALERT: Described((WordsAlert, Limits)),
}
for items in features.roles(hooks.Items):
    for kind, (models, others) in items.DESCRIBED.items():
        known = DESCRIBED.get(kind, Described(()))
        DESCRIBED[kind] = Described((*known.models, *models), {**known.others, **others})

_ABOUT = "_export"
"""The table about the export itself: its source, and each segment's position."""

_UNTYPED = "(no type)"
"""The table of items without a type."""

_JSON = "JSON"
_DECLARED: Mapping[type, str] = {
    str: "TEXT",
    int: "INTEGER",
    bool: "BOOLEAN",
    bytes: "BLOB",
    datetime: "TIMESTAMP",
    set: "TEXTSET",
}
_TEXTS = {"TEXT", "TIMESTAMP"}


class Export:
    """The file of an export, written by several threads. All methods raise sqlite3.Error.

    One transaction writes a page of items and the next page's start, so an interruption loses or doubles nothing.
    ``given`` are facts about a new export: its table, whether it has personal data, its segments. An unfinished export
    has its own (``about``).
    """

    def __init__(self, path: Path, **given: Any) -> None:
        path.touch(mode=0o600)
        self._database = sqlite3.connect(path, check_same_thread=False)
        self._lock = threading.Lock()
        with self._database:
            self._database.execute(f"CREATE TABLE IF NOT EXISTS {_ABOUT} (Name TEXT PRIMARY KEY, Value TEXT)")
            rows = [(name, json.dumps(value)) for name, value in given.items()]
            self._database.executemany(f"INSERT OR IGNORE INTO {_ABOUT} VALUES (?, ?)", rows)  # noqa: S608  # ours
        self._personal = bool(self.about()["personal"])
        self._columns = {name: _columns_of(self._database, name) for name in _tables(self._database)}
        for name, described in DESCRIBED.items():
            self._create(name, described.columns(personal=self._personal))

    def close(self) -> None:
        self._database.close()

    def about(self) -> dict[str, Any]:
        """The facts about the export, and each segment's next page, or None if it is done."""
        with self._lock:
            found = self._database.execute(f"SELECT Name, Value FROM {_ABOUT}").fetchall()  # noqa: S608  # ours
        return {name: json.loads(value) for name, value in found}

    def take(self, items: Iterable[Item], place: str, start: Mapping[str, Any] | None) -> int:
        """Write a page of items, and where its segment continues; returns how many items were written."""
        pages: dict[str, list[Item]] = {}
        for item in items:
            name = str(item.get("Type", _UNTYPED))
            kept = self._kept(name, item)
            if kept:
                pages.setdefault(name, []).append(kept)
        with self._lock, self._database:
            for name, page in pages.items():
                self._write(name, page)
            row = (place, json.dumps(start))
            self._database.execute(f"INSERT OR REPLACE INTO {_ABOUT} VALUES (?, ?)", row)  # noqa: S608  # ours
        return sum(map(len, pages.values()))

    def counts(self) -> dict[str, int]:
        """The number of rows in each table, by name."""
        return _counts(self._database)

    def _kept(self, name: str, item: Item) -> Item:
        """The exported attributes of an item."""
        if self._personal or name in NAMELESS:
            left_out = {"Type"} if self._personal else {"Type", *_personal(name)}
            return {attribute: value for attribute, value in item.items() if attribute not in left_out}
        described = self._columns[name] if name in DESCRIBED else {}
        return {attribute: value for attribute, value in item.items() if attribute in described}

    def _write(self, name: str, items: list[Item]) -> None:
        rows = [{self._column(name, *each): _sql(each[1]) for each in item.items()} for item in items]
        columns = list(self._columns[name])
        insert = f"INSERT INTO {_quoted(name)} ({', '.join(map(_quoted, columns))})"
        values = f"VALUES ({', '.join('?' * len(columns))})"
        self._database.executemany(f"{insert} {values}", [[row.get(column) for column in columns] for row in rows])

    def _column(self, name: str, attribute: str, value: Any) -> str:
        """A value's column; a value of another type than its column's has a column of its own."""
        declared = _declared(attribute, type(value))
        columns = self._columns.get(name, {})
        known = columns.get(attribute, declared)
        if known != declared and not {known, declared} <= _TEXTS:
            attribute = f"{attribute} ({declared})"
        if attribute not in columns:
            self._create(name, {attribute: declared})
        return attribute

    def _create(self, name: str, columns: Mapping[str, str]) -> None:
        """Add columns to a table, and create it if necessary."""
        known = self._columns.setdefault(name, {})
        new = {column: declared for column, declared in columns.items() if column not in known}
        for column, declared in new.items():
            definition = f"{_quoted(column)} {declared}"
            change = f"ALTER TABLE {_quoted(name)} ADD COLUMN" if known else f"CREATE TABLE {_quoted(name)}"
            self._database.execute(f"{change} {definition if known else f'({definition})'}")
            known[column] = declared


def is_export(path: Path) -> bool:
    """Whether a file is an SQLite database: https://www.sqlite.org/fileformat.html."""
    with path.open("rb") as file:
        return file.read(16) == b"SQLite format 3\0"


@dataclass(frozen=True, slots=True)
class Readable:
    """A finished export to import: its number of items, and its tables without keys."""

    path: Path
    count: int
    keyless: tuple[str, ...]

    @classmethod
    def of(cls, path: Path) -> Readable:
        """Open an export. Raises sqlite3.Error, and ValueError for another database."""
        with closing(_read_only(path)) as database:
            if not _columns_of(database, _ABOUT):
                raise ValueError("btd export did not write it")
            counts = {name: number for name, number in _counts(database).items() if number}
            keyless = tuple(name for name in counts if PARTITION_KEY not in _columns_of(database, name))
        return cls(path, sum(number for name, number in counts.items() if name not in keyless), keyless)

    def items(self) -> Iterator[Item]:
        """The items as they were in the table. Raises sqlite3.Error."""
        with closing(_read_only(self.path)) as database:
            for name in _tables(database):
                if name in self.keyless:
                    continue
                columns = _columns_of(database, name)
                for row in database.execute(f"SELECT * FROM {_quoted(name)}"):  # noqa: S608  # quoted
                    known = {} if name == _UNTYPED else {"Type": name}
                    yield known | {
                        column.partition(" (")[0]: _python(value, declared)
                        for (column, declared), value in zip(columns.items(), row, strict=True)
                        if value is not None
                    }


def _read_only(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)


def _tables(database: sqlite3.Connection) -> list[str]:
    found = database.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name != ?", (_ABOUT,))
    return sorted(name for (name,) in found)


def _counts(database: sqlite3.Connection) -> dict[str, int]:
    count = "SELECT count(*) FROM {}"
    return {name: database.execute(count.format(_quoted(name))).fetchone()[0] for name in _tables(database)}


def _columns_of(database: sqlite3.Connection, name: str) -> dict[str, str]:
    return {row[1]: row[2] for row in database.execute(f"PRAGMA table_info({_quoted(name)})")}


def _attributes(model: Any) -> Iterator[Attribute]:
    return iter([model]) if isinstance(model, Attribute) else filter(None, map(attribute_of, fields(model)))


def _personal(name: str) -> set[str]:
    """The personal attributes of an item type."""
    models = DESCRIBED[name].models if name in DESCRIBED else ()
    return {each.name for model in models for each in _attributes(model) if each.personal}


def _declared(name: str, kind: type) -> str:
    """The declared type of an attribute's column: texts are times if the name says so, which is reliable."""
    if issubclass(kind, str | Enum):
        return "TIMESTAMP" if name.endswith("At") else "TEXT"
    return _DECLARED.get(kind, _JSON)


def _sql(value: Any) -> Any:
    """A value for SQLite: maps, lists and sets become JSON, in which fractions (never written by us) are text.

    Maps are sorted, because DynamoDB's have no order, so that two exports of an item are equal.
    """
    if value is None or isinstance(value, str | int | bytes):
        return value
    if isinstance(value, set):
        value = sorted(value)
    return json.dumps(value, ensure_ascii=False, default=str, sort_keys=True)


def _python(value: Any, declared: str) -> Any:
    match declared:
        case "BOOLEAN":
            return bool(value)
        case "JSON":
            return json.loads(value)
        case "TEXTSET":
            return set(json.loads(value))
    return value


def _quoted(name: str) -> str:
    """A name quoted for SQL."""
    return '"' + name.replace('"', '""') + '"'


FILE = "big-time-deals.sqlite"
UNFINISHED = f"{FILE}.part"

PAGE = 1000
"""The most items in one request of the scan, which also reads at most 1 MB."""

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
    **{title: query for each in features.roles(hooks.Items) for title, (query, _) in each.QUERIES.items()},
}
"""Queries to start with, by the question they answer, for SQLite and DuckDB."""

Personal = Annotated[
    bool, typer.Option("--personal", help="Include names, addresses, hashes and sessions: everything in the table.")
]


def export(
    folder: Annotated[Path, typer.Argument(metavar="DIR", file_okay=False, help="A new or empty folder.")],
    personal: Personal = False,
    segments: Number = 4,
) -> None:
    """Export all items to an SQLite database, without personal data. An interrupted export resumes where it stopped."""
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
    """Continue the export; returns the rows of each table. Raises KeyboardInterrupt."""
    written = Export(path, table=table.name, personal=personal, segments=segments, began=times.to_iso(times.now()))
    try:
        about = written.about()
        if (about["table"], about["personal"]) != (table.name, personal):
            of = f"{about['table']} {'with' if about['personal'] else 'without'} personal data"
            raise DealsError(f"{path.parent} has an unfinished export of {of}: nothing was exported.")
        begun = sum(written.counts().values())
        _, interrupted = run_steps(
            "Exporting", table, about["segments"], lambda number: steps(table, written, number), begun=begun
        )
        if interrupted:
            raise KeyboardInterrupt("Run the command again to continue.")
        return written.counts()
    finally:
        written.close()


def steps(table: Table, written: Export, segment: int) -> Iterator[Step]:
    """Export one segment page by page, from where the last run stopped."""
    about, place = written.about(), f"segment {segment}"
    start = about.get(place)
    if place in about and start is None:
        return  # it is done
    while True:
        items, start = table.scan(segment=segment, segments=about["segments"], start=start, limit=PAGE)
        yield Step(len(items), written.take(items, place, start))
        if start is None:
            return
