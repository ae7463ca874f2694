"""Functions run as Lambda runs them: unpacked from a zip, by Amazon's runtime client, against a local Runtime API.

The API is Lambda's own, https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html; the client is ``awslambdaric``,
which is what Lambda's Python runtimes start.
"""

from __future__ import annotations

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
from typing import Any

from infra.bundling import compiler, libraries
from infra.settings import this_machine
from local.settings import ACCOUNT, REGION

VERSION = "2018-06-01"
INIT_TIMEOUT = 10.0
"""Seconds that Lambda gives a function to start.

https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html"""


@dataclass(frozen=True, slots=True)
class Function:
    """A function as Lambda knows it.

    ``code`` is a folder as Lambda unpacks it; ``timeout`` is in seconds. ``python`` is the version of its runtime
    (3.14), which must be on this machine.
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
    """Zip an artifact and unzip it into a folder that is not there yet, as a deployment does; returns the folder."""
    with tempfile.TemporaryFile() as file:
        with zipfile.ZipFile(file, "w") as archive:
            for path in sorted(artifact.rglob("*")):
                archive.write(path, path.relative_to(artifact))
        with zipfile.ZipFile(file) as archive:
            archive.extractall(folder)
    return folder


@dataclass(slots=True)
class Runtime:
    """A running function. Its process is Lambda's execution environment: started once, invoked many times."""

    function: Function
    process: subprocess.Popen[bytes]
    api: _Api
    _log: Path
    _read: int = 0
    fresh: bool = True

    def invoke(self, event: bytes) -> Answer:
        """Hand over an event and wait for the answer, as long as Lambda would."""
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
    """Start a function; it ends with the block."""
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
            process.kill()  # it waits for the next event, as Lambda's do when they are ended
            process.wait()
    finally:
        api.shutdown()
        api.server_close()
        shutil.rmtree(folder, ignore_errors=True)


def command(function: Function) -> list[str]:
    """The runtime client, by the function's Python without the working copy's libraries."""
    return [compiler(function.python) or sys.executable, "-S", "-m", "awslambdaric", function.handler]


def environment(function: Function) -> dict[str, str]:
    """The variables that Lambda and the function's stack define for a function, without the user's own.

    https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html
    """
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "LANG": "en_US.UTF-8",
        "TZ": ":UTC",
        "PYTHONPATH": str(libraries("lambda-runtime", function.python)),
        # botocore finds the user's home folder, and settings in it, even if its name is not passed on.
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "PYTHONDONTWRITEBYTECODE": "1",  # Lambda's folder of the code is read-only
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
    """The Runtime API of one function: events that wait, and answers that came."""

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
    wbufsize = -1  # the head and the body of an answer in one packet
    disable_nagle_algorithm = True

    def handle(self) -> None:
        """Answer requests until the client, which is ended with its block, is gone."""
        with suppress(ConnectionError):
            super().handle()

    def do_GET(self) -> None:
        """Wait for an event and hand it over."""
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
        """Take an answer, or an error in its place."""
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
        """Log nothing: only what the function logs counts."""
