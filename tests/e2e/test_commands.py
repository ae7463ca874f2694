"""``make run`` and ``make invoke`` beside a cloud that is deployed and runs."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from pathlib import Path

import pytest

from local import cloud
from local.settings import ROOT
from shared.data.catalog import topics
from shared.errors import BrandExists
from shared.values import naming, times
from tests.support.commands import begin, make
from tests.support.site import Site


def test_make_run_finds_the_cloud_that_runs_and_make_invoke_uses_it(site: Site, tmp_path: Path) -> None:
    there = cloud.running(site.home)
    logs = [tmp_path / "one.log", tmp_path / "another.log"]

    runs = [begin(site.home, "up", log) for log in logs]  # at once, and told no port
    ended = [run.wait(timeout=300) for run in runs]
    told = make(site.home, "status")
    invoked = make(site.home, "invoke", "FUNCTION=seed")

    assert ended == [0, 0], [log.read_text() for log in logs]
    assert all(f"{site.origin}/learn  (the textbook that runs)" in log.read_text() for log in logs)
    assert there is not None
    assert cloud.running(site.home) == there
    assert told.stdout == f"The local cloud runs on port {there.port} (process {there.pid}).\n"
    assert json.loads(site.home.cloud.read_text())["apiId"] == site.api_id
    assert invoked.returncode == 0, invoked.stderr
    assert "The local cloud is not running" not in invoked.stderr
    assert 'CloudFormation is told: {"Status": "SUCCESS"' in invoked.stderr


def test_make_invoke_names_to_a_function_the_queue_that_it_was_deployed_with(site: Site) -> None:
    invoked = make(site.home, "invoke", "FUNCTION=accounts")

    assert invoked.returncode == 0, invoked.stderr
    assert '"statusCode": 201' in invoked.stdout


INVOKED = [
    (line.removeprefix("make ").split(), answered)
    for page, answered in (("README.md", 200), ("docs/afternoon.md", 401))
    for line in re.findall(r"^make invoke .*$", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE)
]
"""The invocations that documents print, and the status that each says or lets expect."""


@pytest.mark.parametrize(("words", "answered"), INVOKED, ids=str)
def test_make_invoke_answers_as_the_documents_say(site: Site, tmp_path: Path, words: list[str], answered: int) -> None:
    with suppress(BrandExists):  # the import that both documents begin with brings it
        topics.create_brand(site.table, naming.slug("G/Fore"), "G/Fore", times.now())
    if not site.home.cloud.exists():
        assert begin(site.home, "up", tmp_path / "up.log").wait(timeout=300) == 0

    invoked = make(site.home, *words)

    assert invoked.returncode == 0, invoked.stderr
    assert json.loads(invoked.stdout)["statusCode"] == answered


def test_two_documents_print_invocations() -> None:
    assert len(INVOKED) == 2
