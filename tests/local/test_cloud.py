"""The local cloud's process: its key, and how it stops without losing anything."""

from __future__ import annotations

import asyncio
import copy
import fcntl
import itertools
import json
import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.exceptions import BotoCoreError, ClientError
from ministack import app  # type: ignore[import-untyped]  # it has no types
from ministack.core import persistence  # type: ignore[import-untyped]  # the same
from ministack.services import apigateway_v1  # type: ignore[import-untyped]  # the same

from local import __main__ as local
from local import cloud, guarded_ministack, ministack_patches
from local.__main__ import main
from local.cloud import free_port
from local.settings import (
    DEFAULT_PORT,
    ROOT,
    AccessKey,
    Home,
    Trouble,
    access_key,
    client_arguments,
    make_folder,
    wanted_port,
)
from shared.dynamodb.schema import create_table_request
from tests.support.commands import begin, until
from tests.support.site import NAME, client_of, home, probed, stream_to_a_function, told, write
from tools import invoke

__all__ = ["home", "probed"]


def test_stopping_waits_until_functions_have_read_what_was_written(
    probed: Home, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seen, names = tmp_path / "seen", [f"item-{number}." for number in range(20)]
    stream_to_a_function(probed, seen)
    write(probed, *names)

    local.down(probed)

    assert capsys.readouterr().out == "The local cloud has stopped; its data is kept.\n"
    assert [name for name in names if name not in told(seen)] == []


def test_stopping_says_what_is_not_done_in_time(probed: Home, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    stream_to_a_function(probed, seen)
    write(probed, "poison")
    assert until(lambda: "poison" in told(seen))

    left = cloud.drain(probed, timeout=1)

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
@pytest.mark.thorough
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


class Expiring:
    """An item that is removed while its table is copied, so many times."""

    def __init__(self, table: dict[str, Any], times: int) -> None:
        self.table, self.times = table, times

    def __deepcopy__(self, _: object) -> str:
        if self.times:
            self.times -= 1
            self.table[f"expired {self.times}"] = "now"
        return "item"


def changing(times: int) -> Callable[[], Any]:
    table: dict[str, Any] = {}
    table |= {"first": Expiring(table, times), "second": "item"}
    return lambda: copy.deepcopy(table)


@pytest.fixture
def saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], dict[str, Any]]:
    """The services that were written down, with their states."""
    monkeypatch.setattr(persistence, "PERSIST_STATE", True)
    monkeypatch.setattr(persistence, "STATE_DIR", str(tmp_path))
    return lambda: {file.stem: json.loads(file.read_text())["payload"] for file in tmp_path.glob("*.json")}


def test_a_table_that_changes_while_it_is_copied_is_written_down_whole(saved: Callable[[], dict[str, Any]]) -> None:
    persistence.save_all({"dynamodb": changing(times=2)})
    by_ministack = saved()

    guarded_ministack.save_all({"dynamodb": changing(times=2), "sqs": lambda: {"queues": []}, "none": lambda: None})

    assert by_ministack == {}  # or MiniStack does without ours
    assert saved() == {
        "dynamodb": {"first": "item", "second": "item", "expired 1": "now", "expired 0": "now"},
        "sqs": {"queues": []},
    }


def test_the_local_cloud_writes_down_so(monkeypatch: pytest.MonkeyPatch) -> None:
    patches = (
        (ministack_patches, name)
        for name in ("read_streams", "share_unpacked", "bound_answers", "key_credentials", "refuse_unsigned_forms")
    )
    for module, name in ((app, "app"), (app, "save_all"), *patches):
        monkeypatch.setattr(module, name, lambda *_: None)
    kept: list[object] = []
    monkeypatch.setattr(app, "main", lambda: kept.append(app.save_all))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")

    guarded_ministack.main()

    assert kept == [guarded_ministack.save_all]


