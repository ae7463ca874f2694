"""``python -m local.invoke FUNCTION [EVENT]``: one invocation of what is deployed to the local cloud.

It works as on Lambda: the artifact is zipped and unzipped, started by Lambda's own runtime client and told where the
local cloud is. If the local cloud does not run, the function gets a temporary cloud of its own (``undeployed.py``).
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from local import cloud, deploy
from local.runtime import Function, running, unpack
from local.settings import ROOT, STAGE, Home, access_key, endpoint, reaching
from local.trouble import Trouble
from local.undeployed import row_of, undeployed


def main() -> int:
    """Invoke, print the answer, and on standard error what the function logged; exit code 1 where it failed."""
    parser = argparse.ArgumentParser(prog="python -m local.invoke", description="Invoke a function of Big Time Deals")
    parser.add_argument("function", help="catalog, accounts, ...")
    parser.add_argument("event", type=Path, nargs="?", help="a file with an event; else one of events/")
    asked = parser.parse_args()
    try:
        event = read(asked.event or event_for(asked.function))
        with (
            listening(event) as event,
            tempfile.TemporaryDirectory(prefix="invoke-") as folder,
            _found(Home(), asked.function, Path(folder) / "code") as function,
            running(function) as runtime,
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

    The code is that of the template that was deployed; all else is asked of the cloud, which has put the names of the
    table, the queues and the bucket in the place of references.
    """
    functions = deploy.functions(home, there.port)
    if name not in functions:
        raise Trouble(f"There is no function {name!r}: choose one of {', '.join(sorted(functions))}.")
    found = functions[name]
    return Function(
        name=name,
        handler=found["Handler"],
        code=unpack(_artifact(home.folder / "cdk.out", name), folder),
        environment={**found["Environment"]["Variables"], **reaching(endpoint(there.port), access_key(home))},
        timeout=found["Timeout"],
        memory=found["MemorySize"],
    )


def _artifact(templates: Path, name: str) -> Path:
    """The folder with the code that a function was deployed with."""
    resources = (
        resource
        for file in templates.glob(f"*-{STAGE}.template.json")
        for resource in json.loads(file.read_text())["Resources"].values()
        if resource["Type"] == "AWS::Lambda::Function" and "Environment" in resource["Properties"]
    )
    for resource in resources:
        if resource["Properties"]["Environment"]["Variables"]["POWERTOOLS_SERVICE_NAME"] == name:
            return templates / str(resource["Metadata"]["aws:asset:path"])
    raise Trouble(f"What {name} was deployed from is gone: run make run.")


if __name__ == "__main__":
    sys.exit(main())
