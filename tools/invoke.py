"""``python -m tools.invoke FUNCTION [EVENT]``: invoke a function of the local cloud once.

It uses the running local cloud's Lambda. Without one, the function gets a temporary cloud, made from its row, and runs
as on Lambda: unpacked from a zip, by ``awslambdaric`` (which Lambda's Python runtimes start), against a local Runtime
API (https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html).
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import uuid
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import boto3
from botocore.config import Config

from infra.bundling import HANDLER, bundle, compiler, libraries
from infra.functions import BY_NAME, variables
from infra.rows import Caller
from infra.rows import Function as Row
from infra.settings import STAGES
from infra.stage import this_machine
from local import cloud
from local.cloud import free_port
from local.settings import ACCOUNT, REGION, ROOT, STAGE, Home, Trouble, access_key, client_arguments, endpoint, reaching
from shared import services
from shared.data.catalog import topics
from shared.dynamodb import client
from shared.dynamodb.aws_errors import Budget
from shared.dynamodb.client import connect
from shared.values import times

VERSION = "2018-06-01"
INIT_TIMEOUT = 10.0
"""Seconds that Lambda gives a function to start.
https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html"""


@dataclass(frozen=True, slots=True)
class Function:
    """A function in Lambda's terms.

    ``code`` is an unpacked folder; ``timeout`` is in seconds. ``python`` is the runtime's version (3.14), which must be
    installed.
    """

    name: str
    handler: str
    code: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    timeout: float = 30.0
    memory: int = 512
    python: str = field(default_factory=lambda: this_machine().python)


@dataclass(frozen=True, slots=True)
class Answer:
    """A function's answer, or the error that Lambda would report, and its log."""

    payload: Any
    failed: bool
    log: str = ""


def unpack(artifact: Path, folder: Path) -> Path:
    """Zip an artifact and unzip it into a new folder, as a deployment does; returns the folder."""
    with tempfile.TemporaryFile() as file:
        with zipfile.ZipFile(file, "w") as archive:
            for path in sorted(artifact.rglob("*")):
                archive.write(path, path.relative_to(artifact))
        with zipfile.ZipFile(file) as archive:
            archive.extractall(folder)
    return folder


@dataclass(slots=True)
class Runtime:
    """A running function. Its process is an execution environment: started once, invoked many times."""

    function: Function
    process: subprocess.Popen[bytes]
    api: _Api
    _log: Path
    _read: int = 0
    fresh: bool = True

    def invoke(self, event: bytes) -> Answer:
        """Deliver an event and wait for the answer, as long as Lambda would."""
        deadline = time.monotonic() + self.function.timeout + (INIT_TIMEOUT if self.fresh else 0)
        self.fresh = False
        self.api.events.put(event)
        failed, payload = self._answer(deadline)
        return Answer(json.loads(payload or b"null"), failed, self._new_lines())

    def _answer(self, deadline: float) -> tuple[bool, bytes]:
        while True:
            with suppress(queue.Empty):
                return self.api.answers.get(timeout=0.2)
            if self.process.poll() is not None and self.api.answers.empty():
                return True, _error("Runtime.ExitError", "Runtime exited without providing a reason")
            if time.monotonic() > deadline:
                self.process.kill()
                return True, _error("Sandbox.Timedout", f"Task timed out after {self.function.timeout:.2f} seconds")

    def _new_lines(self) -> str:
        with self._log.open("rb") as log:
            log.seek(self._read)
            text = log.read()
        self._read += len(text)
        # The client writes a carriage return between the lines of one record.
        return text.decode(errors="replace").replace("\r", "\n")


@contextmanager
def running(function: Function) -> Iterator[Runtime]:
    """Start a function, which ends with the block."""
    api = _Api(function)
    threading.Thread(target=api.serve_forever, daemon=True).start()
    folder = Path(tempfile.mkdtemp(prefix="runtime-"))
    log = folder / "log"
    try:
        with log.open("wb") as lines:
            process = subprocess.Popen(
                command(function),
                cwd=function.code,
                env=environment(function) | {"AWS_LAMBDA_RUNTIME_API": f"127.0.0.1:{api.server_port}"},
                stdin=subprocess.DEVNULL,
                stdout=lines,
                stderr=subprocess.STDOUT,
            )
        try:
            yield Runtime(function, process, api, log)
        finally:
            process.kill()  # it waits for the next event, like Lambda's when they are ended
            process.wait()
    finally:
        api.shutdown()
        api.server_close()
        shutil.rmtree(folder, ignore_errors=True)


def command(function: Function) -> list[str]:
    """The runtime client's command, with the function's Python and without the working copy's libraries."""
    return [compiler(function.python) or sys.executable, "-S", "-m", "awslambdaric", function.handler]


