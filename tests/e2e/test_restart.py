"""A local cloud goes on after it was stopped and started again."""

from __future__ import annotations

from pathlib import Path

from local import cloud
from local.cloud import free_port
from local.settings import Home
from tests.support.probe import home, stream_to_a_function, told, write
from tests.support.waiting import until

__all__ = ["home"]


def test_functions_read_what_comes_after_a_restart(home: Home, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    stream_to_a_function(home, seen)
    write(home, "one", "two", "three")
    assert until(lambda: "three" in told(seen))

    assert cloud.stop(home)
    cloud.start(home, free_port())
    write(home, "four")

    assert until(lambda: "four" in told(seen))
