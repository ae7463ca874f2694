"""The local cloud: starting and stopping its process without losing state, and deploying to it with the CDK."""

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
from typing import IO

import boto3
from botocore.exceptions import WaiterError

from infra.bundling import digest_of, libraries
from infra.settings import STAGES
from local.guarded_ministack import WAITING
from local.settings import (
    ACCOUNT,
    REGION,
    ROOT,
    STAGE,
    Home,
    Trouble,
    access_key,
    client_arguments,
    client_environment,
    cloud_environment,
    endpoint,
    make_folder,
    short,
)
from shared.values.naming import counted


def free_port() -> int:
    """A free port of 127.0.0.1."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


DEAD = "dead"
"""The kind for dead letters, which wait for someone to send them again."""

WORDS = {"records": ("record", "of the table's stream"), "messages": ("message", "of the queue")}
"""The functions' outstanding work, by kind."""

START_TIMEOUT = 180.0
"""Seconds that a start may take; it loads the last run's state."""

DRAIN_TIMEOUT = 30.0
"""Seconds that functions may take for outstanding records and messages before the cloud stops."""

IN_A_ROW = 2
"""Checks in a row that must find no outstanding work: between two, a function may turn a record into a message."""

STOP_TIMEOUT = 60.0
"""Seconds that saving the state may take."""


SAVED, NOT_SAVED = "Persistence: saved dynamodb state", re.compile("Persistence: (error|failed to save)")
"""Lines of MiniStack's log about the saved table and failed saves, which don't change its exit code."""


@dataclass(frozen=True, slots=True)
class Cloud:
    """A running cloud."""

    pid: int
    port: int


def running(home: Home) -> Cloud | None:
    """The cloud of this folder's last start, if its process still runs."""
    try:
        cloud = Cloud(**json.loads(home.process.read_text()))
    except (FileNotFoundError, ValueError, TypeError):
        return None
    return cloud if _is_ours(cloud.pid) else None


