"""The cloud as a process: start it, find it again, stop it so that it remembers everything."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from local.guarded_ministack import WAITING
from local.settings import REGION, Home, Trouble, access_key, cloud_environment, endpoint, make_folder, short
from shared.values.naming import counted


def free_port() -> int:
    """A port of 127.0.0.1 that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


DEAD = "dead"
"""The kind of what waits in dead-letter queues, for ``btd redrive``."""

WORDS = {"records": ("record", "of the table's stream"), "messages": ("message", "of the queue")}
"""The work that functions still have, by kind."""

START_TIMEOUT = 180.0
"""Seconds that a start may take; it loads what the last run left."""

DRAIN_TIMEOUT = 30.0
"""Seconds that functions may take for what streams and queues hold when the cloud is to stop."""

IN_A_ROW = 2
"""Checks in a row that must find nothing waiting: between two of them, a function may turn a record into a message."""

STOP_TIMEOUT = 60.0
"""Seconds that writing the state may take."""


SAVED, NOT_SAVED = "Persistence: saved dynamodb state", re.compile("Persistence: (error|failed to save)")
"""Lines of MiniStack's log about the table and failed writes: it ends as if all were well."""


@dataclass(frozen=True, slots=True)
class Cloud:
    """A running cloud."""

    pid: int
    port: int


def running(home: Home) -> Cloud | None:
    """The cloud that this folder's last start made, if its process still lives."""
    try:
        cloud = Cloud(**json.loads(home.process.read_text()))
    except (FileNotFoundError, ValueError, TypeError):
        return None
    return cloud if _is_ours(cloud.pid) else None


def start(home: Home, port: int) -> tuple[Cloud, bool]:
    """Start the cloud, or find it running; also says whether the last one had ended in order.

    Raises Trouble where the port is taken or the cloud does not come up.
    """
    cloud = running(home)
    if cloud:
        if cloud.port != port:
            raise Trouble(f"The local cloud already runs on port {cloud.port}: stop it first (make stop).")
        _wait_until_healthy(home, cloud, lambda: running(home) is not None)
        return cloud, True
    orderly = not home.process.exists()
    _refuse_taken(port)
    make_folder(home)
    access_key(home)  # its file marks the folder as a local cloud's
    shutil.rmtree(home.scratch, ignore_errors=True)
    home.scratch.mkdir()
    _forget_places_in_streams(home)
    with home.log.open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "local.guarded_ministack"],
            cwd=home.folder,
            env=cloud_environment(home, port),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,  # Ctrl-C in the user's shell is not for the cloud
        )
    cloud = Cloud(process.pid, port)
    home.process.write_text(json.dumps(asdict(cloud)))
    home.port.write_text(str(port))
    try:
        # The process object is asked, because a new process has an empty command line for a moment.
        _wait_until_healthy(home, cloud, lambda: process.poll() is None)
    except Trouble:
        if process.poll() is not None:
            home.process.unlink()
        raise
    return cloud, orderly


def last_port(home: Home) -> int | None:
    """The port of the cloud that runs, or of the last one that was used here."""
    with suppress(FileNotFoundError, ValueError):
        return int(home.port.read_text())
    return None


