"""Requests and answers between the data layer and DynamoDB: watched, metered, tampered with, lagging, and served."""

from __future__ import annotations

import json
import socket
import ssl
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from typing import Any

from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.client import BaseClient
from botocore.compat import HTTPHeaders
from botocore.exceptions import ReadTimeoutError
from urllib3.response import HTTPResponse

from shared.dynamodb.aws_errors import Budget
from shared.dynamodb.capacity import TABLE, Basis, Capacity, taken, units_written
from shared.dynamodb.client import connect, create_table
from shared.dynamodb.table import Table
from shared.dynamodb.tracing import Trace
from tests.support.engines import FAKE_CREDENTIALS

Answer = tuple[int, dict[str, Any]]
"""A status code and a JSON body."""


def answering(client: BaseClient, status: int, body: bytes = b"", **headers: str) -> list[str]:
    """Answer each request of a client in its service's place; returns the list of addresses asked so far."""
    asked: list[str] = []

    def answer(request: AWSPreparedRequest, **_: object) -> AWSResponse:
        asked.append(request.url)
        raw = HTTPResponse(BytesIO(body), preload_content=False)
        return AWSResponse(request.url, status, HTTPHeaders.from_dict(headers), raw)

    client.meta.events.register("before-send", answer)  # type: ignore[arg-type]  # its answer is what is sent
    return asked


@dataclass(frozen=True, slots=True)
class Request:
    """One request to DynamoDB, and the thread that made it."""

    operation: str
    body: dict[str, Any]
    thread: str

    @property
    def partition(self) -> str | None:
        """The partition that a Query reads."""
        values = self.body.get("ExpressionAttributeValues", {})
        return values[":partition"]["S"] if self.operation == "Query" else None


@dataclass(slots=True)
class Wire:
    """The requests made while it was watched."""

    trace: Trace
    requests: list[Request] = field(default_factory=list)

    @property
    def operations(self) -> Counter[str]:
        return Counter(request.operation for request in self.requests)

    @property
    def partitions(self) -> list[str]:
        """The partitions of indexes that were queried, with repetitions."""
        return [
            request.partition
            for request in self.requests
            if request.partition is not None and "IndexName" in request.body
        ]

    @property
    def round_trips(self) -> int:
        """How many round trips followed one another."""
        return self.trace.round_trips


@contextmanager
def hooked(table: Table, event: str, handler: Callable[..., Any]) -> Iterator[None]:
    """Let botocore call a handler, before all others, at one of its client's events."""
    events: Any = table.client.meta.events  # its stubs know of no handler that returns something
    events.register_first(event, handler)
    try:
        yield
    finally:
        events.unregister(event, handler)


@contextmanager
def before(table: Table, operation: str, action: Callable[[], object], skip: int = 0) -> Iterator[None]:
    """Do something, once, just before a request of an operation goes out, the first but ``skip``: a lost race."""
    left = [None] * skip + [action]

    def act(**_: Any) -> None:
        due = left.pop(0) if left else None
        if due is not None:
            due()

    with hooked(table, f"before-call.dynamodb.{operation}", act):
        yield


@contextmanager
def watched(table: Table) -> Iterator[Wire]:
    """Note each request that is made."""
    wire = Wire(Trace().attach(table))

    def note(model: Any, params: dict[str, Any], **_: Any) -> None:
        wire.requests.append(Request(model.name, json.loads(params["body"]), threading.current_thread().name))

    try:
        with hooked(table, "before-call.dynamodb", note):
            yield wire
    finally:
        wire.trace.detach(table)


@contextmanager
def answered(table: Table, operation: str, answer: Callable[[dict[str, Any]], Answer | None]) -> Iterator[list[str]]:
    """Answer requests in DynamoDB's place, where ``answer`` does not return None; gives the bodies so answered.

    ``operation`` is empty for all operations.
    """
    seen: list[str] = []

    def intercept(model: Any, params: dict[str, Any], **_: Any) -> tuple[AWSResponse, dict[str, Any]] | None:
        body = params["body"].decode()
        given = answer(json.loads(body))
        if given is None:
            return None
        seen.append(body)
        status, content = given
        headers = {"content-type": "application/x-amz-json-1.0"}
        raw = {"body": json.dumps(content).encode(), "headers": headers, "status_code": status}
        # Parsed as botocore's endpoint does it, by the client's own parser.
        parser = table.client._response_parser  # type: ignore[attr-defined]
        parsed = parser.parse(raw, model.output_shape)
        shape = model.service_model.shape_for_error_code(parsed["Error"]["Code"]) if "Error" in parsed else None
        if shape is not None:
            parsed.update(parser.parse(raw, shape))
        return AWSResponse(params["url"], status, HTTPHeaders(), None), parsed

    with hooked(table, ".".join(filter(None, ("before-call.dynamodb", operation))), intercept):
        yield seen


