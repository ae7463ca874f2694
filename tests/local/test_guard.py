"""Whom the guard of the local cloud admits: a real cloud, and a real page of another origin in Chromium."""

from __future__ import annotations

import asyncio
import hashlib
import json
import string
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import boto3
import httpx
import pytest
from botocore.exceptions import ClientError
from ministack.core import lambda_runtime  # type: ignore[import-untyped]  # it has no types
from ministack.core.iam_evaluator import is_root_access_key  # type: ignore[import-untyped]  # the same
from ministack.services import sts  # type: ignore[import-untyped]  # the same
from playwright.sync_api import Browser, Page, Playwright

from local import cloud, guard, ministack_patches
from local.cloud import free_port
from local.guard import Asked, admits
from local.guarded_ministack import MiniStack
from local.settings import ACCOUNT, REGION, Home, access_key, client_arguments, endpoint
from shared import features, hooks
from tests.support.browser import browser, patient
from tests.support.commands import until
from tests.support.engines import MINISTACK
from tests.support.site import TRUST, client_of

OWN = "LOCAL0123456789ABCDEF"
PAGE = {"Origin": "https://any-page.example", "Referer": "https://any-page.example/"}
"""Headers by which a browser tells of a request that a page makes."""

SITE = {"Host": "bigtimedeals.localhost"}
BUCKET = "pictures-of-deals"
FORM = {"key": "uploads/one"}


def credential(key: str, service: str = "dynamodb") -> str:
    return f"{key}/20260101/{REGION}/{service}/aws4_request"


def signed_by(key: str, service: str = "dynamodb") -> dict[str, str]:
    """The header of a request that names a key, with a signature that nobody computed."""
    return {
        "Authorization": f"AWS4-HMAC-SHA256 Credential={credential(key, service)}, SignedHeaders=host, Signature=00"
    }


def query_of(key: str, service: str = "dynamodb") -> dict[str, str]:
    """The same, in the query."""
    return {
        "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
        "X-Amz-Credential": credential(key, service),
        "X-Amz-Date": "20260101T000000Z",
        "X-Amz-SignedHeaders": "host",
        "X-Amz-Signature": "00",
    }


@dataclass(frozen=True, slots=True)
class Running:
    """A running cloud with one API, one bucket and one role."""

    home: Home
    port: int
    api: str
    role: str

    @property
    def address(self) -> str:
        return endpoint(self.port)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    home, port = Home(tmp_path_factory.mktemp("guard") / "home"), free_port()
    cloud.start(home, port)
    try:
        apis = client_of(home, "apigateway")
        api = apis.create_rest_api(name="api", tags={"ms-custom-id": "b16dea15"})["id"]
        root = apis.get_resources(restApiId=api)["items"][0]["id"]
        apis.put_method(restApiId=api, resourceId=root, httpMethod="GET", authorizationType="NONE")
        apis.put_integration(restApiId=api, resourceId=root, httpMethod="GET", type="MOCK")
        apis.create_deployment(restApiId=api, stageName="v1")
        client_of(home, "s3").create_bucket(Bucket=BUCKET)
        role = client_of(home, "iam").create_role(RoleName="one", AssumeRolePolicyDocument=json.dumps(TRUST))["Role"]
        yield Running(home, port, api, role["Arn"])
    finally:
        cloud.kill(home)


@pytest.fixture
def client(running: Running) -> Iterator[httpx.Client]:
    """A program on this machine, which is no browser."""
    with httpx.Client(base_url=running.address, timeout=120, trust_env=False) as client:
        yield client


ROOT_KEYS = ("", "test", ACCOUNT, "123456789012", "1" * 12)


def test_these_are_the_keys_that_ministack_takes_for_its_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", OWN)
    short = [*map(str, range(1000)), *string.ascii_letters, "root", "admin", "local", "testing", "None", "0" * 11]

    assert [key for key in (*ROOT_KEYS, OWN) if not is_root_access_key(key)] == []
    assert [key for key in short if is_root_access_key(key)] == []  # or the list above lacks a kind


@pytest.mark.parametrize("key", [*ROOT_KEYS, "local", "ASIA0123456789ABCDEF", "ASIA", f"{OWN}0", OWN.lower()])
@pytest.mark.parametrize("way", ["headers", "params"])
def test_a_key_that_is_not_the_checkouts_opens_nothing(client: httpx.Client, key: str, way: str) -> None:
    given: Any = {way: signed_by(key) if way == "headers" else query_of(key)}

    answers = [
        client.post("/_ministack/reset", **given),
        client.get("/_ministack/ses/messages", **given),
        client.get("/2015-03-31/functions/", **given),
        client.get("/", **given),
        client.request("OPTIONS", "/", **given),
    ]

    assert [answer.status_code for answer in answers] == [403] * 5