def environment(function: Function) -> dict[str, str]:
    """The variables that Lambda and the stack define for a function, without the user's own.

    https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html
    """
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "LANG": "en_US.UTF-8",
        "TZ": ":UTC",
        "PYTHONPATH": str(libraries("lambda-runtime", function.python)),
        # botocore finds the user's home folder, with settings, even without its variable.
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "PYTHONDONTWRITEBYTECODE": "1",  # Lambda's code folder is read-only
        "LAMBDA_TASK_ROOT": str(function.code),
        "_HANDLER": function.handler,
        "AWS_EXECUTION_ENV": f"AWS_Lambda_python{function.python}",
        "AWS_LAMBDA_FUNCTION_NAME": function.name,
        "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(function.memory),
        "AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand",
        "AWS_LAMBDA_LOG_GROUP_NAME": f"/aws/lambda/{function.name}",
        "AWS_LAMBDA_LOG_STREAM_NAME": "2026/01/01/[$LATEST]00000000000000000000000000000000",
        "AWS_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_ACCESS_KEY_ID": "local",
        "AWS_SECRET_ACCESS_KEY": "local",
        **function.environment,
    }


def _error(kind: str, message: str) -> bytes:
    return json.dumps({"errorType": kind, "errorMessage": message}).encode()


class _Api(ThreadingHTTPServer):
    """A function's Runtime API: waiting events and received answers."""

    daemon_threads = True

    def __init__(self, function: Function) -> None:
        super().__init__(("127.0.0.1", 0), _Request)
        self.function = function
        self.events: queue.Queue[bytes] = queue.Queue()
        self.answers: queue.Queue[tuple[bool, bytes]] = queue.Queue()