@contextmanager
def failing(table: Table, operation: str, times: int, answer: Answer) -> Iterator[list[str]]:
    """Let the first requests of an operation fail, and the others through."""
    left = [answer] * times
    with answered(table, operation, lambda _: left.pop() if left else None) as seen:
        yield seen


@contextmanager
def losing(table: Table, operation: str, times: int = 1) -> Iterator[None]:
    """Let the first requests of an operation be carried out, and lose the answers on their way back."""
    left = [None] * times

    def lose(**_: Any) -> None:
        if left:
            left.pop()
            raise ReadTimeoutError(endpoint_url="https://dynamodb.example")

    with hooked(table, f"after-call.dynamodb.{operation}", lose):
        yield


def error(code: str, **more: Any) -> Answer:
    """How DynamoDB says that something went wrong."""
    return 400, {"__type": f"com.amazonaws.dynamodb.v20120810#{code}", "message": f"{code} (made up)"} | more


@contextmanager
def lost_and_throttled(table: Table, operation: str = "TransactWriteItems", times: int = 3) -> Iterator[None]:
    """Lose the answer of the first request of an operation, and throttle some after it."""
    answers = [None, *[error("ThrottlingException")] * times]
    with losing(table, operation), answered(table, operation, lambda _: answers.pop(0) if answers else None):
        yield


def cancelled(*reasons: str) -> Answer:
    """How DynamoDB says that a transaction was cancelled, and why, write by write."""
    detail = [{"Code": code} if code == "None" else {"Code": code, "Message": "made up"} for code in reasons]
    return error("TransactionCanceledException", CancellationReasons=detail)


WRITES = {"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems", "BatchExecuteStatement"}
READS = {"GetItem", "BatchGetItem", "Query", "Scan"}


@dataclass(slots=True)
class Lag:
    """The writes that the indexes, and reads that are not consistent, have not seen."""

    table: Table
    behind: str
    waiting: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    catching_up: bool = False

    def catch_up(self) -> None:
        """Let all reads see everything that was written so far."""
        self.catching_up = True
        try:
            for operation, body in self.waiting:
                self.table.client._make_api_call(operation, body)  # type: ignore[attr-defined]  # by its name
        finally:
            self.catching_up = False
        self.waiting.clear()

    def ask(self, model: Any, params: dict[str, Any], context: dict[str, Any], **_: Any) -> None:
        """Send what is not read consistently to the table that is behind, and remember what a write asks for."""
        if self.catching_up:
            return
        body = json.loads(params["body"])
        context["asked"] = body
        wanted = body.get("RequestItems", {}).get(self.table.name, body)
        if model.name in READS and not wanted.get("ConsistentRead", False):
            params["body"] = json.dumps(self._renamed(body)).encode()
            params["headers"].pop("Content-Length", None)

    def answered(
        self, model: Any, http_response: Any, parsed: dict[str, Any], context: dict[str, Any], **_: Any
    ) -> None:
        """Keep a write that was carried out until the others see it, and name the table in a batch that was read."""
        if self.catching_up or http_response.status_code != 200:
            return
        if model.name in WRITES:
            asked = {name: value for name, value in context["asked"].items() if name != "ClientRequestToken"}
            self.waiting.append((model.name, self._renamed(asked)))
        for part in ("Responses", "UnprocessedKeys"):
            if model.name == "BatchGetItem" and self.behind in parsed.get(part, {}):
                parsed[part][self.table.name] = parsed[part].pop(self.behind)

    def _renamed(self, body: dict[str, Any]) -> dict[str, Any]:
        """The same request to the table that is behind."""
        renamed: dict[str, Any] = json.loads(json.dumps(body).replace(self.table.name, self.behind))
        return renamed


@contextmanager
def lagging(table: Table) -> Iterator[Lag]:
    """Let the reads of a table that has nothing in it yet lag, but for consistent ones, until they are let catch up."""
    lag = Lag(table, f"{table.name}-behind")
    create_table(table.client, lag.behind)
    try:
        with hooked(table, "before-call.dynamodb", lag.ask), hooked(table, "after-call.dynamodb", lag.answered):
            yield lag
    finally:
        table.client.delete_table(TableName=lag.behind)