def test_the_key_of_the_checkout_opens_the_cloud_and_another_does_not(running: Running) -> None:
    arguments = client_arguments(running.home, running.port)
    stranger = boto3.client("dynamodb", **arguments | {"aws_access_key_id": "local", "aws_secret_access_key": "local"})

    assert boto3.client("dynamodb", **arguments).list_tables()["TableNames"] == []
    with pytest.raises(ClientError, match="403"):
        stranger.list_tables()


def test_a_role_has_its_own_rights_by_the_key_that_the_cloud_issued(running: Running) -> None:
    issued = client_of(running.home, "sts").assume_role(RoleArn=running.role, RoleSessionName="one")["Credentials"]
    keys = {
        "aws_access_key_id": issued["AccessKeyId"],
        "aws_secret_access_key": issued["SecretAccessKey"],
        "aws_session_token": issued["SessionToken"],
    }
    arguments = client_arguments(running.home, running.port) | keys

    who = boto3.client("sts", **arguments).get_caller_identity()["Arn"]

    assert who.endswith(":assumed-role/one/one")
    with pytest.raises(ClientError, match="is not authorized to perform: dynamodb:ListTables"):
        boto3.client("dynamodb", **arguments).list_tables()
    with pytest.raises(ClientError, match="does not match"):
        boto3.client("sts", **arguments | {"aws_secret_access_key": "guessed"}).get_caller_identity()


def test_a_functions_credentials_cannot_be_computed_from_public_names(monkeypatch: pytest.MonkeyPatch) -> None:
    function, role = f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:one", f"arn:aws:iam::{ACCOUNT}:role/one"
    monkeypatch.setattr(lambda_runtime, "hashlib", hashlib)
    monkeypatch.setattr("ministack.app.AUTH", True)
    monkeypatch.setattr(sts, "_sessions", {})
    config = {"FunctionArn": function, "FunctionName": "one", "Role": role}
    digest = hashlib.sha256(f"{function}:{role}".encode()).hexdigest()
    by_ministack = lambda_runtime.execution_credentials(config)
    sts.reset()

    found = []
    for secret in ("one", "one", "other"):
        ministack_patches.key_credentials(secret)
        found.append(lambda_runtime.execution_credentials(config))

    assert by_ministack["AWS_ACCESS_KEY_ID"] == f"ASIA{digest[:16].upper()}"  # or MiniStack does without ours
    assert found[0] == found[1]
    assert not {*by_ministack.values()} & {*found[0].values(), *found[2].values()}
    assert not {*found[0].values()} & {*found[2].values()}
    assert all(guard.ISSUED.fullmatch(key) for key in vars(sts)["_sessions"])
    assert not MiniStack(OWN).issued(by_ministack["AWS_ACCESS_KEY_ID"])
    assert MiniStack(OWN).issued(found[2]["AWS_ACCESS_KEY_ID"])


@pytest.mark.parametrize(
    ("method", "path", "content"),
    [
        ("POST", "/_ministack/reset", ""),
        ("POST", "/_ministack/config", '{"stepfunctions._sfn_mock_config": {}}'),
        ("GET", "/_ministack/sqs/messages", ""),
        ("GET", "/_ministack/ses/messages", ""),
        ("GET", "/_ministack/health", ""),
        ("PUT", "/_ministack/cfn-response/one", "{}"),
        ("GET", "/2015-03-31/functions/", ""),
        ("POST", "/2015-03-31/functions", '{"FunctionName": "mine"}'),
        ("POST", "/?Action=CreateUser&UserName=mallory", ""),
        ("GET", "/", ""),
        ("PUT", "/a-bucket/an-object", "text"),
        ("OPTIONS", "/2015-03-31/functions", ""),
    ],
)
def test_a_page_cannot_use_the_cloud_with_any_key(
    client: httpx.Client, running: Running, method: str, path: str, content: str
) -> None:
    text, own = {"Content-Type": "text/plain"}, signed_by(access_key(running.home).key_id)

    for by_a_page in (PAGE, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}):
        for key in ({}, own):
            answer = client.request(method, path, content=content, headers=text | by_a_page | key)

            assert answer.status_code == 403
            assert "access-control-allow-origin" not in answer.headers


