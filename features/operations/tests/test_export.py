"""``btd export`` on a table with everything that happens on a first morning, and ``btd import`` of what it writes."""

from __future__ import annotations

import re
import shlex
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from features.operations import exports
from features.operations.exports import NAMELESS, Export, Readable
from shared.data.entities import ROWS
from shared.data.entity import Exported
from shared.dynamodb.attributes import Item
from shared.dynamodb.table import Table
from tests.cli.conftest import Btd, btd, name_in_environment, wide_terminal  # noqa: F401  # fixtures
from tests.support import recipes
from tests.support.cases import cases_by_name
from tests.support.engines import FAST_SERVER
from tools import workbench

DESCRIBED = {row.type for row in ROWS if row.exported is Exported.DESCRIBED}
"""Types whose items are exported without keys unless personal data is asked for."""

PERSONAL = re.compile(
    r"(?<![\w-])(ana|bo|cy)(?![\w-])|@mail|argon2|Harbour|203\.0\.113\.|4c9f1f0e|81d2a7c3|f03b6e95", re.IGNORECASE
)
"""The readers' names, addresses, passwords, networks and account ids."""


@pytest.fixture(scope="module")
def filled() -> Iterator[Table]:
    """A table that these tests only read."""
    with FAST_SERVER.table() as table:
        workbench.fill(table)
        yield table


@pytest.fixture
def table(filled: Table, monkeypatch: pytest.MonkeyPatch) -> Table:
    name_in_environment(monkeypatch, filled)
    return filled


@pytest.fixture
def empty() -> Iterator[Table]:
    """A table that ``name_in_environment`` can turn the commands to."""
    with FAST_SERVER.bare_table() as bare:
        yield bare


def items_of(table: Table) -> list[Item]:
    return sorted(table.everything(), key=lambda item: (item["PK"], item["SK"]))


def rows_of(folder: Path) -> dict[str, list[dict[str, Any]]]:
    with closing(sqlite3.connect(folder / exports.FILE)) as database:
        database.row_factory = sqlite3.Row
        names = database.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name != '_export'").fetchall()
        tables = {name: map(dict, database.execute(f'SELECT * FROM "{name}"')) for (name,) in names}
        return {name: sorted(rows, key=lambda row: str(sorted(row.items()))) for name, rows in tables.items()}


def personal_cells(folder: Path) -> list[str]:
    cells = [str(cell) for rows in rows_of(folder).values() for row in rows for cell in row.values()]
    return [cell for cell in cells if PERSONAL.search(cell)]