@contextmanager
def alone(home: Home) -> Iterator[None]:
    """Let only one command at a time start, deploy to or stop the cloud of a checkout."""
    make_folder(home)
    with home.lock.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("Another command works on the local cloud; waiting for it ...", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def in_words(left: Mapping[str, int]) -> str:
    """The work that functions still have, in words; empty where there is none."""
    return " and ".join(f"{counted(left[kind], one)} {of}" for kind, (one, of) in WORDS.items() if left.get(kind))


def drain(home: Home, timeout: float = DRAIN_TIMEOUT) -> dict[str, int]:
    """Wait until functions have taken what streams and queues hold; returns what is left after that time, by kind."""
    cloud = running(home)
    left: dict[str, int] = {}
    deadline = time.monotonic() + timeout
    drained = 0
    while cloud and drained < IN_A_ROW:
        with suppress(OSError, ValueError):
            left = {kind: number for kind, number in waiting(home, cloud).items() if number and kind != DEAD}
            drained = 0 if left else drained + 1
        if time.monotonic() > deadline:
            break
        time.sleep(0.2)
    return left


def waiting(home: Home, cloud: Cloud) -> dict[str, int]:
    """How many records and messages functions have not taken yet, and how many are dead letters. Raises OSError."""
    credential = f"AWS4-HMAC-SHA256 Credential={access_key(home).key_id}/20260101/{REGION}/local/aws4_request"
    request = urllib.request.Request(  # noqa: S310  # our own address
        f"{endpoint(cloud.port)}{WAITING}", headers={"Authorization": credential}
    )
    with urllib.request.urlopen(request, timeout=5) as answer:  # noqa: S310  # the same
        counts: dict[str, int] = json.loads(answer.read())
    return counts


def stop(home: Home) -> bool:
    """Stop the cloud and wait until it has written its state; False where none was running.

    Raises Trouble where it had to be killed, as while a deployment is under way, or did not write all of it.
    """
    cloud = running(home)
    if cloud is None:
        # A record that stays shows the next start that the last cloud did not end in order.
        return False
    os.kill(cloud.pid, signal.SIGTERM)
    if not _until(lambda: running(home) is None, STOP_TIMEOUT):
        kill(home)
        raise Trouble("The local cloud did not end and was killed: what came after its last orderly stop is gone.")
    log = home.log.read_text(errors="replace")
    if SAVED not in log or NOT_SAVED.search(log):
        raise Trouble(f"The local cloud did not write down all that it held: see {short(home.log)}.")
    home.process.unlink(missing_ok=True)
    shutil.rmtree(home.scratch, ignore_errors=True)
    return True


def kill(home: Home) -> None:
    """End the cloud at once, with nothing written."""
    cloud = running(home)
    if cloud:
        os.kill(cloud.pid, signal.SIGKILL)
        _until(lambda: running(home) is None, STOP_TIMEOUT)


def _forget_places_in_streams(home: Home) -> None:
    """Let functions read streams from the beginning, because streams start over with each start of the cloud.

    MiniStack remembers how many records a function has read, but not the records: it would skip as many new ones.
    """
    file = home.state / "lambda.json"
    if file.exists():
        kept = json.loads(file.read_text())
        kept["payload"].pop("dynamodb_stream_positions", None)
        file.write_text(json.dumps(kept))


def _until(done: Callable[[], bool], timeout: float) -> bool:
    """Wait until something is so; False where it is not in time, in seconds."""
    deadline = time.monotonic() + timeout
    while not done():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


def _wait_until_healthy(home: Home, cloud: Cloud, lives: Callable[[], bool]) -> None:
    address = f"{endpoint(cloud.port)}/_ministack/ready"

    def healthy() -> bool:
        if not lives():
            raise Trouble(f"The local cloud ended while it started; see {short(home.log)}.")
        with suppress(OSError, ValueError), urllib.request.urlopen(address, timeout=2):  # noqa: S310  # ours
            return True
        return False

    if not _until(healthy, START_TIMEOUT):
        raise Trouble(
            f"The local cloud (process {cloud.pid}) runs but does not answer; "
            f"see {short(home.log)}, then stop it (make stop) and start again."
        )


def _refuse_taken(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise Trouble(
                f"Port {port} is in use by another program: end that, or choose another port (BTD_PORT=4567 make run)."
            ) from error


def _is_ours(pid: int) -> bool:
    """Whether a process runs and is MiniStack: another program may have got the number of one that ended."""
    with suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return "ministack" in _command_line(pid)


def _command_line(pid: int) -> str:
    file = Path(f"/proc/{pid}/cmdline")
    if file.parent.parent.joinpath("self").exists():
        try:
            return file.read_text().replace("\0", " ")
        except OSError:
            return ""
    listed = subprocess.run(["ps", "-o", "command=", "-p", str(pid)], check=False, capture_output=True, text=True)
    return listed.stdout