def test_the_addresses_of_an_api_that_exists_are_open_to_every_page(client: httpx.Client, running: Running) -> None:
    hosts = {name: f"{name}.execute-api.localhost:{running.port}" for name in (running.api, "b16dea16", "x")}

    def status(path: str, **headers: str) -> int:
        return client.get(path, headers=PAGE | headers).status_code

    assert status("/v1/", Host=hosts[running.api]) == status(f"/_aws/execute-api/{running.api}/v1/") == 200
    assert status("/v2/", Host=hosts[running.api]) == status("/_ministack/reset", Host=hosts[running.api]) == 403
    assert status("/v1/", Host=hosts["b16dea16"]) == status("/_aws/execute-api/b16dea16/v1/") == 403
    assert status("/", Host=hosts["x"]) == status("/v1/", Host=hosts["x"]) == 403
    assert status("/v1/", Host=hosts[running.api], **signed_by("test")) == 403
    assert status(f"/restapis/{running.api}/v1/_user_request_/") == 403


def test_a_host_that_is_no_api_and_no_bucket_opens_nothing(client: httpx.Client) -> None:
    for host in ("any.localhost", "mallorys.localhost", "execute-api.localhost", "s3.localhost", SITE["Host"]):
        for path in ("/", "/v2/email/identities", "/_ministack/ready", "/v20180820/accesspoint"):
            assert client.get(path, headers={"Host": host}).status_code == 403, (host, path)


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", f"{BUCKET}.s3.evil.example", ""])
def test_a_name_that_a_page_lets_lead_here_opens_nothing(client: httpx.Client, running: Running, host: str) -> None:
    for path in (f"/_aws/execute-api/{running.api}/v1/", "/_ministack/ready", "/", f"/{BUCKET}"):
        assert client.get(path, headers={"Host": host}).status_code in (400, 403), path
    assert client.post("/", headers={"Host": host}, data=FORM, files={"file": b"text"}).status_code in (400, 403)


class AtTheSite(MiniStack):
    """A cloud with a site."""

    __slots__ = ()

    def public_path(self, host: str, path: str) -> str | None:
        return f"/_aws/execute-api/b16dea16/site{path}" if host == SITE["Host"] else None


@pytest.mark.parametrize("path", ["/v2/email/identities", "/iceberg/v1/config", "/v20180820/accesspoint", "/deals"])
def test_a_path_of_another_service_at_the_sites_name_is_the_sites(path: str) -> None:
    asked: list[str] = []

    async def app(scope: Any, _receive: Any, _send: Any) -> None:
        asked.append(scope["path"])

    async def nothing(*_: Any) -> None:
        return None

    scope = {"type": "http", "method": "GET", "path": path, "headers": [(b"host", SITE["Host"].encode())]}

    async def ask() -> None:
        await guard.guarded(app, AtTheSite(OWN), lambda *_: "")(scope, nothing, nothing)

    with ThreadPoolExecutor(1) as thread:  # in this one, playwright's loop may be running
        thread.submit(lambda: asyncio.run(ask())).result()

    assert asked == [f"/_aws/execute-api/b16dea16/site{path}"]


def test_pages_of_the_laptop_are_shown_to_the_sites_own_pages_alone(client: httpx.Client) -> None:
    shown = [path for each in features.roles(hooks.Local) for path in each.PAGES]

    for path in shown:
        assert client.get(path, headers=SITE).status_code == 200
        assert client.get(path, headers=SITE | PAGE).status_code == 403
        assert client.get(path, headers=SITE | {"Sec-Fetch-Site": "cross-site"}).status_code == 403
        assert client.get(path).status_code == 403
        assert client.get(path, headers={"Host": "any-page.example"}).status_code == 403


