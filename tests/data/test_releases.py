"""What a release meets: items of the one before, its code beside it on one table, and a table that was restored."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import botocore.session
import pytest
from botocore import xform_name

from shared.data import invariants, keys
from shared.data.catalog import deals, search
from shared.data.members import follows
from shared.dynamodb.schema import STREAM_VIEW, TTL_ATTRIBUTE, create_table_request
from shared.dynamodb.table import Table
from shared.dynamodb.writes import forget
from tests.support.cases import cases
from tests.support.checks import faults, repair
from tests.support.engines import FAST_SERVER, KEY, MINISTACK, on
from tests.support.factories import APPLE, FEEDS, NOW, a_deal, indexed, join, listed, post

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
RELEASED: str = PYPROJECT["tool"]["release"]["commit"]

on_a_server = on(FAST_SERVER)


def code_of(commit: str, folder: Path) -> Path:
    """The data layer of a commit, unpacked into a new folder. Skips the test where this copy has no such commit."""
    listed = subprocess.run(
        ["git", "ls-tree", "--name-only", commit], cwd=ROOT, capture_output=True, check=False
    ).stdout
    # Features' tests lean on more of the tree than the release of a time before them had.
    folders = [] if b"features" in listed.split() else ["shared", "tests/support"]
    archive = subprocess.run(["git", "archive", commit, *folders], cwd=ROOT, capture_output=True, check=False)
    if archive.returncode:
        pytest.skip(
            f"git has no commit {commit} here (git fetch --unshallow gets it): {archive.stderr.decode().strip()}"
        )
    folder.mkdir()
    subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
    return folder


WITH_THE_KEY = """
import os, runpy
from botocore.session import Session
key = {f"aws_{name}": os.environ[f"AWS_{name.upper()}"] for name in ("access_key_id", "secret_access_key")}
made = Session.create_client
Session.create_client = lambda session, *named, **more: made(session, *named, **more | key)
"""
"""Releases before 1.2 have a key in their test's code, which the guard of an engine refuses."""

AS_A_RELEASE = 'runpy.run_module("tests.support.release", run_name="__main__", alter_sys=True)'


