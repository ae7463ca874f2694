"""Requests over kept connections: what a server may do to them, and what becomes of the request."""

from __future__ import annotations

import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from shared.dynamodb import client as clients
from shared.dynamodb.client import connect
from shared.dynamodb.table import Table
from shared.errors import Unavailable
from tests.support.engines import FAKE_CREDENTIALS

KEY = {"PK": "DEAL#1", "SK": "DEAL#1"}
ITEM = {"Item": {"PK": {"S": "DEAL#1"}, "Title": {"S": "Schuhe für Läufer"}}}


class Request(BaseHTTPRequestHandler):
    """One connection and, in turn, the requests over it; ``asked`` is what the present one asks."""

    protocol_version = "HTTP/1.1"
    asked: Any

    def log_message(self, *_: Any) -> None:
        pass


Answer = Callable[[Request], None]

PATIENCE = 1.0
"""Seconds a table of ``impatient`` waits for an answer: a server with something to say is faster on any machine."""


@dataclass(frozen=True)
class Asked:
    headers: dict[str, str]
    body: Any


@dataclass
class Server:
    """What a server has seen."""

    endpoint: str
    connections: set[Any] = field(default_factory=set)
    requests: list[Asked] = field(default_factory=list)

    def table(self) -> Table:
        return connect("deals", endpoint_url=self.endpoint, **FAKE_CREDENTIALS)


def well(request: Request, body: bytes = json.dumps(ITEM).encode(), length: int | None = None) -> None:
    request.send_response(200)
    request.send_header("Content-Length", str(len(body) if length is None else length))
    request.end_headers()
    request.wfile.write(body)


def and_say_goodbye(request: Request) -> None:
    request.send_response(200)
    request.send_header("Connection", "close")
    request.end_headers()
    request.wfile.write(json.dumps(ITEM).encode())


def and_hang_up(request: Request) -> None:
    well(request)
    request.close_connection = True


def in_chunks(request: Request) -> None:
    request.send_response(200)
    request.send_header("Transfer-Encoding", "chunked")
    request.end_headers()
    body = json.dumps(ITEM).encode()
    for part in (body[:7], body[7:], b""):
        request.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))


def as_in_1996(request: Request) -> None:
    request.protocol_version = "HTTP/1.0"
    request.send_response(200)
    request.end_headers()
    request.wfile.write(json.dumps(ITEM).encode())
    request.close_connection = True


def only_half_a_head(request: Request) -> None:
    request.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Le")
    request.close_connection = True


def something_else(request: Request) -> None:
    request.wfile.write(b"220 mail.example ESMTP\r\n\r\n")
    request.close_connection = True


def only_half(request: Request) -> None:
    well(request, b"{", length=100)
    request.close_connection = True


def not_at_all(request: Request) -> None:
    request.close_connection = True


def too_late(request: Request) -> None:
    time.sleep(1.5 * PATIENCE)
    request.close_connection = True


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

    with Listening(("127.0.0.1", 0), Handler) as listening:
        if context:
            listening.socket = context.wrap_socket(listening.socket, server_side=True)
        server = Server(f"http{'s' if context else ''}://127.0.0.1:{listening.server_port}")
        threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        try:
            yield server
        finally:
            listening.shutdown()


@pytest.fixture(autouse=True)
def _undisturbed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retries without a pause; nothing of the user's proxies."""
    monkeypatch.setattr("botocore.retries.standard.ExponentialBackoff.delay_amount", lambda *_: 0.0)
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clients, "READ_TIMEOUT", PATIENCE)


def test_requests_in_a_row_go_over_one_connection() -> None:
    with serving(well) as server:
        table = server.table()
        found = [table.get(KEY) for _ in range(5)]

    assert found == [{"PK": "DEAL#1", "Title": "Schuhe für Läufer"}] * 5
    assert len(server.connections) == 1


def test_an_answer_in_chunks_is_whole_and_leaves_the_connection_open() -> None:
    with serving(in_chunks) as server:
        table = server.table()
        assert table.get(KEY) == table.get(KEY) == {"PK": "DEAL#1", "Title": "Schuhe für Läufer"}

    assert len(server.connections) == 1


