"""Several ``make run`` at once, as processes of their own: one cloud, which the next command knows."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from local.cloud import free_port
from local.settings import Home
from tests.support.commands import begin
from tests.support.waiting import until

DEPLOYS = "Preparing the cloud"
"""The line of a run whose cloud is there; a deployment would follow."""


def all_wait(logs: list[Path]) -> bool:
    return all("waiting for it" in log.read_text() for log in logs)


def clouds(home: Home) -> list[int]:
    """The processes that work in a cloud's folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if (process / "cwd").resolve() == home.folder:
                found.append(int(process.name))
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells where a process works")
def test_three_runs_at_once_leave_one_cloud_and_its_port_is_kept(home: Home, tmp_path: Path) -> None:
    port = free_port()
    logs = [tmp_path / f"{number}.log" for number in range(3)]

    runs = {log: begin(home, "up", log, BTD_PORT=str(port)) for log in logs}

    seen = []
    for turn in range(3):
        # Each is stopped where it would deploy; then it is the next one's turn.
        assert until(lambda: any(DEPLOYS in log.read_text() for log in runs)), [log.read_text() for log in logs]
        (log,) = (log for log in runs if DEPLOYS in log.read_text())
        waiting = [other for other in runs if other is not log]
        assert until(partial(all_wait, waiting))
        seen.append(clouds(home))
        interrupted(runs.pop(log))
        assert log.read_text().endswith("Interrupted. Run make run again to continue.\n"), turn
    assert seen[0] == seen[1] == seen[2] == [json.loads(home.process.read_text())["pid"]]
    assert said(home, "status", tmp_path) == (0, f"The local cloud runs on port {port} (process {seen[0][0]}).\n")

    stopped = said(home, "down", tmp_path)
    again = begin(home, "up", logs[0])

    assert stopped == (0, "The local cloud has stopped; its data is kept.\n")
    assert until(lambda: DEPLOYS in logs[0].read_text()), logs[0].read_text()
    interrupted(again)
    assert json.loads(home.process.read_text())["port"] == port


def interrupted(run: subprocess.Popen[bytes]) -> None:
    os.kill(run.pid, signal.SIGINT)
    assert run.wait(timeout=120) == 1


def said(home: Home, command: str, folder: Path) -> tuple[int, str]:
    log = folder / f"{command}.log"
    return begin(home, command, log).wait(timeout=120), log.read_text()