def let(code: Path, table: Table, *steps: str) -> list[Any]:
    """The answers of some code to some steps on a table, in a process of its own."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "COV"))}
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            f"{WITH_THE_KEY}\n{AS_A_RELEASE}",
            table.client.meta.endpoint_url,
            table.name,
            *steps,
        ],
        cwd=code,
        env=plain
        | {"PYTHONPATH": str(code), "NO_PROXY": "127.0.0.1"}
        | {"AWS_ACCESS_KEY_ID": KEY.key_id, "AWS_SECRET_ACCESS_KEY": KEY.secret},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answers: list[Any] = json.loads(done.stdout)
    return answers


def seen_differently(table: Table, one: Path, other: Path) -> list[str]:
    """The differences in what two states of the code see, after the first has written and the second changed that."""
    _, written = let(one, table, "write", "read")
    found, _, changed = let(other, table, "read", "change", "read")
    (kept,) = let(one, table, "read")
    assert written != kept
    return [
        name
        for mine, theirs in ((written, found), (kept, changed))
        for name in sorted(mine.keys() & theirs.keys())
        if mine[name] != theirs[name]
    ]


@on_a_server
# The last release changes an order, too, which only a feature writes first.
@pytest.mark.parametrize("newer_first", [True, False] if cases("RELEASE_WRITES") else [False])
def test_the_last_release_and_this_code_work_on_one_table(
    bare_table: Table,
    tmp_path: Path,
    newer_first: bool,  # pytest gives it by name
) -> None:
    both = [ROOT, code_of(RELEASED, tmp_path / "released")]

    assert seen_differently(bare_table, *(both if newer_first else both[::-1])) == []


@on_a_server
def test_a_commit_that_looks_elsewhere_for_likes_is_noticed(bare_table: Table, tmp_path: Path) -> None:
    one, other = (code_of("HEAD", tmp_path / name) for name in ("one", "other"))
    keys = other / "shared/data/keys.py"
    text = keys.read_text(encoding="utf-8")
    assert text.count('"LIKES#') == 2
    keys.write_text(text.replace('"LIKES#', '"LIKED#'), encoding="utf-8")

    assert "likes" in seen_differently(bare_table, one, other)


def test_the_changelog_begins_with_the_version_of_the_project_after_what_is_not_released() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")

    newest = next(line for line in changelog.splitlines() if line.startswith("## ") and line != "## Unreleased")

    assert newest.split()[1] == PYPROJECT["project"]["version"]


RUNBOOK = (Path(__file__).parents[2] / "docs" / "runbook.md").read_text(encoding="utf-8")
DRILL = RUNBOOK.partition("\n## Restoring the table\n")[2].partition("\n## ")[0]
COMMANDS = re.findall(r"^aws dynamodb (.+)$", DRILL, re.MULTILINE)
TARGET = "big-time-deals-restored"


@on(MINISTACK)
def test_a_restored_table_becomes_whole_by_the_commands_of_the_runbook(table: Table) -> None:
    restored = replace(table, name=f"{table.name}-restored")
    join(table, "ana")
    follows.like(table, APPLE, "ana", NOW)
    (deal,) = indexed(table, post(table, [a_deal()]))
    # The stream was to write this word when the moment came that is restored.
    (word, *_) = search.items_of(deal).values()
    table.write(forget(keys.primary(word), because="the stream has not come to it"))

    for command in COMMANDS:
        ask(table, command.replace(TARGET, restored.name).replace("TABLE", table.name))
    try:
        deals.withdraw(table, deal.deal_id, NOW)
        found = faults(restored.everything(), NOW)
        missing = {invariants.WORDS, invariants.WORD_COUNTS} if cases("CHECKS") else set()
        assert {fault.rule for fault in found} == missing
        counts_first = sorted(found, key=lambda fault: fault.rule != invariants.WORD_COUNTS)
        assert all(repair(restored, fault) for fault in counts_first)
        assert faults(restored.everything(), NOW) == []
        assert [listed(restored, feed) for feed in FEEDS] == [[deal.deal_id]] * 3
        described = table.client.describe_table(TableName=restored.name)["Table"]
        declared = create_table_request("any")
        assert names(described["GlobalSecondaryIndexes"]) == names(declared["GlobalSecondaryIndexes"])
        assert described["StreamSpecification"]["StreamViewType"] == STREAM_VIEW
        assert described["LatestStreamArn"]
        ttl = table.client.describe_time_to_live(TableName=restored.name)["TimeToLiveDescription"]
        assert (ttl["AttributeName"], ttl["TimeToLiveStatus"]) == (TTL_ATTRIBUTE, "ENABLED")
    finally:
        table.client.update_table(TableName=restored.name, DeletionProtectionEnabled=False)
        table.client.delete_table(TableName=restored.name)


def names(indexes: Any) -> set[str]:
    return {each["IndexName"] for each in indexes}


def ask(table: Table, command: str) -> None:
    """Do what the AWS CLI would do."""
    operation, *words = shlex.split(command)
    model = botocore.session.get_session().get_service_model("dynamodb")
    name = next(each for each in model.operation_names if xform_name(each, "-") == operation)
    shape = model.operation_model(name).input_shape
    assert shape is not None
    members = {f"--{xform_name(member, '-')}": member for member in shape.members}
    given: dict[str, Any] = {}
    for number, word in enumerate(words):
        if word in members:
            following = words[number + 1] if number + 1 < len(words) else "--"
            given[members[word]] = True if following.startswith("--") else value(following)
    getattr(table.client, xform_name(name))(**given)


def value(text: str) -> Any:
    """A value in the CLI's shorthand."""
    if "=" not in text:
        return text
    pairs = (part.split("=") for part in text.split(","))
    return {name: {"true": True}.get(each, each) for name, each in pairs}
