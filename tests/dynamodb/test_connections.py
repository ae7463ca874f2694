"""Clients of AWS: connections, the time of an invocation, and names of hosts."""

from __future__ import annotations

import json
import random
import socket
import ssl
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from botocore.exceptions import ClientError
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from shared import services
from shared.data.members import follows
from shared.dynamodb.aws_errors import MAX_ATTEMPTS, Budget
from shared.dynamodb.client import ENDPOINTS_OF_S3, connect
from shared.dynamodb.table import Table
from shared.errors import Busy, NoAnswer, Unavailable
from shared.services import Queue
from tests.support.commands import until
from tests.support.engines import FAKE_CREDENTIALS, MOTO, on
from tests.support.factories import APPLE, NOW, join
from tests.support.wire import (
    BROKEN,
    KEY,
    PATIENCE,
    Received,
    Served,
    Server,
    and_hang_up,
    and_say_goodbye,
    as_in_1996,
    error,
    failing,
    in_chunks,
    lost_and_throttled,
    not_at_all,
    only_half,
    only_half_a_head,
    saying,
    serving,
    something_else,
    stalled,
    too_late,
    well,
    writing,
)


@pytest.fixture(autouse=True)
def _undisturbed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the user's proxies."""
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("answer", [well, in_chunks])
def test_requests_in_a_row_go_over_one_connection(answer: Served) -> None:
    with serving(answer) as server:
        table = server.table()
        found = [table.get(KEY) for _ in range(5)]

    assert found == [{"PK": "DEAL#1", "Title": "Schuhe für Läufer"}] * 5
    assert len(server.connections) == 1


def test_a_refusal_is_distinguished_from_an_answer() -> None:
    def refuse(request: Received) -> None:
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
def test_a_connection_that_the_server_ended_is_not_used_again(parting: Served) -> None:
    with serving(parting) as server:
        table = server.table()
        for number in range(1, 4):
            assert table.get(KEY)
            assert until(lambda: server.ended == number)  # noqa: B023  # called before the loop goes on

    assert len(server.requests) == len(server.connections) == 3


@pytest.mark.parametrize(
    "failing", [only_half, only_half_a_head, something_else, not_at_all, stalled, too_late, *BROKEN.values()]
)
def test_a_request_whose_connection_breaks_is_sent_again_over_another(failing: Served) -> None:
    with serving(failing, well) as server:
        assert server.table(Budget(PATIENCE)).get(KEY) == {"PK": "DEAL#1", "Title": "Schuhe für Läufer"}

    assert len(server.requests) == 2


@pytest.mark.parametrize("failing", [only_half, only_half_a_head, something_else, not_at_all, *BROKEN.values()])
def test_a_server_that_never_answers_well_is_unavailable(failing: Served) -> None:
    with serving(failing) as server, pytest.raises(Unavailable):
        server.table().get(KEY)

    assert len(server.requests) == MAX_ATTEMPTS


def test_a_host_without_a_server_is_unavailable() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        table = Server(f"http://127.0.0.1:{bound.getsockname()[1]}").table()
        with pytest.raises(Unavailable):
            table.get(KEY)


def test_requests_at_once_have_a_connection_each_and_get_their_own_answers() -> None:
    def echo(request: Received) -> None:
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


SENT = b'{"Successful": [{"Id": "0"}], "Failed": []}'


class Clock:
    """A time that passes only by sleeping."""

    def __init__(self) -> None:
        self.now = 100.0

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.mark.faults
@pytest.mark.parametrize("slow", [stalled, too_late])
def test_when_the_time_of_an_invocation_is_over_neither_table_nor_queue_is_asked_again(slow: Served) -> None:
    budget = Budget(PATIENCE)
    with serving(slow) as server:
        table, queue = server.table(budget), queue_at(server.endpoint, budget)
        asks: list[Callable[[], object]] = [lambda: table.get(KEY), lambda: queue.send(["work"])]
        for ask in asks:
            server.requests.clear()
            budget.start(1.5 * PATIENCE)
            with pytest.raises(Unavailable):
                ask()
            assert len(server.requests) <= 2


@pytest.mark.faults
def test_what_is_asked_when_there_is_no_time_left_is_not_sent() -> None:
    budget = Budget()
    budget.start(0)

    with serving(well) as server, pytest.raises(Busy):
        server.table(budget).get(KEY)

    assert server.requests == []


