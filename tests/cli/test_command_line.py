"""Which table a command talks to, what it says where there is none, and that ``docs/command-line.md`` knows it.

``btd query`` shows any item collection, and the browser of the table says how to ask for it.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from cli.commands import NoTable, open_table
from cli.main import app
from local import sample
from local.settings import Home
from shared.data import keys
from shared.data.members import users
from shared.dynamodb.table import Table
from shared.values import times
from tests.cli.conftest import Btd
from tests.support import recipes
from tests.support.factories import a_user
from tools import documents


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
    monkeypatch.setattr("cli.commands.Home", lambda: Home(tmp_path))

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


def test_a_passwords_hash_is_not_printed(table: Table, btd: Btd) -> None:
    users.create(table, a_user("ana", password_hash="$argon2id$secret"))

    shown = btd("query", keys.password("ana")["PK"]).stdout

    assert "Password" in shown
    assert "argon2id" not in shown


def test_an_index_without_a_sort_key_has_no_beginning_of_one(table: Table, btd: Btd) -> None:
    refused = btd("query", "USER#ana", "--index", "UserIndex", "--begins-with", "x", code=2)

    assert "UserIndex has no sort key." in refused.output


ROOT = Path(__file__).resolve().parent.parent.parent
DOCUMENTED = "".join(
    page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "command-line.md", *documents.of_features().values())
)
EXAMPLES = [
    line.split("|")[-1].strip()
    for page in documents.all_documents()
    for block in re.findall(r"```sh\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    for line in block.splitlines()
    if re.search(r"(^|\s)btd\s", line)
]
PATTERNS = [
    found[1]
    for row in documents.pattern_rows().values()
    if (found := re.match(r"\| \d+ \| ([^|]+) \| (?!pages? )(?!the stream)", row))
]
"""The access patterns that are not the site's alone, and that do not run by themselves."""


def commands(group: Any, path: str = "btd") -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{path} {name}")
        else:
            yield f"{path} {name}", command


COMMANDS = dict(commands(typer.main.get_command(app)))


def test_every_command_is_documented() -> None:
    documented = set(re.findall(r"`(btd [a-z -]+?)(?: --[a-z-]+| front-page| editors-choice)?`", DOCUMENTED))
    documented |= {name for name in COMMANDS if f"`{name}`" in DOCUMENTED}

    assert set(COMMANDS) - documented == set()


def test_every_documented_command_exists() -> None:
    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    named = re.findall(r"`(btd [a-z][a-z -]+?)`", page)

    assert [name for name in named if not any(f"{name} ".startswith(f"{command} ") for command in COMMANDS)] == []


def test_every_access_pattern_has_a_command() -> None:
    assert sorted(re.findall(r"^\| ([^|]+) \| `btd [^|]+` \|$", DOCUMENTED, re.MULTILINE)) == sorted(PATTERNS)


def test_examples_name_commands_and_options_that_exist() -> None:
    assert EXAMPLES
    for example in EXAMPLES:
        words = shlex.split(example[example.index("btd ") :])
        name = next((name for name in COMMANDS if words[: len(name.split())] == name.split()), None)
        if name is None:  # a command of a feature that this copy lacks: the feature's tests type its examples
            continue
        known = {option for parameter in COMMANDS[name].params for option in parameter.opts}
        assert {word for word in words if word.startswith("--")} <= known, example


def test_every_command_says_what_it_does() -> None:
    assert [name for name, command in COMMANDS.items() if not (command.help or "").endswith(".")] == []


def of_btd(*names: str) -> list[str]:
    """The commands of ``btd`` that documents print for the laptop's table, in their order."""
    return [line for line in recipes.typed(*names) if line.startswith("btd ")]


def test_each_command_of_the_readme_and_the_afternoon_does_what_it_says(table: Table, btd: Btd) -> None:
    """They are typed one after the other, into what ``make run`` leaves: accounts and the sample."""
    for username in ("editor", "member"):
        users.create(table, a_user(username))
    sample.plant(table, times.now(), "member")
    lines = of_btd(*recipes.AFTER_MAKE_RUN)

    for line in lines:
        btd(*shlex.split(line)[1:])

    assert len(lines) > 18
    shown = json.loads(btd("deals", "show", "1", "--json").stdout)["result"]
    assert (shown["price"], shown["hot"], shown["expiresAt"]) == ("9.90", True, None)


@pytest.mark.thorough
def test_each_example_of_the_command_line_runs(
    table: Table, btd: Btd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also typed one after the other; of those for AWS, and of pipes, only the options are held, above."""
    for username in ("editor", "member"):
        users.create(table, a_user(username))
    sample.plant(table, times.now(), "member")
    lines = of_btd(*recipes.OF_BTD)
    monkeypatch.chdir(tmp_path)

    for line in lines:
        btd(*shlex.split(line)[1:], stdin="a long enough password\n" * 2)

    assert len(lines) >= 10