def test_a_form_sends_a_file_if_its_policy_is_signed(client: httpx.Client, running: Running) -> None:
    s3 = client_of(running.home, "s3", signature_version="s3v4")
    signed = s3.generate_presigned_post(BUCKET, "uploads/one", ExpiresIn=60)
    file = {"file": b"text"}
    own, named = access_key(running.home).key_id, signed["fields"]["x-amz-credential"]
    of_test = signed["fields"] | {"x-amz-credential": named.replace(own, "test")}
    forged = signed["fields"] | {"x-amz-signature": "0" * 64}

    def sent(path: str, fields: dict[str, str], **headers: str) -> int:
        return client.post(path, data=fields, files=file, headers=headers).status_code

    assert sent(f"/{BUCKET}", signed["fields"]) == 204
    assert (
        sent(f"/{BUCKET}", signed["fields"], Origin=f"http://{running.api}.execute-api.localhost:{running.port}") == 204
    )
    assert sent(f"/{BUCKET}", signed["fields"], Origin=f"http://{running.api}.execute-api.localhost:1") == 403
    assert sent(f"/{BUCKET}", signed["fields"], **PAGE) == 403
    assert sent(f"/{BUCKET}", FORM) == sent(f"/{BUCKET}", forged) == sent(f"/{BUCKET}", of_test) == 403
    assert sent(f"/{BUCKET}?delete", signed["fields"]) == sent("/another-bucket", signed["fields"]) == 403
    assert sent("/", FORM) == sent("/2015-03-31/functions", FORM) == 403
    assert sent(f"/{BUCKET}", FORM, **{"X-Amz-Target": "DynamoDB_20120810.ListTables"}) == 403
    assert [each["Key"] for each in s3.list_objects_v2(Bucket=BUCKET)["Contents"]] == ["uploads/one"]


def test_a_repeated_header_names_no_other_key_than_ministack_reads(client: httpx.Client, running: Running) -> None:
    own, test = (signed_by(key)["Authorization"] for key in (access_key(running.home).key_id, "test"))

    answer = client.get("/2015-03-31/functions/", headers=[("Authorization", test), ("Authorization", own)])

    assert answer.status_code == 403


def test_the_engines_of_tests_are_guarded_the_same_way() -> None:
    address = MINISTACK.reach().client.meta.endpoint_url
    target = {"X-Amz-Target": "DynamoDB_20120810.ListTables"}
    with httpx.Client(base_url=address, timeout=120, trust_env=False) as client:
        for key in (*ROOT_KEYS, "testing"):
            assert client.post("/", headers=target | signed_by(key), content="{}").status_code == 403
            assert client.post("/", headers=target, params=query_of(key), content="{}").status_code == 403
        assert client.post("/_ministack/reset").status_code == 403
        assert client.request("OPTIONS", "/", headers=PAGE).status_code == 403


TRIES = """async ([address, rebound, socket, keys, own]) => {
  const signed = (key, service) => "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=" +
    encodeURIComponent(`${key}/20260101/us-east-1/${service}/aws4_request`) +
    "&X-Amz-Date=20260101T000000Z&X-Amz-SignedHeaders=host&X-Amz-Signature=00";
  const read = [];
  const attempt = async (url, more) => {
    try { read.push([url, await (await fetch(url, more)).text()]); } catch { }
  };
  for (const key of [...keys, own]) {
    const authorization = `AWS4-HMAC-SHA256 Credential=${key}/20260101/us-east-1/dynamodb/aws4_request, ` +
      "SignedHeaders=host, Signature=00";
    await attempt(`${address}/2015-03-31/functions/?${signed(key, "lambda")}`);
    await attempt(`${address}/?Action=ListRoles&Version=2010-05-08&${signed(key, "iam")}`, {method: "POST"});
    await attempt(`${address}/?${signed(key, "dynamodb")}`, {
      method: "POST", body: "{}", headers: {"X-Amz-Target": "DynamoDB_20120810.ListTables"},
    });
    await attempt(`${address}/`, {
      method: "POST", body: "{}",
      headers: {"Authorization": authorization, "X-Amz-Target": "DynamoDB_20120810.ListTables"},
    });
    await attempt(`${address}/_ministack/reset?${signed(key, "s3")}`, {method: "POST"});
    await attempt(`${address}/_ministack/reset?${signed(key, "s3")}`, {method: "POST", mode: "no-cors"});
    await attempt(`${address}/2015-03-31/functions/?${signed(key, "lambda")}`, {mode: "no-cors"});
  }
  const form = new FormData();
  form.append("key", "uploads/one");
  form.append("file", new Blob(["text"]));
  await attempt(`${address}/pictures-of-deals`, {method: "POST", body: form});
  await attempt(`${address}/_ministack/health`);
  await attempt(`${address}/mail`);
  await new Promise((done) => {
    const picture = new Image();
    picture.onload = picture.onerror = done;
    picture.src = `${address}/pictures-of-deals/uploads/one?${signed("test", "s3")}`;
  });
  await new Promise((done) => {
    const opened = new WebSocket(`${socket}/v1`);
    opened.onopen = () => { read.push(["websocket", "open"]); done(); };
    opened.onerror = done;
  });
  if (rebound) {
    await attempt("/2015-03-31/functions/?" + signed("test", "lambda"));
    await attempt("/_ministack/reset", {method: "POST"});
    await attempt("/_aws/execute-api/b16dea15/v1/");
  }
  return read;
}"""
"""Sends what a page of another origin can send; the answers that it can read."""

