"""``python -m local.invoke FUNCTION [EVENT]``: one invocation of what is deployed to the local cloud.

It works as on Lambda: the artifact is zipped and unzipped, started by Lambda's own runtime client and told where the
local cloud is. With ``--emulator`` Amazon's runtime interface emulator stands between (``aws-lambda-rie``, also a part
of aws-sam-cli).
If the local cloud does not run, the function gets a temporary cloud of its own (``undeployed.py``).
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import platform
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from local import cloud
from local.ports import free_port
from local.runtime import INIT_TIMEOUT, Answer, Function, command, environment, reaching, running, unpack
from local.settings import ROOT, STAGE, Home, access_key, endpoint
from local.trouble import Trouble
from local.undeployed import row_of, undeployed


def main() -> int:
    """Invoke, print the answer, and on standard error what the function logged; exit code 1 where it failed."""
    parser = argparse.ArgumentParser(prog="python -m local.invoke", description="Invoke a function of Big Time Deals")
    parser.add_argument("function", help="catalog, accounts, ...")
    parser.add_argument("event", type=Path, nargs="?", help="a file with an event; else one of events/")
    parser.add_argument("--emulator", action="store_true", help="use Amazon's runtime interface emulator")
    asked = parser.parse_args()
    try:
        event = read(asked.event or event_for(asked.function))
        way = emulated if asked.emulator else running
        with (
            listening(event) as event,
            tempfile.TemporaryDirectory(prefix="invoke-") as folder,
            _found(Home(), asked.function, Path(folder) / "code") as function,
            way(function) as runtime,
        ):
            answer = runtime.invoke(event)
    except Trouble as trouble:
        print(trouble, file=sys.stderr)
        return 1
    print(answer.log, end="", file=sys.stderr)
    print(json.dumps(answer.payload, indent=2, ensure_ascii=False))
    return int(answer.failed)


def read(file: Path) -> bytes:
    """An event. Raises Trouble where the file is missing or not JSON."""
    try:
        return json.dumps(json.loads(file.read_bytes())).encode()
    except (OSError, ValueError) as error:
        raise Trouble(f"{file} is no event: {error}") from error


def event_for(name: str) -> Path:
    """The sample event of a function: the first of its own, or a record of the stream for its readers.

    Raises Trouble where there is no such function, or no event for it.
    """
    row = row_of(name)
    own = sorted((ROOT / "events").glob(f"{name}-*.json"))
    if own:
        return own[0]
    if row.reads is None:
        raise Trouble(f"events/ has none for {name}: name a file (EVENT=...).")
    return ROOT / "events" / "stream-insert.json"


@contextmanager
def listening(event: bytes) -> Iterator[bytes]:
    """An event. If its answer goes to CloudFormation, it names an address here that takes the answer instead."""
    content = json.loads(event)
    if not (isinstance(content, dict) and "ResponseURL" in content):
        yield event
        return
    with ThreadingHTTPServer(("127.0.0.1", 0), _CloudFormation) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield json.dumps(content | {"ResponseURL": f"http://127.0.0.1:{server.server_port}/"}).encode()
        server.shutdown()


class _CloudFormation(BaseHTTPRequestHandler):
    """Takes a custom resource's answer, and says on standard error what it was."""

    def do_PUT(self) -> None:
        """Take an answer."""
        answer = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode(errors="replace")
        print(f"CloudFormation is told: {answer}", file=sys.stderr)
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the base class names it so
        """Say nothing more."""


@contextmanager
def _found(home: Home, name: str, folder: Path) -> Iterator[Function]:
    there = cloud.running(home)
    if there is not None and home.cloud.exists():
        yield deployed(home, there, name, folder)
        return
    with undeployed(name, folder) as function:
        yield function


