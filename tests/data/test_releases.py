"""What a release meets: items of the one before, its code beside it on one table, and a table that was restored."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import botocore.session
import pytest
from botocore import xform_name

from cli import upkeep
from shared.data import invariants, keys
from shared.data.catalog import deals, offers, search
from shared.data.catalog.deals import is_listed
from shared.data.members import follows
from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import STREAM_VIEW, TTL_ATTRIBUTE, create_table_request
from shared.dynamodb.table import Table
from shared.dynamodb.writes import forget, put, update
from shared.models.catalog import ALL_DEALS, Deal
from shared.values import links
from tests.support.cases import cases
from tests.support.engines import FAST_SERVER, KEY, MINISTACK, on
from tests.support.factories import APPLE, FEEDS, NOW, a_deal, ago, ids, indexed, join, listed, post
from tests.support.wire import watched

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
        faults = invariants.check(restored, NOW)
        assert {fault.rule for fault in faults} == {invariants.WORDS, invariants.WORD_COUNTS}
        assert all(invariants.mend_group(restored, group) for each in invariants.groups(faults) for group in each)
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


@pytest.fixture
def stripped(table: Table, monkeypatch: pytest.MonkeyPatch) -> list[Deal]:
    """Deals as an older release wrote them, without what GSI3 needs; a page of the scan holds a few of them."""
    monkeypatch.setattr(upkeep, "PAGE", 7)
    posted = post(table, [a_deal(ago(hours=n)) for n in range(12)])
    for deal in posted:
        table.write(update(keys.deal(deal.deal_id), "REMOVE GSI3PK, GSI3SK", refused=None))
    return posted


def items(table: Table, some: list[Deal]) -> list[Item]:
    return table.get_many([keys.deal(deal.deal_id) for deal in some], consistent=True)


def all_segments(table: Table, segments: int = 2) -> list[upkeep.Step]:
    run = upkeep.Run("Deal", segments, NOW)
    return [step for number in range(segments) for step in upkeep.run_backfill(table, run, number, item_type="Deal")]


def places(table: Table) -> list[Item]:
    """The table's memory of unfinished runs."""
    return [item for item in table.everything() if item["Type"] == "Backfill"]


def test_every_deal_gets_what_this_release_writes_and_a_repeated_run_rewrites_nothing(
    table: Table, stripped: list[Deal]
) -> None:
    first = all_segments(table)

    with watched(table) as wire:
        again = all_segments(table)

    assert [sum(step.rewritten for step in steps) for steps in (first, again)] == [len(stripped), 0]
    assert all("GSI3PK" in item and item["Version"] == 2 for item in items(table, stripped))
    assert places(table) == []
    assert not [each for each in wire.requests if each.operation == "UpdateItem"]


def test_offers_of_the_release_before_get_their_places_by_price(table: Table) -> None:
    (listed, over, withdrawn) = post(table, [a_deal(ago(hours=n), link=f"https://x.example/{n}") for n in range(3)])
    over = deals.edit(table, over.deal_id, {"ends_at": NOW}, NOW)
    withdrawn = deals.withdraw(table, withdrawn.deal_id, NOW)
    due = [
        offers.to_item(listed, has_ended=False),
        offers.to_item(over, has_ended=True),
        offers.to_item(withdrawn, has_ended=False),
    ]
    bare = {name: value for name, value in due[0].items() if not name.startswith("GSI")}
    for item in (bare, *due[1:]):
        table.write(put(item, because="an older release wrote it"))

    rewritten = backfilled(table, "ProductOffer")

    assert rewritten == 1
    assert table.get_many([keys.primary(item) for item in due]) == due


def backfilled(table: Table, item_type: str) -> int:
    """Backfill a type; returns how many items were rewritten."""
    run = upkeep.Run(item_type, 2, NOW)
    steps = chain.from_iterable(upkeep.run_backfill(table, run, number, item_type=item_type) for number in range(2))
    return sum(step.rewritten for step in steps)


def filed(table: Table, item_type: str) -> list[Item]:
    return sorted((item for item in table.everything() if item["Type"] == item_type), key=place)


def place(item: Item) -> tuple[str, str]:
    return item["PK"], item["SK"]


