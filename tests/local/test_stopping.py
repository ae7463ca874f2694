"""Promises of ``make run`` and ``make stop``: nothing under way is lost, one cloud, and the port that was used."""

from __future__ import annotations

import fcntl
import os
import threading
from pathlib import Path

import pytest

from local import __main__ as local
from local import cloud
from local.settings import DEFAULT_PORT, Home, wanted_port
from tests.support.probe import home, stream_to_a_function, told, write
from tests.support.waiting import until

__all__ = ["home"]


def test_stopping_waits_until_functions_have_read_what_was_written(
    home: Home, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seen, names = tmp_path / "seen", [f"item-{number}." for number in range(20)]
    stream_to_a_function(home, seen)
    write(home, *names)

    local.down(home)

    assert capsys.readouterr().out == "The local cloud has stopped; its data is kept.\n"
    assert [name for name in names if name not in told(seen)] == []


def test_stopping_says_what_is_not_done_in_time(home: Home, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    stream_to_a_function(home, seen)
    write(home, "poison")
    assert until(lambda: "poison" in told(seen))

    left = cloud.drain(home, timeout=1)

    assert left == {"records": 1}


def test_without_a_cloud_there_is_nothing_to_wait_for(tmp_path: Path) -> None:
    assert cloud.drain(Home(tmp_path)) == {}


def test_the_port_is_the_one_that_was_used_last_unless_another_is_asked_for(tmp_path: Path) -> None:
    home = Home(tmp_path)
    before = cloud.last_port(home)
    home.port.write_text("4999")

    assert before is None
    assert wanted_port({}, last=before) == DEFAULT_PORT
    assert wanted_port({}, last=cloud.last_port(home)) == 4999
    assert wanted_port({"BTD_PORT": "5001"}, last=4999) == 5001


def test_commands_on_one_checkout_come_one_after_the_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = Home(tmp_path)
    done: list[str] = []
    first = os.open(home.lock, os.O_CREAT | os.O_RDWR)
    fcntl.flock(first, fcntl.LOCK_EX)

    def second() -> None:
        with cloud.alone(home):
            done.append("second")

    thread = threading.Thread(target=second)
    thread.start()
    assert until(lambda: "waiting" in capsys.readouterr().out)
    assert done == []
    os.close(first)
    thread.join(timeout=120)

    assert done == ["second"]