PER_KEY, ONCE, OF_THE_SAME_ORIGIN = 7, 5, 3


class Recorded:
    """The answers that a browser got, also those that it hid from the page; preflights are among them."""

    def __init__(self, page: Page, address: str) -> None:
        self.answers: list[tuple[str, int, bool]] = []
        self._of: dict[str, str] = {}
        session = page.context.new_cdp_session(page)
        session.on("Network.requestWillBeSent", lambda event: self._sent(event, address))
        session.on("Network.webSocketCreated", lambda event: self._of.update({event["requestId"]: event["url"]}))
        session.on("Network.responseReceivedExtraInfo", self._got)
        session.on("Network.webSocketFrameError", lambda event: self._closed(event["requestId"], event["errorMessage"]))
        session.send("Network.enable")

    def _sent(self, event: dict[str, Any], address: str) -> None:
        if event["request"]["url"].startswith(address):
            self._of[event["requestId"]] = f"{event['request']['method']} {event['request']['url']}"

    def _got(self, event: dict[str, Any]) -> None:
        allowed = any(name.lower() == "access-control-allow-origin" for name in event["headers"])
        self.answers.append((self._of.get(event["requestId"], ""), event["statusCode"], allowed))

    def _closed(self, request: str, message: str) -> None:
        self.answers.append((self._of[request], 403 if "403" in message else 0, False))


class _APage(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!DOCTYPE html><title>A page</title>")

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def a_page() -> Iterator[int]:
    """A server of another origin's page; its port."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _APage) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


REBOUND = "rebound.example"
"""A name whose owner lets it lead to this machine."""


@pytest.fixture(scope="module")
def chromium(driver: Playwright) -> Iterator[Browser]:
    """A browser that finds a name of a page's owner on this machine."""
    with browser(driver, f"--host-resolver-rules=MAP {REBOUND} 127.0.0.1") as launched:
        yield launched


def everything_tried(page: Page, address: str, *, rebound: bool, own: str, socket: str) -> list[list[str]]:
    """Let a page try; what it could read. Each try must come to the cloud and be refused."""
    recorded, keys = Recorded(page, address), [*ROOT_KEYS, "local"]
    tries = PER_KEY * (len(keys) + 1) + ONCE + (OF_THE_SAME_ORIGIN if rebound else 0)

    read: list[list[str]] = page.evaluate(TRIES, [address, rebound, socket, keys, own])

    assert until(lambda: len(recorded.answers) >= tries), (len(recorded.answers), tries)
    assert [answer for answer in recorded.answers if answer[1:] != (403, False)] == []
    page.context.close()
    return read


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", REBOUND])
def test_a_real_page_of_another_origin_gets_403_for_all_that_it_tries(
    running: Running, chromium: Browser, host: str
) -> None:
    own = access_key(running.home).key_id
    socket = f"ws://{running.api}.execute-api.localhost:{running.port}"
    with a_page() as port:
        page = patient(chromium.new_context()).new_page()
        page.goto(f"http://{host}:{port}")

        read = everything_tried(page, running.address, rebound=False, own=own, socket=socket)

    assert [text for _, text in read if text] == []  # without the header, a browser gives it no answer's text


def test_a_page_whose_name_is_led_here_later_gets_403(running: Running, chromium: Browser) -> None:
    address = f"http://{REBOUND}:{running.port}"
    page = patient(chromium.new_context()).new_page()
    opened = page.goto(address)

    everything_tried(page, address, rebound=True, own="guessed", socket=address.replace("http", "ws"))

    assert opened is not None
    assert opened.status == 403


def test_the_rule_asks_the_cloud_for_each_key_and_place() -> None:
    """Without a process: what only a key of the checkout may do."""
    own = Asked("GET", "/2015-03-31/functions/", {"host": "127.0.0.1:4566"}, OWN)

    assert admits(own, MiniStack(OWN))
    assert [key for key in ROOT_KEYS if admits(Asked(own.method, own.path, own.headers, key), MiniStack(OWN))] == []
