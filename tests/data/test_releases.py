"""The code of two releases beside each other on one table, and a table that was restored."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import botocore.session
import pytest
from botocore import xform_name

from cli import upkeep
from shared.data import invariants, keys
from shared.data.catalog import deals, offers, search
from shared.data.members import follows
from shared.dynamodb.schema import STREAM_VIEW, TTL_ATTRIBUTE, create_table_request
from shared.dynamodb.table import Table
from shared.dynamodb.writes import forget
from shared.values import links
from tests.support.engines import FAST_SERVER, MINISTACK, on
from tests.support.factories import APPLE, FEEDS, NOW, a_deal, indexed, join, listed, post

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
RELEASED: str = PYPROJECT["tool"]["release"]["commit"]

RELEASE_1_0 = "2afc9278df9db9e272dc0eb57e38500d0c5c3d93"
"""The commit of 1.0.0, which filed offers by their address without the query."""

on_a_server = on(FAST_SERVER)


def code_of(commit: str, folder: Path) -> Path:
    """The data layer of a commit, unpacked into a new folder. Skips the test where this copy has no such commit."""
    archive = subprocess.run(
        ["git", "archive", commit, "shared", "tests/support"], cwd=ROOT, capture_output=True, check=False
    )
    if archive.returncode:
        pytest.skip(
            f"git has no commit {commit} here (git fetch --unshallow gets it): {archive.stderr.decode().strip()}"
        )
    folder.mkdir()
    subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
    return folder


def let(code: Path, table: Table, *steps: str, runs: str = "") -> list[Any]:
    """The answers of some code to some steps on a table, in a process of its own: as the release ``runs`` them."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "COV"))}
    done = subprocess.run(
        [
            sys.executable,
            *(["-c", runs] if runs else ["-m", "tests.support.release"]),
            table.client.meta.endpoint_url,
            table.name,
            *steps,
        ],
        cwd=code,
        env=plain | {"PYTHONPATH": str(code), "NO_PROXY": "127.0.0.1"},
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
@pytest.mark.parametrize("newer_first", [True, False])
def test_the_last_release_and_this_code_work_on_one_table(
    bare_table: Table,
    tmp_path: Path,
    newer_first: bool,  # pytest gives it by name
) -> None:
    both = [ROOT, code_of(RELEASED, tmp_path / "released")]

    assert seen_differently(bare_table, *(both if newer_first else both[::-1])) == []


OFFERS = """
import json, sys
from shared.data.catalog import deals, offers
from shared.dynamodb.client import connect
from tests.support.factories import LAUNCH, NOW, a_deal, ids, open_brands, post
endpoint, name, *steps = sys.argv[1:]
credentials = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
table = connect(name, endpoint_url=endpoint, region_name="us-east-1", **credentials)
answers = []
for does, what in (step.split(" ") for step in steps):
    if does == "open":
        from shared.data.catalog import seeds  # 1.0 alone begins
        seeds.plant(table, LAUNCH)
        open_brands(table)
    elif does == "post":
        (deal,) = post(table, [a_deal(link=what)])
        offers.file(table, None, deal)
        answers.append(deal.deal_id)
    elif does == "edit":
        before = deals.get(table, what)
        offers.file(table, before, deals.edit(table, what, {"price": "1.00"}, NOW))
    elif does == "read":
        answers.append(sorted([deal.deal_id, deal.price] for deal in offers.offers(table, what)))
print(json.dumps(answers))
"""
"""What both releases do with offers of products, each by its own code."""


@on_a_server
def test_products_move_to_their_identity_while_1_0_is_at_work(
    bare_table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, released = bare_table, code_of(RELEASE_1_0, tmp_path / "released")
    one, two = (f"https://shop.example/view.php?id={number}" for number in (1, 2))
    of_1_0, of_this = (partial(let, code, table, runs=OFFERS) for code in (released, ROOT))

    first, second = of_1_0("open now", f"post {one}", f"post {two}")
    before_the_move = of_this(f"read {one}", f"read {two}")
    (third,) = of_this(f"post {one}")
    (seen_by_1_0,) = of_1_0(f"read {one}")
    of_1_0(f"edit {first}")
    changed = of_this(f"read {one}", f"read {two}")
    for number in range(2):
        list(upkeep.run_backfill(table, "ProductOffer", number, 2))
    moved = [offers.offers_of(table, links.product_hash(link)) for link in (one, two)]
    # The release after this one reads and writes the products' own partitions alone.
    monkeypatch.setattr(offers, "places", lambda link: [links.product_hash(link)])
    for number in range(2):
        list(upkeep.run_backfill(table, "ProductOffer", number, 2))
    alone = [offers.offers(table, link) for link in (one, two)]

    full = "31.90"
    assert before_the_move == [[[first, full]], [[second, full]]]
    assert seen_by_1_0 == sorted([[first, full], [second, full], [third, full]])
    assert changed == [sorted([[first, "1.00"], [third, full]]), [[second, full]]]
    assert [sorted([deal.deal_id, deal.price] for deal in found) for found in moved] == changed
    assert alone == moved
    assert offers.offers_of(table, links.hashed(links.page(one))) == []


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
        (fault,) = invariants.check(restored, NOW)
        assert (fault.rule, invariants.mend(restored, fault)) == (invariants.WORDS, True)
        assert invariants.check(restored, NOW) == []
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
