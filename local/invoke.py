"""``python -m local.invoke FUNCTION [EVENT]``: one invocation of what is deployed to the local cloud.

The running local cloud's Lambda is asked. If it does not run, the function gets a temporary cloud of its own, made from
its row, and is run as on Lambda: zipped and unzipped, and started by Lambda's own runtime client.
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
from tempfile import TemporaryDirectory
from typing import Any

from infra.bundling import HANDLER, bundle
from infra.functions import BY_NAME, Caller, variables
from infra.functions import Function as Row
from infra.settings import STAGES
from local import cloud, deploy
from local.cloud import free_port
from local.runtime import Answer, Function, running, unpack
from local.settings import ROOT, STAGE, Home, Trouble, access_key, client_arguments, endpoint, reaching
from shared import sqs
from shared.data.catalog import topics
from shared.dynamodb import client
from shared.dynamodb.aws_errors import Budget
from shared.dynamodb.client import connect
from shared.values import times

NAME = "big-time-deals"
"""The name of the table and of the queue."""

PATIENCE = 60
"""Seconds that a request may take: the first of its kind waits until the cloud has loaded the service."""


def row_of(name: str) -> Row:
    """The row of a function. Raises Trouble for an unknown name."""
    row = BY_NAME.get(name)
    if row is None:
        raise Trouble(f"There is no function {name!r}: choose one of {', '.join(sorted(BY_NAME))}.")
    return row


@contextmanager
def undeployed(name: str, folder: Path) -> Iterator[Function]:
    """A function with its code in a folder, a new table and an empty queue. Raises Trouble for an unknown name.

    The table is as a deployment leaves it, except for a function that takes part in deployments: it finds the table
    empty.
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
            queues = sqs.connect("", Budget(answer=PATIENCE), **client_arguments(home, port)).client
            yield Function(
                name=name,
                handler=HANDLER,
                code=unpack(bundle(row.artifact, stage.target).path, folder),
                environment={
                    **variables(row, stage, table.name),
                    "QUEUE_URL": queues.create_queue(QueueName=NAME)["QueueUrl"],
                    "SITE_ORIGIN": deploy.origin(port),
                    "SITE_BASE": stage.site_base,
                    **reaching(endpoint(port), access_key(home)),
                },
                timeout=row.timeout * stage.slowness,
                memory=row.memory,
            )
        finally:
            cloud.kill(home)


def main() -> int:
    """Invoke, print the answer, and on standard error what the function logged; exit code 1 where it failed."""
    parser = argparse.ArgumentParser(prog="python -m local.invoke", description="Invoke a function of Big Time Deals")
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


def _answer(home: Home, name: str, event: bytes) -> Answer:
    """The answer of a function that is deployed, or else of one with a cloud of its own. Raises Trouble."""
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
    """The answer of a function as the last deployment to a running cloud left it. Raises Trouble."""
    functions = deploy.functions(home, there.port)
    if name not in functions:
        raise Trouble(f"There is no function {name!r}: choose one of {', '.join(sorted(functions))}.")
    payload, failed, log = deploy.invoke(home, there.port, functions[name]["FunctionName"], event)
    return Answer(json.loads(payload or b"null"), failed, log)


if __name__ == "__main__":
    sys.exit(main())
