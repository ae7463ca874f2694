"""Requests over kept connections: what a server may do to them, and what becomes of the request."""

from __future__ import annotations

import json
import socket
import ssl
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path

import pytest
from botocore.exceptions import ClientError
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from shared.dynamodb.aws_errors import MAX_ATTEMPTS, Budget
from shared.dynamodb.client import connect
from shared.errors import Unavailable
from tests.support.engines import FAKE_CREDENTIALS
from tests.support.serving import (
    BROKEN,
    KEY,
    PATIENCE,
    Answer,
    Request,
    Server,
    and_hang_up,
    and_say_goodbye,
    as_in_1996,
    in_chunks,
    not_at_all,
    only_half,
    only_half_a_head,
    saying,
    serving,
    something_else,
    stalled,
    too_late,
    well,
)
from tests.support.waiting import until


@pytest.fixture(autouse=True)
def _undisturbed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the user's proxies."""
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("answer", [well, in_chunks])
def test_requests_in_a_row_go_over_one_connection(answer: Answer) -> None:
    with serving(answer) as server:
        table = server.table()
        found = [table.get(KEY) for _ in range(5)]

    assert found == [{"PK": "DEAL#1", "Title": "Schuhe für Läufer"}] * 5
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
        for number in range(1, 4):
            assert table.get(KEY)
            assert until(lambda: server.ended == number)  # noqa: B023  # called before the loop goes on

    assert len(server.requests) == len(server.connections) == 3


@pytest.mark.parametrize(
    "failing", [only_half, only_half_a_head, something_else, not_at_all, stalled, too_late, *BROKEN.values()]
)
def test_a_request_whose_connection_breaks_is_sent_again_over_another(failing: Answer) -> None:
    with serving(failing, well) as server:
        assert server.table(Budget(PATIENCE)).get(KEY) == {"PK": "DEAL#1", "Title": "Schuhe für Läufer"}

    assert len(server.requests) == 2


@pytest.mark.parametrize("failing", [only_half, only_half_a_head, something_else, not_at_all, *BROKEN.values()])
def test_a_server_that_never_answers_well_is_unavailable(failing: Answer) -> None:
    with serving(failing) as server, pytest.raises(Unavailable):
        server.table().get(KEY)

    assert len(server.requests) == MAX_ATTEMPTS


def test_nobody_there_is_unavailable() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        table = Server(f"http://127.0.0.1:{bound.getsockname()[1]}").table()
        with pytest.raises(Unavailable):
            table.get(KEY)


def test_requests_at_once_have_a_connection_each_and_get_their_own_answers() -> None:
    def echo(request: Request) -> None:
        time.sleep(0.005)
        saying(json.dumps({"Item": {"PK": request.asked["Key"]["PK"]}}).encode())(request)

    names = [f"DEAL#{number}" for number in range(200)]
    with serving(echo) as server, ThreadPoolExecutor(16) as pool:
        table = server.table()
        found = list(pool.map(lambda name: table.get({"PK": name, "SK": name}), names))

    assert found == [{"PK": name} for name in names]
    assert len(server.connections) <= 16


def test_a_certificate_is_believed_only_of_an_authority_that_aws_ca_bundle_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(well, context=certified(tmp_path)) as server:
        with pytest.raises(Unavailable):
            server.table().get(KEY)
        assert server.requests == []
        monkeypatch.setenv("AWS_CA_BUNDLE", str(tmp_path / "server.pem"))
        assert server.table().get(KEY) == {"PK": "DEAL#1", "Title": "Schuhe für Läufer"}


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
