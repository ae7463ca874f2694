"""Where the local cloud keeps its files, and that it leaves other folders alone."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from local import cloud, invoke
from local.__main__ import main
from local.settings import Home, access_key, make_folder


def test_reset_leaves_a_folder_of_something_else_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    mode = tmp_path.stat().st_mode
    monkeypatch.setenv("BTD_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["local", "reset"])

    assert main() == 1

    assert "holds something else" in capsys.readouterr().err
    assert (tmp_path / "thesis.txt").read_text() == "years of work"
    assert tmp_path.stat().st_mode == mode


def test_a_new_folder_in_a_new_folder_is_made_and_known_again(tmp_path: Path) -> None:
    home = Home(tmp_path / "new" / "home")
    key = access_key(home)

    make_folder(home)

    assert access_key(home) == key


def test_a_cloud_that_is_interrupted_while_it_starts_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[Home] = []

    def interrupted(_home: Home, _port: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cloud, "start", interrupted)
    monkeypatch.setattr(cloud, "kill", ended.append)

    with pytest.raises(KeyboardInterrupt), invoke.undeployed("seed", tmp_path):
        pass

    assert len(ended) == 1
