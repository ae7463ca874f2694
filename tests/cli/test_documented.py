"""``docs/command-line.md`` knows every command and every access pattern, and shows no command that is not there."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from cli.main import app
from local import sample
from shared.data.members import users
from shared.dynamodb.table import Table
from shared.values import times
from tests.cli.conftest import Btd
from tests.support import recipes
from tests.support.factories import a_user

ROOT = Path(__file__).resolve().parent.parent.parent
DOCUMENTED = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
EXAMPLES = [
    line.split("|")[-1].strip()
    for page in ("docs/command-line.md", "docs/growing.md", "docs/afternoon.md", "README.md")
    for block in re.findall(r"```sh\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)
    for line in block.splitlines()
    if re.search(r"(^|\s)btd\s", line)
]
PATTERNS = re.findall(
    r"^\| \d+ \| ([^|]+) \| (?!pages? )(?!the stream)",
    (ROOT / "docs" / "patterns.md").read_text(encoding="utf-8"),
    re.MULTILINE,
)
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


@pytest.mark.needs("shop")
def test_every_documented_command_exists() -> None:
    named = re.findall(r"`(btd [a-z][a-z -]+?)`", DOCUMENTED)

    assert [name for name in named if not any(f"{name} ".startswith(f"{command} ") for command in COMMANDS)] == []


@pytest.mark.needs("shop")
def test_every_access_pattern_has_a_command() -> None:
    assert re.findall(r"^\| ([^|]+) \| `btd [^|]+` \|$", DOCUMENTED, re.MULTILINE) == PATTERNS


def test_examples_name_commands_and_options_that_exist() -> None:
    assert EXAMPLES
    for example in EXAMPLES:
        words = shlex.split(example[example.index("btd ") :])
        name = next(name for name in COMMANDS if words[: len(name.split())] == name.split())
        known = {option for parameter in COMMANDS[name].params for option in parameter.opts}
        assert {word for word in words if word.startswith("--")} <= known, example


def test_every_command_says_what_it_does() -> None:
    assert [name for name, command in COMMANDS.items() if not (command.help or "").endswith(".")] == []


FILES = {"deals.jsonl": "deals.jsonl", "feed.xml": "feeds/google.xml", "products_export.csv": "feeds/shopify.csv"}
"""What a reader has under the names that the documents use, and what of the sample stands for it."""


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
def test_each_example_of_the_command_line_and_of_imports_runs_after_those_of_the_readme(
    table: Table, btd: Btd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also typed one after the other; of those for AWS, and of pipes, only the options are held, above."""
    for username in ("editor", "member"):
        users.create(table, a_user(username))
    sample.plant(table, times.now(), "member")
    for name, of_the_sample in FILES.items():
        shutil.copy(ROOT / "tests" / "sample" / of_the_sample, tmp_path / name)
    lines = of_btd(*recipes.OF_BTD)
    (read_first,) = (line for line in of_btd("README.md") if "import" in line)
    btd(*shlex.split(read_first.replace("tests/", f"{ROOT}/tests/"))[1:])
    monkeypatch.chdir(tmp_path)

    unfilled = (ROOT / "tests" / "sample" / "feeds" / "categories.toml").read_text(encoding="utf-8")
    categories = tmp_path / "categories.toml"

    for line in lines:
        if "--suggest-categories" in line:
            categories.unlink()
        elif "--categories" in line:
            categories.write_text(unfilled.replace('""', '"home"'), encoding="utf-8")
        btd(*shlex.split(line)[1:], stdin="a long enough password\n" * 2)

    assert len(lines) > 18
