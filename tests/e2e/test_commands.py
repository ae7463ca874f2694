"""``make run`` and ``make invoke`` beside a cloud that is deployed and runs."""

from __future__ import annotations

import json
from pathlib import Path

from local import cloud
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