def test_a_whole_export_imported_elsewhere_gives_the_same_table(
    table: Table, btd: Btd, empty: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    btd("export", str(tmp_path), "--personal")
    name_in_environment(monkeypatch, empty)

    first = btd("import", str(tmp_path / exports.FILE))
    second = btd("import", str(tmp_path / exports.FILE))

    items = items_of(table)
    assert items_of(empty) == items
    assert first.stdout.startswith(f"{len(items)} items created\n0 items already there")
    assert second.stdout.startswith(f"0 items created\n{len(items)} items already there")


def test_an_export_has_no_personal_data_unless_it_is_asked_to(table: Table, btd: Btd, tmp_path: Path) -> None:
    asked, unasked = tmp_path / "asked", tmp_path / "unasked"

    btd("export", str(asked), "--personal")
    told = btd("export", str(unasked))

    assert personal_cells(asked)
    assert personal_cells(unasked) == []
    assert "--personal" in told.stderr
    kept = {name for name, rows in rows_of(unasked).items() if rows}
    assert {"User", "Message"} <= kept <= NAMELESS | DESCRIBED
    read = [row["Kind"] for row in rows_of(unasked)["Message"] if row["ReadAt"]]
    assert read == ["brand"] * len(workbench.READERS)


def test_what_names_no_person_can_be_imported_without_the_rest(
    table: Table, btd: Btd, empty: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    btd("export", str(tmp_path))
    name_in_environment(monkeypatch, empty)

    told = btd("import", str(tmp_path / exports.FILE))

    nameless = [item for item in items_of(table) if item["Type"] in NAMELESS]
    assert items_of(empty) == [{name: item[name] for name in item if name != "EditedBy"} for item in nameless]
    without_keys = sorted({str(item["Type"]) for item in items_of(table)} & DESCRIBED)
    assert f"they have no keys: {', '.join(without_keys)}." in told.stderr


def test_the_queries_that_it_prints_run_and_show_what_happened(table: Table, btd: Btd, tmp_path: Path) -> None:
    printed = btd("export", str(tmp_path)).stdout

    queries = dict(re.findall(r"^-- (.+)\n(SELECT[^;]+;)", printed, re.MULTILINE))

    with closing(sqlite3.connect(tmp_path / exports.FILE)) as database:
        answers = {title: database.execute(query).fetchall() for title, query in queries.items()}
    of_features = cases_by_name("QUERIED")
    # Each of three readers was told of three deals and has read of one. Features send messages of other kinds.
    assert answers["Messages read"][0] == ("brand", 9, 3, 33.3)
    assert sum(row[1] for row in answers["Messages read"]) == sum(item["Type"] == "Message" for item in items_of(table))
    assert {title: answers[title] for title in of_features} == {title: rows for title, (rows, _) in of_features.items()}
    off: dict[str, list[float]] = {}
    for item in items_of(table):
        if item["Type"] == "Deal" and "ListPrice" in item and "WithdrawnAt" not in item:
            percents = 100 - 100 * float(item["Price"]) / float(item["ListPrice"])
            off.setdefault(item["BrandName"], []).append(percents)
    averages = [(name, len(each), round(sum(each) / len(each), 1)) for name, each in off.items()]
    assert answers["Discounts by brand"] == sorted(averages, key=lambda row: (-row[2], row[0]))


def test_columns_have_types_and_are_there_without_items_that_use_them(table: Table, btd: Btd, tmp_path: Path) -> None:
    btd("export", str(tmp_path))

    of_deals = {"Title": "TEXT", "DealNumber": "INTEGER", "CreatedAt": "TIMESTAMP", "WithdrawnAt": "TIMESTAMP"}
    expected = {"Deal": of_deals, **cases_by_name("COLUMNS")}
    with closing(sqlite3.connect(tmp_path / exports.FILE)) as database:
        columns = {name: {row[1]: row[2] for row in database.execute(f'PRAGMA table_info("{name}")')}
                   for name in expected}  # fmt: skip

    found = {name: {each: columns[name].get(each) for each in of_type} for name, of_type in expected.items()}
    assert found == expected


def test_an_interrupted_export_goes_on_where_it_stopped(
    table: Table, btd: Btd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, resumed = tmp_path / "whole", tmp_path / "resumed"
    btd("export", str(whole))
    monkeypatch.setattr(exports, "PAGE", 10)
    resumed.mkdir()
    begun = Export(resumed / exports.UNFINISHED, table=table.name, personal=False, segments=2)
    seen = [next(exports.steps(table, begun, segment)).seen for segment in (0, 1)]
    begun.close()

    told = btd("export", str(resumed), "--segments", "4")

    assert seen == [10, 10]
    assert rows_of(resumed) == rows_of(whole)
    requests = re.search(r"(\d+) requests,", told.stdout)
    assert requests
    # Both segments go on behind their first page, and one request asks how large the table is.
    assert int(requests[1]) <= (len(items_of(table)) - 20) / 10 + 3
    assert not (resumed / exports.UNFINISHED).exists()


def test_an_export_into_a_full_folder_does_nothing(table: Table, btd: Btd, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")

    refused = btd("export", str(tmp_path), code=1)

    assert refused.stderr.splitlines() == [f"{tmp_path} is not empty: nothing was exported."]
    assert [file.name for file in tmp_path.iterdir()] == ["notes.txt"]


def test_an_export_is_not_mixed_with_one_of_another_kind(table: Table, btd: Btd, tmp_path: Path) -> None:
    unfinished = tmp_path / exports.UNFINISHED
    Export(unfinished, table=table.name, personal=False, segments=4).close()

    refused = btd("export", str(tmp_path), "--personal", code=1)

    assert f"an unfinished export of {table.name} without personal data: nothing was exported." in refused.stderr
    btd("export", str(tmp_path))
    assert personal_cells(tmp_path) == []


def test_a_database_that_is_no_export_is_not_imported(table: Table, btd: Btd, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "mine.sqlite")) as database:
        database.execute("CREATE TABLE Deal (PK, SK)")

    refused = btd("import", str(tmp_path / "mine.sqlite"), code=1)

    assert "is not a readable export: btd export did not write it" in refused.stderr


def test_a_value_of_any_type_comes_back_as_it_was(tmp_path: Path) -> None:
    """Attributes of one name may hold several types, and items may be of a type that nobody has described."""
    values = ["1", 1, True, b"\x00\xff", {"a": [1, "b", False]}, ["c", {"d": 2}], ""]
    items: list[Item] = [
        {"PK": str(number), "SK": "x", "Type": 'odd "type"', "Value": value} for number, value in enumerate(values)
    ]
    export = Export(tmp_path / "file", table="t", personal=True, segments=1)
    export.take([*items, {"PK": "untyped", "SK": "x"}], "segment 0", None)
    export.close()

    found = [*Readable.of(tmp_path / "file").items()]

    assert sorted(found, key=lambda item: item["PK"]) == [*items, {"PK": "untyped", "SK": "x"}]
    assert [type(item["Value"]) for item in found if "Value" in item] == [type(value) for value in values]


def test_each_export_of_the_document_runs(
    table: Table, btd: Btd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [line for line in recipes.typed("features/operations/README.md") if "out" in line or "backup" in line]

    for line in lines:
        btd(*shlex.split(line)[1:])

    assert len(lines) == 3