ELSEWHERE = "http://127.0.0.1"
"""An engine that does not tell: its requests are counted."""


def taken_by(table: Table, steps: Mapping[str, Callable[[], object]]) -> dict[str, Capacity]:
    """The capacity that each step takes, one after the other."""
    took = {}
    for name, step in steps.items():
        trace = Trace(detailed=False).attach(table)
        step()
        trace.detach(table)
        took[name] = trace.capacity
    return took


@contextmanager
def compared(table: Table) -> Iterator[list[str]]:
    """Each request of whose capacity the answer says one thing and the count another; at least, where it says so."""
    endpoint = table.client.meta.endpoint_url
    other: Any = connect("none", endpoint_url=endpoint, **FAKE_CREDENTIALS).client
    wrong: list[str] = []

    def images(asked: Mapping[str, Any]) -> list[Any]:
        return [
            other.get_item(TableName=table.name, Key=key, ConsistentRead=True).get("Item") for key in _written(asked)
        ]

    def ask(params: dict[str, Any], context: dict[str, Any], **_: Any) -> None:
        params["ReturnConsumedCapacity"] = "INDEXES"
        context["compared"] = params, images(params)

    def compare(model: Any, parsed: Mapping[str, Any], context: dict[str, Any], **_: Any) -> None:
        asked, before = context["compared"]
        if "ConsumedCapacity" not in parsed:
            return  # refused, or answered by a test
        told = taken(model.name, asked, parsed, endpoint) or {}
        told = {name: units for name, units in told.items() if units != Capacity()}
        untold = {name: value for name, value in parsed.items() if name not in {"ResponseMetadata", "ConsumedCapacity"}}
        counted = taken(model.name, asked, untold, ELSEWHERE) or _of_writes(model.name, before, images(asked))
        if not _agree(told, counted):
            wrong.append(f"{model.name} {asked}: told {told}, counted {counted}")

    with hooked(table, "before-parameter-build.dynamodb", ask), hooked(table, "after-call.dynamodb", compare):
        yield wrong


def _agree(told: Mapping[str, Capacity], counted: Mapping[str, Capacity]) -> bool:
    if any(units.basis is Basis.AT_LEAST for units in counted.values()):
        return all(units.read <= told[name].read and units.write <= told[name].write for name, units in counted.items())
    return told == {name: replace(units, basis=Basis.TOLD) for name, units in counted.items()}


def _of_writes(operation: str, before: list[Any], after: list[Any]) -> dict[str, Capacity]:
    counted: dict[str, Capacity] = {}
    for old, new in zip(before, after, strict=True):
        for name, units in units_written(old, new, transactional=operation == "TransactWriteItems").items():
            counted[name] = counted.get(name, Capacity()) + Capacity(write=units)
    return counted or {TABLE: Capacity()}


def _written(asked: Mapping[str, Any]) -> Iterator[Any]:
    """The keys that a request writes or checks."""
    if "TransactItems" in asked:
        for write in asked["TransactItems"]:
            yield from (_key(arguments) for arguments in write.values())
    elif "UpdateExpression" in asked or "Item" in asked or ("Key" in asked and "ReturnValues" in asked):
        yield _key(asked)
    for wanted in asked.get("RequestItems", {}).values():
        if isinstance(wanted, list):
            yield from (_key(next(iter(each.values()))) for each in wanted)


def _key(arguments: Mapping[str, Any]) -> dict[str, Any]:
    item = arguments.get("Key") or arguments["Item"]
    return {name: item[name] for name in ("PK", "SK")}


KEY = {"PK": "DEAL#1", "SK": "DEAL#1"}


class Received(BaseHTTPRequestHandler):
    """One connection and, in turn, the requests over it; ``asked`` is what the present one asks."""

    protocol_version = "HTTP/1.1"
    asked: Any

    def setup(self) -> None:
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def log_message(self, *_: Any) -> None:
        pass


Served = Callable[[Received], None]

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


def writing(raw: bytes, *, closes: bool = True, after: float = 0.0) -> Served:
    """An answer of exactly these bytes; seconds ``after`` them the connection is free, or closed."""

    def answer(request: Received) -> None:
        request.wfile.write(raw)
        time.sleep(after)
        request.close_connection |= closes

    return answer


def saying(body: bytes, **headers: str) -> Served:
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
def serving(*answers: Served, context: ssl.SSLContext | None = None) -> Iterator[Server]:
    """A server that answers each request in its way, in turn; the last way holds for all further ones."""

    class Handler(Received):
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