def test_an_offer_whose_place_is_another_by_now_is_taken_out_of_it_once(table: Table) -> None:
    (deal,) = post(table, [a_deal(link="https://shop.example/view.php?id=1")])
    item = offers.to_item(deal, has_ended=False)
    # 1.1.0 filed it under the address without its query, too, in no index.
    page = keys.product_offer(links.product_hash("https://shop.example/view.php"), deal.deal_id)
    bare = {name: value for name, value in item.items() if not name.startswith("GSI")}
    table.write(put(bare | page, because="1.1.0 wrote it"))

    rewritten = [backfilled(table, "ProductOffer") for _ in range(2)]

    assert filed(table, "ProductOffer") == [item]
    assert rewritten == [1, 0]


def test_a_run_that_was_interrupted_goes_on_where_it_stopped_and_loses_nothing(
    table: Table, stripped: list[Deal]
) -> None:
    seen_before = []
    for number in range(2):
        run = upkeep.run_backfill(table, upkeep.Run("Deal", 2, NOW), number, item_type="Deal")
        seen_before += [next(run), next(run)]  # and then its process ends, before the third page

    remembered = len(places(table))
    rest = all_segments(table)

    assert remembered == 2
    assert all("GSI3PK" in item for item in items(table, stripped))
    assert sum(step.rewritten for step in [*seen_before, *rest]) == len(stripped)
    # The first page of the first run is not read again.
    whole = sum(step.seen for step in all_segments(table))
    assert sum(step.seen for step in rest) < whole
    assert places(table) == []


@pytest.mark.parametrize("at", [0, 10], ids=["while they begin", "later"])
def test_an_interrupt_ends_each_segment_after_its_page(table: Table, at: int) -> None:
    def steps(number: int) -> Iterator[upkeep.Step]:
        for page in range(500):
            if (number, page) == (0, at):
                os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)
            yield upkeep.Step(1, 0)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        done, interrupted = upkeep.run_steps("Stepping", table, 2, steps)
    except KeyboardInterrupt:
        pytest.fail("it came before the run listened")
    finally:
        signal.signal(signal.SIGINT, before)

    assert interrupted
    assert done.seen < 500


def test_a_page_is_repeated_where_the_run_ended_before_it_was_remembered(table: Table, stripped: list[Deal]) -> None:
    run = upkeep.run_backfill(table, upkeep.Run("Deal", 1, NOW), 0, item_type="Deal")
    first = next(run)

    rest = all_segments(table, segments=1)

    assert rest[0].seen == first.seen
    assert rest[0].rewritten == 0
    assert all("GSI3PK" in item for item in items(table, stripped))


def test_listed_deals_stay_listed_and_others_stay_out(table: Table, stripped: list[Deal]) -> None:
    withdrawn = deals.withdraw(table, stripped[3].deal_id, NOW)
    before = listed(table, ALL_DEALS)

    all_segments(table)

    assert listed(table, ALL_DEALS) == before == [i for i in ids(stripped) if i != withdrawn.deal_id]
    assert [item["DealId"] for item in items(table, stripped) if not is_listed(item)] == [withdrawn.deal_id]


def test_what_another_release_wrote_is_left_as_it_is(table: Table, stripped: list[Deal]) -> None:
    deal = stripped[0]
    table.write(update(keys.deal(deal.deal_id), "SET Newer = :it", values={":it": "kept"}, refused=None))

    all_segments(table)

    (item,) = items(table, [deal])
    assert item["Newer"] == "kept"
    assert "GSI3PK" in item


def test_who_edits_a_deal_meanwhile_wins(table: Table, stripped: list[Deal]) -> None:
    edited: list[Deal] = []

    def edit_first(**_: object) -> None:
        if not edited:
            edited.append(stripped[0])  # before the edit, which writes too
            edited[0] = deals.edit(table, stripped[0].deal_id, {"title": "Better shoe"}, NOW)

    table.client.meta.events.register_first("before-call.dynamodb.UpdateItem", edit_first)
    all_segments(table, segments=1)
    table.client.meta.events.unregister("before-call.dynamodb.UpdateItem", edit_first)

    (item,) = items(table, stripped[:1])
    assert item["Title"] == "Better shoe"
    assert "GSI3PK" in item  # the edit wrote as this release does
    assert item["Version"] == edited[0].version or item["Version"] == edited[0].version + 1


def test_items_of_other_types_are_looked_at_and_left(table: Table) -> None:
    other = {**keys.session("hash"), "Type": "Session", "Version": 1}
    table.write(put(other, because="a test"))

    steps = all_segments(table)

    assert sum(step.seen for step in steps) > 10
    assert table.get(keys.session("hash")) == other