def test_a_refusal_is_told_from_an_answer() -> None:
    def refuse(request: Request) -> None:
        body = b'{"__type": "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException", "message": "no such table"}'
        request.send_response(400)
        request.send_header("Content-Length", str(len(body)))
        request.send_header("x-amzn-RequestId", "REQUEST")
        request.end_headers()
        request.wfile.write(body)

    with serving(refuse) as server:
        with pytest.raises(ClientError) as refused:
            server.table().client.get_item(TableName="deals", Key={"PK": {"S": "x"}})
        with pytest.raises(Unavailable, match="no such table"):
            server.table().get(KEY)

    assert refused.value.response["Error"]["Code"] == "ResourceNotFoundException"
    assert refused.value.response["ResponseMetadata"]["RequestId"] == "REQUEST"


def test_a_request_says_what_botocore_would_have_it_say() -> None:
    with serving(well) as server:
        server.table().get(KEY)

    (request,) = server.requests
    assert request.headers["Host"] == server.endpoint.removeprefix("http://")
    assert request.headers["X-Amz-Target"] == "DynamoDB_20120810.GetItem"
    assert request.headers["Authorization"].startswith("AWS4-HMAC-SHA256 Credential=")
    assert request.body == {"TableName": "deals", "Key": {n: {"S": v} for n, v in KEY.items()}, "ConsistentRead": False}


@pytest.mark.parametrize("parting", [and_say_goodbye, and_hang_up, as_in_1996])
def test_a_connection_that_the_server_ended_is_not_used_again(parting: Answer) -> None:
    with serving(parting) as server:
        table = server.table()
        for _ in range(3):
            assert table.get(KEY)
            time.sleep(0.05)  # the end of a connection has to arrive

    assert len(server.requests) == len(server.connections) == 3


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("failing", [only_half, only_half_a_head, something_else, not_at_all, too_late])
def test_a_request_whose_connection_breaks_is_sent_again_over_another(failing: Answer) -> None:
    with serving(failing, well) as server:
        assert server.table().get(KEY) == {"PK": "DEAL#1", "Title": "Schuhe für Läufer"}

    assert len(server.requests) == len(server.connections) == 2


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("failing", [only_half, only_half_a_head, something_else, not_at_all, too_late])
def test_a_server_that_never_answers_well_is_unavailable(failing: Answer) -> None:
    with serving(failing) as server, pytest.raises(Unavailable):
        server.table().get(KEY)

    assert len(server.requests) == 5


def test_nobody_there_is_unavailable() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        table = connect("deals", endpoint_url=f"http://127.0.0.1:{bound.getsockname()[1]}", **FAKE_CREDENTIALS)
        with pytest.raises(Unavailable):
            table.get(KEY)


def test_requests_at_once_have_a_connection_each_and_get_their_own_answers() -> None:
    def echo(request: Request) -> None:
        time.sleep(0.005)
        well(request, json.dumps({"Item": {"PK": request.asked["Key"]["PK"]}}).encode())

    names = [f"DEAL#{number}" for number in range(200)]
    with serving(echo) as server, ThreadPoolExecutor(16) as pool:
        table = server.table()
        found = list(pool.map(lambda name: table.get({"PK": name, "SK": name}), names))

    assert found == [{"PK": name} for name in names]
    assert len(server.connections) <= 16


def test_a_server_with_a_certificate_of_nobody_known_is_unavailable(tmp_path: Path) -> None:
    with serving(well, context=certified(tmp_path)) as server, pytest.raises(Unavailable):
        server.table().get(KEY)

    assert server.requests == []


def test_the_authorities_are_those_that_aws_ca_bundle_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    context = certified(tmp_path)
    monkeypatch.setenv("AWS_CA_BUNDLE", str(tmp_path / "server.pem"))

    with serving(well, context=context) as server:
        table = server.table()
        assert table.get(KEY) == table.get(KEY) == {"PK": "DEAL#1", "Title": "Schuhe für Läufer"}

    assert len(server.connections) == 1


def test_where_a_proxy_stands_in_between_botocore_sends_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    with serving(well) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.endpoint)
        table = connect("deals", endpoint_url="http://dynamodb.invalid", **FAKE_CREDENTIALS)
        assert table.get(KEY)

    (request,) = proxy.requests
    assert request.headers["Host"] == "dynamodb.invalid"


def certified(folder: Path) -> ssl.SSLContext:
    """A context with a certificate for 127.0.0.1 that it has signed itself, and the certificate in ``server.pem``."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    (folder / "server.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    (folder / "key.pem").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.pem", folder / "key.pem")
    return context