@pytest.mark.parametrize(
    ("wait", "answer"), [(1, ("INTEGRATION_TIMEOUT", "Endpoint request timed out")), (60_000, 200)]
)
def test_a_gateway_waits_for_a_function_as_long_as_its_integration_says(
    monkeypatch: pytest.MonkeyPatch, wait: int, answer: object
) -> None:
    ended = asyncio.Event()

    async def invoke(*_: object) -> int:
        await ended.wait()
        return 200

    async def ask() -> object:
        if answer == 200:
            ended.set()
        found = await apigateway_v1._invoke_lambda_proxy_v1({"timeoutInMillis": wait})
        return found if isinstance(found, int) else (found.response_type, found.message)

    monkeypatch.setattr(apigateway_v1, "_invoke_lambda_proxy_v1", invoke)
    ministack_patches.bound_answers()

    with ThreadPoolExecutor() as thread:  # a browser of other tests has a loop in this one
        assert thread.submit(lambda: asyncio.run(ask())).result() == answer


def test_what_never_stops_changing_keeps_no_other_service_from_being_written(
    saved: Callable[[], dict[str, Any]], caplog: pytest.LogCaptureFixture
) -> None:
    guarded_ministack.save_all({"dynamodb": changing(times=1000), "sqs": lambda: {"queues": []}})

    assert saved() == {"sqs": {"queues": []}}
    assert cloud.NOT_SAVED.search(caplog.text)


def test_a_stop_that_could_not_write_all_says_so_and_so_does_the_next_start(probed: Home) -> None:
    (probed.state / "dynamodb.json.tmp").mkdir(parents=True)

    with pytest.raises(Trouble, match="did not write down all"):
        cloud.stop(probed)

    (probed.state / "dynamodb.json.tmp").rmdir()
    port = cloud.last_port(probed)
    assert port is not None
    assert cloud.start(probed, port)[1] is False
    assert cloud.stop(probed) is True
    assert cloud.start(probed, port)[1] is True


WRITERS = 4
STOPS = 20


def writing(home: Home, round_: int, written: list[str], ends: threading.Event) -> Iterator[threading.Thread]:
    """Threads that write pairs of items, each in one transaction, until the cloud answers no more."""

    # A client that tries again would go on for half a minute after the stop.
    dynamodb = client_of(home, "dynamodb", retries={"total_max_attempts": 1})

    def write(writer: int) -> None:
        for number in itertools.count():
            name = f"{round_}-{writer}-{number}"
            pair = [{"Put": {"TableName": NAME, "Item": {"PK": {"S": f"{name}.{side}"}}}} for side in "ab"]
            try:
                dynamodb.transact_write_items(TransactItems=pair)
            except (BotoCoreError, ClientError):
                if ends.is_set():
                    return
                continue
            written.append(name)

    for writer in range(WRITERS):
        thread = threading.Thread(target=write, args=(writer,))
        thread.start()
        yield thread


def keys_kept(home: Home) -> set[str]:
    """The keys of a table's items."""
    pages = client_of(home, "dynamodb").get_paginator("scan").paginate(TableName=NAME, ConsistentRead=True)
    return {item["PK"]["S"] for page in pages for item in page["Items"]}


@pytest.mark.thorough
def test_twenty_stops_under_writes_keep_all_that_was_answered(probed: Home) -> None:
    client_of(probed, "dynamodb").create_table(
        TableName=NAME,
        KeySchema=[{"AttributeName": "PK", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "PK", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    port = cloud.last_port(probed)
    assert port is not None
    written: list[str] = []
    for round_ in range(STOPS):
        before, ends = len(written), threading.Event()
        threads = list(writing(probed, round_, written, ends))
        while len(written) < before + 10:
            ends.wait(0.01)
        local.down(probed)
        ends.set()
        for thread in threads:
            thread.join()
        cloud.start(probed, port)

        found = keys_kept(probed)

        assert [name for name in written if not {f"{name}.a", f"{name}.b"} <= found] == []
        assert len({name.rpartition(".")[0] for name in found}) * 2 == len(found)


def test_the_key_is_made_once_and_readable_by_its_owner_only(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")

    made = access_key(home)

    assert isinstance(made, AccessKey)
    assert made == access_key(home)
    assert made != access_key(Home(tmp_path / "another"))
    assert stat.S_IMODE(home.key.stat().st_mode) == 0o600
    assert stat.S_IMODE(home.folder.stat().st_mode) == 0o700


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
