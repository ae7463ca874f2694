"""Servers in DynamoDB's and SQS's place, which answer as they should, badly, late or not at all."""

from __future__ import annotations

import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from shared.dynamodb.aws_errors import Budget
from shared.dynamodb.client import connect
from shared.dynamodb.table import Table
from tests.support.engines import FAKE_CREDENTIALS

KEY = {"PK": "DEAL#1", "SK": "DEAL#1"}


class Request(BaseHTTPRequestHandler):
    """One connection and, in turn, the requests over it; ``asked`` is what the present one asks."""

    protocol_version = "HTTP/1.1"
    asked: Any

    def setup(self) -> None:
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def log_message(self, *_: Any) -> None:
        pass


Answer = Callable[[Request], None]

PATIENCE = 1.0
"""Seconds that an impatient table waits for an answer: a server with something to say is faster on any machine."""


@dataclass(frozen=True)
class Asked:
    headers: dict[str, str]
    body: Any


@dataclass
class Server:
    """The requests that a server has seen."""

    endpoint: str
    connections: set[Any] = field(default_factory=set)
    requests: list[Asked] = field(default_factory=list)
    ended: int = 0
    """How many connections the server has ended."""

    def table(self, budget: Budget | None = None) -> Table:
        """A table there, which waits for nothing between attempts."""
        return replace(connect("deals", budget, endpoint_url=self.endpoint, **FAKE_CREDENTIALS), sleep=lambda _: None)


def writing(raw: bytes, *, closes: bool = True, after: float = 0.0) -> Answer:
    """An answer of exactly these bytes; seconds ``after`` them the connection is free, or closed."""

    def answer(request: Request) -> None:
        request.wfile.write(raw)
        time.sleep(after)
        request.close_connection |= closes

    return answer


def saying(body: bytes, **headers: str) -> Answer:
    """An answer with status 200, whatever it says."""
    lines = {"Content_Length": str(len(body)), **headers}
    head = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in lines.items())
    return writing(OK + head.encode() + b"\r\n" + body, closes=False)


OK = b"HTTP/1.1 200 OK\r\n"
BODY = json.dumps({"Item": {"PK": {"S": "DEAL#1"}, "Title": {"S": "Schuhe für Läufer"}}}).encode()

well = saying(BODY)
_CHUNKS = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (BODY[:7], BODY[7:], b""))
in_chunks = writing(OK + b"Transfer-Encoding: chunked\r\n\r\n" + _CHUNKS, closes=False)
and_say_goodbye = writing(OK + b"Connection: close\r\n\r\n" + BODY)
and_hang_up = writing(OK + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY)
as_in_1996 = writing(b"HTTP/1.0 200 OK\r\n\r\n" + BODY)
only_half_a_head = writing(b"HTTP/1.1 200 OK\r\nContent-Le")
only_half = writing(OK + b"Content-Length: 100\r\n\r\n{")
something_else = writing(b"220 mail.example ESMTP\r\n\r\n")
not_at_all = writing(b"")
too_late = writing(b"", after=1.5 * PATIENCE)
stalled = writing(OK + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY[:10], after=30)

BROKEN = {
    "a page": saying(b"<html>Please sign in to this network.</html>"),
    "a list": saying(b"[]"),
    "a text": saying(b'"Item"'),
    "nothing": saying(b""),
    "another checksum": saying(b"{}", x_amz_crc32="1"),
}
"""Bodies that are no answer of DynamoDB's, though their status is 200."""


@contextmanager
def serving(*answers: Answer, context: ssl.SSLContext | None = None) -> Iterator[Server]:
    """A server that answers each request in its way, in turn; the last way holds for all further ones."""

    class Handler(Request):
        def do_POST(self) -> None:
            self.asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer = answers[min(len(server.requests), len(answers) - 1)]
            server.connections.add(self.client_address)
            server.requests.append(Asked(dict(self.headers), self.asked))
            answer(self)

    class Listening(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 64

        def shutdown_request(self, request: Any) -> None:
            super().shutdown_request(request)
            server.ended += 1

        def handle_error(self, *_: Any) -> None:
            """Say nothing of clients that have hung up."""

    with Listening(("127.0.0.1", 0), Handler) as listening:
        if context:
            listening.socket = context.wrap_socket(listening.socket, server_side=True)
        server = Server(f"http{'s' if context else ''}://127.0.0.1:{listening.server_port}")
        threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        try:
            yield server
        finally:
            listening.shutdown()
