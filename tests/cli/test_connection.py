"""Which table a command talks to, and what it says where there is none.

``btd query`` shows any item collection, and the browser of the table says how to ask for it.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.work import NoTable, open_table
from local.settings import Home
from shared.data import keys
from shared.data.members import users
from shared.dynamodb.schema import GSI1
from shared.dynamodb.table import Table
from shared.dynamodb.writes import put
from shared.html import drawings
from tests.cli.conftest import Btd
from tests.support.factories import a_user


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """A local cloud's folder, whose recorded process lives and is called as MiniStack is."""
    code = "import time; print('awake', flush=True); time.sleep(600)  # ministack"
    sleeper = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert sleeper.stdout is not None
    sleeper.stdout.readline()  # its command line is empty for a moment at its birth
    (tmp_path / "process.json").write_text(json.dumps({"pid": sleeper.pid, "port": 4566}))
    yield Home(tmp_path)
    sleeper.kill()
    sleeper.communicate()


def describe(home: Home, table: Table) -> None:
    endpoint = table.client.meta.endpoint_url
    home.cloud.write_text(json.dumps({"endpoint": endpoint, "region": "us-east-1", "table": table.name}))


def test_without_a_table_in_the_environment_the_running_local_cloud_is_used(
    table: Table, home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    describe(home, table)
    for name in [name for name in os.environ if name.startswith(("AWS_", "BTD_"))]:
        monkeypatch.delenv(name)
    before = dict(os.environ)

    opened = open_table(home)

    assert opened.name == table.name
    assert opened.roughly() > 0
    assert dict(os.environ) == before
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == f"Local cloud at {table.client.meta.endpoint_url}, table {table.name}\n"


def test_the_table_that_the_environment_names_comes_first(table: Table, home: Home) -> None:
    home.cloud.write_text(json.dumps({"endpoint": "http://127.0.0.1:1", "region": "us-east-1", "table": "other"}))

    assert open_table(home).name == table.name


def test_a_local_cloud_that_has_ended_is_no_table(
    table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    describe(Home(tmp_path), table)
    monkeypatch.delenv("BTD_TABLE")

    with pytest.raises(NoTable, match="make run"):
        open_table(Home(tmp_path))


def test_no_table_is_one_line_and_exit_code_2(btd: Btd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BTD_TABLE", raising=False)
    monkeypatch.setattr("cli.work.Home", lambda: Home(tmp_path))

    result = btd("brands", "list", code=2)

    assert result.stderr == "BTD_TABLE names no table, and no local cloud runs here: set it, or start one (make run).\n"
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("AWS_ENDPOINT_URL", "http://127.0.0.1:1", "Could not connect to the endpoint"),
        ("AWS_ENDPOINT_URL", "nonsense", "Invalid endpoint"),
        ("AWS_PROFILE", "no-such-profile", "no-such-profile"),
        ("BTD_TABLE", "no-such-table", "ResourceNotFoundException"),
    ],
)
def test_a_table_that_cannot_be_reached_is_one_line(
    table: Table, btd: Btd, monkeypatch: pytest.MonkeyPatch, name: str, value: str, expected: str
) -> None:
    monkeypatch.setenv(name, value)

    result = btd("brands", "list", code=1)

    assert expected in result.stderr
    assert result.stderr.count("\n") == 1


def test_the_line_of_the_browser_finds_the_items_of_an_index_backward(table: Table, btd: Btd) -> None:
    partition = "MESSAGES#it's"
    for key in ("MESSAGE#1", "MESSAGE#2", "OTHER"):
        place = {"GSI1PK": partition, "GSI1SK": key}
        table.write(put({"PK": partition, "SK": key, **place}, because="a test's own"))

    *_, line = drawings.query_lines(table.name, partition, GSI1, "MESSAGE", backward=True)
    found = json.loads(btd(*shlex.split(line["text"])[1:], "--json").stdout)

    assert [item["SK"] for item in found["result"]] == ["MESSAGE#2", "MESSAGE#1"]
    assert [request["index"] for request in found["requests"]] == ["GSI1"]


def test_a_passwords_hash_is_not_printed(table: Table, btd: Btd) -> None:
    users.create(table, a_user("ana", password_hash="$argon2id$secret"))

    shown = btd("query", keys.password("ana")["PK"]).stdout

    assert "Password" in shown
    assert "argon2id" not in shown


def test_an_index_without_a_sort_key_has_no_beginning_of_one(table: Table, btd: Btd) -> None:
    refused = btd("query", "USER#ana", "--index", "UserIndex", "--begins-with", "x", code=2)

    assert "UserIndex has no sort key." in refused.output