def start(home: Home, port: int) -> tuple[Cloud, bool]:
    """Start the cloud, or find it running; also returns whether the last one had ended in order.

    Raises Trouble if the port is taken or the cloud doesn't come up.
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
            start_new_session=True,  # Ctrl-C in the user's shell must not stop the cloud
        )
    cloud = Cloud(process.pid, port)
    home.process.write_text(json.dumps(asdict(cloud)))
    home.port.write_text(str(port))
    try:
        # Ask the process object, because a new process has an empty command line for a moment.
        _wait_until_healthy(home, cloud, lambda: process.poll() is None)
    except Trouble:
        if process.poll() is not None:
            home.process.unlink()
        raise
    return cloud, orderly


def last_port(home: Home) -> int | None:
    """The port of the running cloud, or of the last one here."""
    with suppress(FileNotFoundError, ValueError):
        return int(home.port.read_text())
    return None


@contextmanager
def alone(home: Home) -> Iterator[None]:
    """Allow only one command at a time to start, deploy to or stop a checkout's cloud."""
    make_folder(home)
    with home.lock.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("Another command works on the local cloud; waiting for it ...", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def in_words(left: Mapping[str, int]) -> str:
    """The outstanding work in words; empty if there is none."""
    return " and ".join(f"{counted(left[kind], one)} {of}" for kind, (one, of) in WORDS.items() if left.get(kind))


def drain(home: Home, timeout: float = DRAIN_TIMEOUT) -> dict[str, int]:
    """Wait until functions have processed all records and messages; returns what is left after the timeout, by kind."""
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
    """The numbers of outstanding records and messages, and of dead letters. Raises OSError."""
    credential = f"AWS4-HMAC-SHA256 Credential={access_key(home).key_id}/20260101/{REGION}/local/aws4_request"
    request = urllib.request.Request(  # noqa: S310  # our own address
        f"{endpoint(cloud.port)}{WAITING}", headers={"Authorization": credential}
    )
    with urllib.request.urlopen(request, timeout=5) as answer:  # noqa: S310  # the same
        counts: dict[str, int] = json.loads(answer.read())
    return counts


def stop(home: Home) -> bool:
    """Stop the cloud and wait until it has saved its state; False if none was running.

    Raises Trouble if it had to be killed, as during a deployment, or didn't save everything.
    """
    cloud = running(home)
    if cloud is None:
        # A record that stays shows the next start that the last cloud didn't end in order.
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
    """End the cloud at once, without saving."""
    cloud = running(home)
    if cloud:
        os.kill(cloud.pid, signal.SIGKILL)
        _until(lambda: running(home) is None, STOP_TIMEOUT)


def _forget_places_in_streams(home: Home) -> None:
    """Reset the functions' positions in streams, because streams start over with each start of the cloud.

    MiniStack saves how many records a function has read, but not the records, so it would skip as many new ones.
    """
    file = home.state / "lambda.json"
    if file.exists():
        kept = json.loads(file.read_text())
        kept["payload"].pop("dynamodb_stream_positions", None)
        file.write_text(json.dumps(kept))


def _until(done: Callable[[], bool], timeout: float) -> bool:
    """Wait until something is true; False if it isn't after ``timeout`` seconds."""
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
    """Whether a process runs and is MiniStack: another program may have a reused process id."""
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


OLDEST_NODE = 20
CDK = ROOT / "node_modules" / ".bin" / "cdk"

DEPLOYMENT_TIMEOUT = 1200
"""Seconds for one CDK command; a deployment from nothing takes ten."""

_DEPLOYED_FROM = (
    *("app.py", "cdk.json", "infra", "functions", "shared", "web", "package-lock.json"),
    *("requirements/lambda-full.txt", "requirements/lambda-lean.txt", "requirements/dev.txt"),
)


def check_node() -> None:
    """Raise Trouble if Node.js is missing or too old, or the CDK isn't installed."""
    node = shutil.which("node")
    if node is None:
        raise Trouble(f"Node.js is missing: install version {OLDEST_NODE} or later; the CDK runs on it.")
    version = subprocess.run([node, "--version"], check=False, capture_output=True, text=True).stdout.strip()
    major = version.removeprefix("v").partition(".")[0]
    if not major.isdecimal() or int(major) < OLDEST_NODE:
        raise Trouble(f"Node.js is {version or 'of an unknown version'}: the CDK needs {OLDEST_NODE} or later.")
    if not CDK.exists():
        raise Trouble("The CDK is not installed: run make install.")


def digest_of_sources(port: int) -> str:
    """The digest of everything that a deployment is made from, including the port, which is in the site's address."""
    return f"{digest_of(*_DEPLOYED_FROM)} {STAGES[STAGE].target} {origin(port)}"


def origin(port: int) -> str:
    """The site's origin for browsers: its domain on this machine, and the cloud's port."""
    domain = STAGES[STAGE].domain
    assert domain is not None  # noqa: S101  # the stage of the local cloud has one
    return f"http://{domain.name}:{port}"


def outputs_of(home: Home, digest: str) -> dict[str, str] | None:
    """The last deployment's outputs, if it had this digest."""
    try:
        record = json.loads(home.deployed.read_text())
    except (FileNotFoundError, ValueError):
        return None
    return dict(record["outputs"]) if record.get("digest") == digest else None


def bootstrap(home: Home, port: int) -> None:
    """Prepare the cloud for the CDK, with the CDK's template without a bucket policy. Raises Trouble.

    The policy refuses requests without TLS, which this cloud doesn't have.
    """
    with home.bootstrap.open("wb") as file:
        _run_cdk(home, port, "bootstrap", "--show-template", "--json", "--app", "", output=file)
    template = json.loads(home.bootstrap.read_text())
    del template["Resources"]["StagingBucketPolicy"]
    home.bootstrap.write_text(json.dumps(template))
    given = ("--app", "", "--template", str(home.bootstrap), "--ci", "--output", str(home.folder / "cdk.out"))
    _run_cdk(home, port, "bootstrap", f"aws://{ACCOUNT}/{REGION}", *given)


def deploy(home: Home, port: int, digest: str, *, app: Path | None = None) -> dict[str, str]:
    """Deploy the stacks of ``cdk.json``'s app, or of a synthesized one; returns their outputs. Raises Trouble."""
    libraries("lambda-runtime")  # fetched now, so that make invoke needs no network
    file = home.folder / "outputs.json"
    file.unlink(missing_ok=True)
    end_rollback(home, port)
    _run_cdk(
        home,
        port,
        *("deploy", "--all", "--require-approval", "never", "--context", f"stage={STAGE}"),
        "--no-staging",  # a zipped folder needs no copy first
        *(("--app", str(app)) if app else ()),
        *("--context", f"origin={origin(port)}", "--method", "direct"),
        *("--output", str(home.folder / "cdk.out"), "--outputs-file", str(file), "--progress", "events", "--ci"),
    )
    found = {name: value for stack in json.loads(file.read_text()).values() for name, value in stack.items()}
    home.deployed.write_text(json.dumps({"digest": digest, "outputs": found}, indent=2))
    return found


def end_rollback(home: Home, port: int) -> None:
    """Make a stack updatable whose last update and rollback failed (UPDATE_ROLLBACK_FAILED).

    CloudFormation refuses updates until the rollback is continued, which may skip the resources that it couldn't
    restore: the next update sets these. Everything else stays, above all the table with its data.
    https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-updating-stacks-continueupdaterollback.html
    """
    client = boto3.client("cloudformation", **client_arguments(home, port))
    stacks = client.describe_stacks()["Stacks"]
    for stack in stacks:
        if stack["StackStatus"] == "UPDATE_ROLLBACK_FAILED":
            listed = re.findall(r"\[(.*?)\]", stack["StackStatusReason"])
            stuck = [name.strip() for names in listed for name in names.split(",")]
            print(f"The last update failed half-way: going on without {', '.join(stuck)} ...", flush=True)
            client.continue_update_rollback(StackName=stack["StackName"], ResourcesToSkip=stuck)
            try:
                client.get_waiter("stack_rollback_complete").wait(
                    StackName=stack["StackName"], WaiterConfig={"Delay": 1, "MaxAttempts": 60}
                )
            except WaiterError as error:
                raise Trouble(f"The last update of {stack['StackName']} cannot be taken back: {error}") from error


def _run_cdk(home: Home, port: int, *arguments: str, output: IO[bytes] | None = None) -> None:
    """Run a CDK command; its output goes to the log, or to the file ``output``."""
    command = [str(CDK), *arguments, "--no-notices"]
    with home.deploy_log.open("ab") as log:
        log.write(f"$ cdk {' '.join(arguments)}\n".encode())
        log.flush()
        try:
            done = subprocess.run(
                command,
                check=False,
                cwd=ROOT,
                env=client_environment(home, port),
                stdin=subprocess.DEVNULL,
                stdout=output or log,
                stderr=log,
                timeout=DEPLOYMENT_TIMEOUT,
            )
        except subprocess.TimeoutExpired as error:
            raise Trouble(
                f"cdk {arguments[0]} takes longer than {DEPLOYMENT_TIMEOUT} s; see {short(home.deploy_log)}."
            ) from error
    if done.returncode:
        lines = home.deploy_log.read_text(errors="replace").splitlines()
        errors = [line.strip() for line in lines if "❌" in line or "rror:" in line or line.startswith("Cannot ")]
        raise Trouble(" ".join((f"cdk {arguments[0]} failed; see {short(home.deploy_log)}.", *errors[-1:])))