@pytest.mark.faults
def test_connections_that_died_during_a_freeze_cost_one_timeout_together() -> None:
    together = threading.Barrier(5)
    thawed, dead = threading.Event(), []
    before = set()

    def answer(request: Received) -> None:
        if not thawed.is_set():
            before.add(request.client_address)
            together.wait(timeout=120)
        elif request.client_address in before:
            dead.append(request.client_address)
            too_late(request)
            return
        well(request)

    with serving(answer) as server:
        table = server.table(Budget(PATIENCE))
        table.gather([lambda: table.get(KEY)] * 5)
        thawed.set()
        found = [table.get(KEY) for _ in range(5)]

    assert len(before) == 5
    assert all(found)
    assert len(dead) == 1


@pytest.mark.faults
def test_a_budget_starts_over_with_each_invocation() -> None:
    clock = Clock()
    budget = Budget(clock=lambda: clock.now)

    assert budget.left() == float("inf")
    budget.start(9)
    clock.sleep(10)
    assert budget.left() == -1
    budget.start(9)
    assert budget.left() == 9


@pytest.mark.faults
def test_a_request_is_made_as_long_as_any_time_is_left(table: Table) -> None:
    clock = Clock()
    hurried = replace(table, budget=Budget(clock=lambda: clock.now))
    hurried.budget.start(1)

    assert hurried.get(KEY) is None
    clock.sleep(1)
    with pytest.raises(Busy):
        hurried.get(KEY)


@pytest.mark.faults
@on(MOTO)
def test_throttling_that_outlasts_an_invocation_is_busy_within_its_time(table: Table) -> None:
    clock = Clock()
    hurried = replace(table, sleep=clock.sleep, jitter=lambda: 1.0, budget=Budget(clock=lambda: clock.now))
    hurried.budget.start(2)

    with failing(hurried, "TransactWriteItems", 1000, error("ThrottlingException")) as seen, pytest.raises(Busy):
        follows.like(hurried, APPLE, "ana", NOW)

    assert clock.now <= 102
    assert 5 < len(seen) < MAX_ATTEMPTS


@pytest.mark.faults
@on(MOTO)
def test_after_a_lost_answer_nothing_says_that_nothing_was_written(table: Table) -> None:
    patient = replace(table, sleep=lambda _: None)

    join(table, "ana")
    with lost_and_throttled(patient, times=1000), pytest.raises(NoAnswer):
        follows.like(patient, APPLE, "ana", NOW)


@pytest.mark.faults
def test_waits_differ_between_environments_that_start_from_one_snapshot() -> None:
    snapshot = random.getstate()
    first = [connect("deals", **FAKE_CREDENTIALS).jitter() for _ in range(10)]
    random.setstate(snapshot)

    assert [connect("deals", **FAKE_CREDENTIALS).jitter() for _ in range(10)] != first
    assert all(0 <= part < 1 for part in first)


def queue_at(endpoint: str, budget: Budget | None = None) -> Queue:
    return replace(
        services.connect_queue(f"{endpoint}/queue", budget, endpoint_url=endpoint, **FAKE_CREDENTIALS),
        sleep=lambda _: None,
    )


def refusing(code: str) -> Served:
    """An answer of SQS's that it has failed."""
    body = json.dumps({"__type": f"com.amazonaws.sqs#{code}", "message": "No."}).encode()
    return writing(b"HTTP/1.1 400 Bad Request\r\nContent-Length: %d\r\n\r\n" % len(body) + body, closes=False)


@pytest.mark.faults
@pytest.mark.parametrize("broken", [*BROKEN.values(), refusing("RequestThrottled")], ids=[*BROKEN, "throttled"])
def test_a_message_that_the_queue_does_not_say_it_has_is_sent_again(broken: Served) -> None:
    with serving(broken, saying(SENT)) as server:
        queue_at(server.endpoint).send(["work"])

    assert len(server.requests) == 2


@pytest.mark.faults
def test_a_queue_that_is_gone_is_named_and_not_asked_again() -> None:
    with serving(refusing("QueueDoesNotExist")) as server, pytest.raises(Unavailable, match=r"^The queue: "):
        queue_at(server.endpoint).send(["work"])

    assert len(server.requests) == 1


REGIONS = ("us-east-1", "eu-central-1", "af-south-1", "eu-south-2", "ap-southeast-4")
KEYS = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing"}

each_region = pytest.mark.parametrize("region", REGIONS)


@pytest.fixture(autouse=True)
def _on_aws(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ENDPOINTS_OF_S3:
        monkeypatch.delenv(name, raising=False)


@each_region
def test_each_client_asks_its_own_region(region: str) -> None:
    connected = (
        connect("deals", region_name=region, **KEYS),
        services.connect_queue("https://queue", region_name=region, **KEYS),
    )

    hosts = [urlsplit(each.client.meta.endpoint_url).hostname for each in connected]

    assert hosts == [f"{name}.{region}.amazonaws.com" for name in ("dynamodb", "sqs")]