def deployed(home: Home, there: cloud.Cloud, name: str, folder: Path) -> Function:
    """A function as the last deployment to a running cloud left it, its code unpacked into a folder. Raises Trouble.

    All comes from the template that was deployed, except for the names of the table and the queue: these are outputs of
    the deployment.
    """
    told = json.loads(home.cloud.read_text())
    templates = home.folder / "cdk.out"
    functions = {
        function["Properties"]["Environment"]["Variables"]["POWERTOOLS_SERVICE_NAME"]: function
        for file in templates.glob(f"*-{STAGE}.template.json")
        for function in json.loads(file.read_text())["Resources"].values()
        if function["Type"] == "AWS::Lambda::Function" and "Environment" in function["Properties"]
    }
    if name not in functions:
        raise Trouble(f"There is no function {name!r}: choose one of {', '.join(sorted(functions))}.")
    properties = functions[name]["Properties"]
    known = {"TABLE_NAME": told["table"], "QUEUE_URL": told["queueUrl"]}
    variables: dict[str, Any] = properties["Environment"]["Variables"]
    return Function(
        name=name,
        handler=properties["Handler"],
        code=unpack(templates / functions[name]["Metadata"]["aws:asset:path"], folder),
        environment={
            **{variable: known.get(variable, value) for variable, value in variables.items()},
            **reaching(endpoint(there.port), access_key(home)),
        },
        timeout=properties["Timeout"],
        memory=properties["MemorySize"],
    )


class Emulated:
    """A function behind the runtime interface emulator, which is Lambda's invoke API at one address."""

    def __init__(self, function: Function, address: str, process: subprocess.Popen[bytes], log: Path) -> None:
        self._function, self._address, self._process, self._log = function, address, process, log

    def invoke(self, event: bytes) -> Answer:
        """Hand over an event and wait for the answer. Raises Trouble where the emulator does not take it."""
        request = urllib.request.Request(f"{self._address}/2015-03-31/functions/function/invocations", event)  # noqa: S310  # ours
        try:
            with urllib.request.urlopen(request, timeout=self._function.timeout + INIT_TIMEOUT) as answer:  # noqa: S310  # ours
                text = answer.read()
        except OSError as error:
            raise Trouble(f"The emulator does not answer: {error}\n{self._log.read_text(errors='replace')}") from error
        payload = json.loads(text or b"null")
        failed = isinstance(payload, dict) and "errorType" in payload
        return Answer(payload, failed, self._log.read_text(errors="replace"))


@contextmanager
def emulated(function: Function) -> Iterator[Emulated]:
    """Start a function behind the emulator; it ends with the block. Raises Trouble where there is no emulator."""
    program = emulator()
    if program is None:
        raise Trouble(
            "Amazon's emulator is not installed: it comes with aws-sam-cli, or as aws-lambda-rie on the PATH."
        )
    port, api_port = free_port(), free_port()
    with tempfile.TemporaryDirectory(prefix="emulator-") as folder:
        log = Path(folder) / "log"
        with log.open("wb") as lines:
            process = subprocess.Popen(
                [
                    *(str(program), "--log-level", "error"),
                    *("--runtime-interface-emulator-address", f"127.0.0.1:{port}"),
                    *("--runtime-api-address", f"127.0.0.1:{api_port}"),
                    *command(function),
                ],
                cwd=function.code,
                env=environment(function) | {"AWS_LAMBDA_FUNCTION_TIMEOUT": str(int(function.timeout))},
                stdin=subprocess.DEVNULL,
                stdout=lines,
                stderr=subprocess.STDOUT,
            )
        try:
            _wait_for(port, process)
            yield Emulated(function, f"http://127.0.0.1:{port}", process, log)
        finally:
            process.terminate()  # it ends the function it has started
            process.wait()


def emulator() -> Path | None:
    """The emulator that is installed, if one is."""
    architecture = "arm64" if platform.machine() in {"arm64", "aarch64"} else "x86_64"
    on_path = shutil.which("aws-lambda-rie")
    installed = importlib.util.find_spec("samcli")
    packages = [
        *map(Path, (installed.submodule_search_locations or []) if installed else []),
        *(ROOT / ".venv-sam" / "lib").glob("python*/site-packages/samcli"),
    ]
    places = [
        *([Path(on_path)] if on_path else []),
        *(package / "local" / "rapid" / f"aws-lambda-rie-{architecture}" for package in packages),
    ]
    return next((place for place in places if place.exists()), None)


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + cloud.START_TIMEOUT
    while time.monotonic() < deadline and process.poll() is None:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.05)
    raise Trouble("Amazon's emulator did not start.")


if __name__ == "__main__":
    sys.exit(main())
