"""boto3's own clients of servers on 127.0.0.1, and a stand-in for DynamoDB that says yes after a fixed time."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import boto3

from tests.support.engines import FAKE_CREDENTIALS


def client(service: Any, endpoint: str) -> Any:
    """A client as boto3 makes it."""
    arguments: dict[str, Any] = {"endpoint_url": endpoint, **FAKE_CREDENTIALS}
    return boto3.client(service, **arguments)


@contextmanager
def slow_dynamodb(milliseconds: float) -> Iterator[str]:
    """The stand-in in a process of its own; its endpoint."""
    command = [sys.executable, "-m", "benchmarks.servers", str(milliseconds)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        yield process.stdout.readline().strip()
        process.terminate()


class _Slow(BaseHTTPRequestHandler):
    """Answers PutItem and BatchExecuteStatement, over connections that are kept alive."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        time.sleep(float(sys.argv[1]) / 1000)
        statements = body.count(b'"Statement"')
        answer = json.dumps({"Responses": [{}] * statements} if statements else {}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/x-amz-json-1.0")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


if __name__ == "__main__":
    with ThreadingHTTPServer(("127.0.0.1", 0), _Slow) as server:
        print(f"http://127.0.0.1:{server.server_port}", flush=True)
        server.serve_forever()