class _Request(BaseHTTPRequestHandler):
    """One request of the runtime client."""

    server: _Api
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # an answer's head and body in one packet
    disable_nagle_algorithm = True

    def handle(self) -> None:
        """Answer requests until the client is gone, which ends with its block."""
        with suppress(ConnectionError):
            super().handle()

    def do_GET(self) -> None:
        """Wait for an event and deliver it."""
        if self.path != f"/{VERSION}/runtime/invocation/next":
            self._say(HTTPStatus.NOT_FOUND)
            return
        function = self.server.function
        self._say(
            HTTPStatus.OK,
            self.server.events.get(),
            {
                "Content-Type": "application/json",
                "Lambda-Runtime-Aws-Request-Id": str(uuid.uuid4()),
                "Lambda-Runtime-Deadline-Ms": str(int((time.time() + function.timeout) * 1000)),
                "Lambda-Runtime-Invoked-Function-Arn": f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{function.name}",
                "Lambda-Runtime-Trace-Id": f"Root=1-{int(time.time()):08x}-{uuid.uuid4().hex[:24]};Sampled=0",
            },
        )

    def do_POST(self) -> None:
        """Receive an answer or an error."""
        *_, what = self.path.split("/")
        body = self._body()
        if what in ("response", "error"):
            self.server.answers.put((what == "error", body))
        self._say(HTTPStatus.ACCEPTED)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = []
        while size := int(self.rfile.readline(), 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _say(self, status: HTTPStatus, body: bytes = b"", headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {**(headers or {}), "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the base class names it so
        """Log nothing: only the function's log matters."""


NAME = "big-time-deals"
"""The name of the table and of the queue."""

PATIENCE = 60
"""Seconds that a request may take: the first of its kind waits until the cloud has loaded the service."""


def row_of(name: str) -> Row:
    """A function's row. Raises Trouble for an unknown name."""
    row = BY_NAME.get(name)
    if row is None:
        raise Trouble(f"There is no function {name!r}: choose one of {', '.join(sorted(BY_NAME))}.")
    return row


@contextmanager
def undeployed(name: str, folder: Path) -> Iterator[Function]:
    """A function with its code in a folder, a new table and an empty queue. Raises Trouble for an unknown name.

    The table is seeded, except for a function that takes part in deployments.
    """
    row = row_of(name)
    print("The local cloud is not running: the function has a table of its own, gone afterwards.", file=sys.stderr)
    stage = STAGES[STAGE]
    with TemporaryDirectory(prefix="undeployed-") as place:
        home, port = Home(Path(place) / "home"), free_port()
        try:
            cloud.start(home, port)
            table = connect(NAME, Budget(answer=PATIENCE), **client_arguments(home, port))
            client.create_table(table.client, table.name)
            if row.caller is not Caller.DEPLOYMENT:
                topics.plant_seeds(table, times.now())
            queues = services.connect_queue("", Budget(answer=PATIENCE), **client_arguments(home, port)).client
            yield Function(
                name=name,
                handler=HANDLER,
                code=unpack(bundle(row.artifact, stage.target).path, folder),
                environment={
                    **variables(row, stage, table.name),
                    "QUEUE_URL": queues.create_queue(QueueName=NAME)["QueueUrl"],
                    "SITE_ORIGIN": cloud.origin(port),
                    "SITE_BASE": stage.site_base,
                    **reaching(endpoint(port), access_key(home)),
                },
                timeout=row.timeout * stage.slowness,
                memory=row.memory,
            )
        finally:
            cloud.kill(home)


def main() -> int:
    """Invoke, print the answer, and the function's log on standard error; exit code 1 if it failed."""
    parser = argparse.ArgumentParser(prog="python -m tools.invoke", description="Invoke a function of Big Time Deals")
    parser.add_argument("function", help="catalog, accounts, ...")
    parser.add_argument("event", type=Path, nargs="?", help="a file with an event; else one of events/")
    asked = parser.parse_args()
    try:
        event = read(asked.event or event_for(asked.function))
        with listening(event) as event:
            answer = _answer(Home(), asked.function, event)
    except Trouble as trouble:
        print(trouble, file=sys.stderr)
        return 1
    print(answer.log, end="", file=sys.stderr)
    print(json.dumps(answer.payload, indent=2, ensure_ascii=False))
    return int(answer.failed)


def read(file: Path) -> bytes:
    """Read an event. Raises Trouble if the file is missing or not JSON."""
    try:
        return json.dumps(json.loads(file.read_bytes())).encode()
    except (OSError, ValueError) as error:
        raise Trouble(f"{file} is no event: {error}") from error


def event_for(name: str) -> Path:
    """A function's sample event: its first one, or a stream record for stream readers.

    Raises Trouble for an unknown function, or one without an event.
    """
    row = row_of(name)
    own = sorted((*ROOT.glob(f"events/{name}-*.json"), *ROOT.glob(f"features/*/events/{name}-*.json")))
    if own:
        return own[0]
    if row.reads is None:
        raise Trouble(f"events/ has none for {name}: name a file (EVENT=...).")
    return ROOT / "events" / "stream-insert.json"


@contextmanager
def listening(event: bytes) -> Iterator[bytes]:
    """The event; if its answer goes to CloudFormation, with a local address that receives the answer instead."""
    content = json.loads(event)
    if not (isinstance(content, dict) and "ResponseURL" in content):
        yield event
        return
    with ThreadingHTTPServer(("127.0.0.1", 0), _CloudFormation) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield json.dumps(content | {"ResponseURL": f"http://127.0.0.1:{server.server_port}/"}).encode()
        server.shutdown()


class _CloudFormation(BaseHTTPRequestHandler):
    """Receives a custom resource's answer, and prints it on standard error."""

    def do_PUT(self) -> None:
        """Receive an answer."""
        answer = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode(errors="replace")
        print(f"CloudFormation receives: {answer}", file=sys.stderr)
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the base class names it so
        """Log nothing more."""


def _answer(home: Home, name: str, event: bytes) -> Answer:
    """The answer of a deployed function, or else of one with its own cloud. Raises Trouble."""
    there = cloud.running(home)
    if there is not None and home.cloud.exists():
        return deployed(home, there, name, event)
    with (
        tempfile.TemporaryDirectory(prefix="invoke-") as folder,
        undeployed(name, Path(folder) / "code") as function,
        running(function) as runtime,
    ):
        return runtime.invoke(event)


def deployed(home: Home, there: cloud.Cloud, name: str, event: bytes) -> Answer:
    """The answer of a function as last deployed to a running cloud. Raises Trouble."""
    functions = _functions(home, there.port)
    if name not in functions:
        raise Trouble(f"There is no function {name!r}: choose one of {', '.join(sorted(functions))}.")
    payload, failed, log = _invoke(home, there.port, functions[name]["FunctionName"], event)
    return Answer(json.loads(payload or b"null"), failed, log)


def _functions(home: Home, port: int) -> dict[str, Any]:
    """The deployed functions by their services' names, as Lambda's API describes them."""
    pages = boto3.client("lambda", **client_arguments(home, port)).get_paginator("list_functions").paginate()
    return {
        function["Environment"]["Variables"]["POWERTOOLS_SERVICE_NAME"]: function
        for page in pages
        for function in page["Functions"]
        if "Environment" in function
    }


def _invoke(home: Home, port: int, function: str, event: bytes) -> tuple[bytes, bool, str]:
    """A deployed function's answer, whether it failed, and the last 4 KB of its log."""
    client = boto3.client("lambda", **client_arguments(home, port), config=Config(read_timeout=900))
    answer = client.invoke(FunctionName=function, Payload=event, LogType="Tail")
    log = base64.b64decode(answer.get("LogResult", "")).decode(errors="replace")
    return answer["Payload"].read(), "FunctionError" in answer, log


if __name__ == "__main__":
    sys.exit(main())
