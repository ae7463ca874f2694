"""Where the local cloud keeps its files, and that it leaves other folders alone.

``make env`` gives a shell what AWS's own tools need on the local cloud, and nothing where none runs.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import boto3
import pytest

from local import __main__ as local
from local import cloud, invoke
from local.__main__ import main
from local.cloud import free_port
from local.settings import ROOT, Home, access_key, client_arguments, make_folder
from shared.dynamodb.schema import create_table_request


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


LISTED = "import boto3, os; print(boto3.client('dynamodb').describe_table(TableName=os.environ['TABLE_NAME'])['Table'])"


def test_a_shell_that_has_it_reaches_the_table_through_the_guard(home: Home) -> None:
    port = free_port()
    cloud.start(home, port)
    table = boto3.client("dynamodb", **client_arguments(home, port))
    table.create_table(**create_table_request("big-time-deals"))  # type: ignore[arg-type]  # as botocore takes it
    home.cloud.write_text(json.dumps({"table": "big-time-deals"}), encoding="utf-8")

    done = subprocess.run(
        ["sh", "-c", f'eval "$(make -s env)"; {sys.executable} -c "{LISTED}"'],
        cwd=ROOT,
        env={"PATH": "/usr/bin:/bin", "BTD_HOME": str(home.folder), "AWS_PROFILE": "none", "NO_PROXY": "127.0.0.1"},
        check=True,
        capture_output=True,
        text=True,
    )

    assert "'TableName': 'big-time-deals'" in done.stdout


def test_without_a_cloud_it_prints_nothing_that_a_shell_would_run(
    home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BTD_HOME", str(home.folder))
    monkeypatch.setattr(sys, "argv", ["local", "env"])

    assert local.main() == 1

    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "The local cloud is not running: make run starts it.\n")
