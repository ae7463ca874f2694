"""The REST API's visitors, and clouds of the tests' own: with the site, as the real CDK deploys it, or a table alone.

Every answer is checked against the OpenAPI document that the site itself serves.
"""

from __future__ import annotations

import io
import itertools
import json
import os
import re
import secrets
import shutil
import signal
import time
import zipfile
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import boto3
import httpx
import pytest
from botocore.config import Config
from jsonschema import Draft202012Validator

from local import cloud
from local.cloud import free_port
from local.settings import Home, Trouble, client_arguments, endpoint
from shared.data.members import sessions, users
from shared.dynamodb import client
from shared.dynamodb.client import connect
from shared.dynamodb.table import Table
from shared.values import identifiers, times
from tests.support.commands import PATIENCE

PROBLEM = "application/problem+json"

FROM_THE_GATEWAY = {404, 413, 429}
"""Statuses that the gateway may answer before it knows the route."""


@dataclass(frozen=True, slots=True)
class Contract:
    """The document, and where its paths start."""

    document: dict[str, Any] = field(repr=False)
    root: str = "/v1"

    def check(self, response: httpx.Response) -> None:
        """Hold an answer against what is documented for its route and status."""
        response.read()
        request = response.request
        said = f"{request.method} {request.url.raw_path.decode()}: {response.status_code} {response.text[:500]}"
        assert response.status_code < 500, said
        operation = self._operation(request)
        if operation is None:
            assert response.status_code == 404, said
            documented = self.document["paths"]["/deals/{dealId}"]["get"]["responses"]["404"]
        else:
            documented = operation["responses"].get(str(response.status_code))
            if documented is None and response.status_code in FROM_THE_GATEWAY:
                documented = operation["responses"]["429"]
            assert documented is not None, f"undocumented status - {said}"
        content = documented.get("content")
        if content is None:
            assert response.content == b"", said
            return
        ((media_type, body),) = content.items()
        assert response.headers["Content-Type"].partition(";")[0] == media_type, said
        if request.method == "HEAD":
            assert response.content == b"", said
            return
        if media_type == "text/html":
            return
        schema = {**body["schema"], "components": self.document["components"]}
        faults = [
            f"{fault.json_path}: {fault.message}" for fault in Draft202012Validator(schema).iter_errors(response.json())
        ]
        assert not faults, f"{faults[:3]} - {said}"
        if media_type == PROBLEM:
            assert response.json()["status"] == response.status_code, said

    def _operation(self, request: httpx.Request) -> dict[str, Any] | None:
        path = request.url.raw_path.decode().partition("?")[0].removeprefix(self.root)
        # HEAD is answered as GET is, and not documented beside it.
        method = "get" if request.method == "HEAD" else request.method.lower()
        fitting = [each for each in self.document["paths"] if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", each), path)]
        # Paths without parameters come first: /me/watches is no /me/{something}.
        template = min(fitting, key=lambda each: each.count("{"), default="")
        return dict(self.document["paths"].get(template, {})).get(method)


def assert_problem(response: httpx.Response, status: int, *fields: str) -> dict[str, Any]:
    """Assert that an answer is a problem document of a status that names exactly some fields."""
    assert response.status_code == status, response.text[:500]
    assert response.headers["Content-Type"] == PROBLEM
    problem: dict[str, Any] = response.json()
    assert problem["status"] == status
    assert problem["title"]
    assert {error["field"] for error in problem.get("errors", [])} == set(fields), problem
    assert "Traceback" not in response.text
    assert "botocore" not in response.text
    return problem


PASSWORD = "correct horse battery staple"
BACKGROUND = {
    *("Trace", "TraceStep", "EmailToken", "Message", "FanOut", "FanOutPage", "ProductOffer", "Word", "WordCount"),
    *("DealsCache", "FrontPageCache", "EditorsChoiceCache", "CategoryCache"),
}
"""Types of items that the stream's functions may be writing, because of an earlier test, while another test looks."""

MAILS = "ATTEMPTS#MAIL#"
"""The beginning of the keys of the counts of mails, which the mailer writes for a new account."""

_serial = itertools.count(1)


class Patient(httpx.HTTPTransport):
    """Asks again where the site is busy, as its answer says: all these sites share a small machine with their tests."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        deadline = time.monotonic() + PATIENCE
        while True:
            answer = super().handle_request(request)
            if request.method not in ("GET", "HEAD") or answer.status_code != 503 or time.monotonic() > deadline:
                return answer
            answer.read()
            time.sleep(float(answer.headers.get("Retry-After", "1")))


class Visitor(httpx.Client):
    """Someone at the site, signed in or not. Every answer they get is checked against the contract."""

    def __init__(self, contract: Contract, token: str, username: str = "", email: str = "", **reached: Any) -> None:
        super().__init__(event_hooks={"response": [contract.check]}, **reached)
        self.headers.update({"Accept-Encoding": "identity"} | ({"Authorization": f"Bearer {token}"} if token else {}))
        self.token, self.username, self.email = token, username, email


@dataclass(frozen=True, slots=True)
class Writes:
    """The writes to a table since a moment, except those of the background: ``keys`` tells their partition keys."""

    keys: Callable[[], list[str]]


@dataclass(frozen=True, slots=True)
class Api:
    """The REST API and its table, wherever it runs. Each answer is held against the document that it serves."""

    table: Table
    contract: Contract

    def reached(self) -> Mapping[str, Any]:
        """The arguments of a client that reaches it."""
        raise NotImplementedError

    def writes(self) -> Writes:
        """The requests that write to the table from now on."""
        raise NotImplementedError

    def visitor(self, token: str = "", **who: str) -> Visitor:
        """Anyone, or the owner of a token."""
        return Visitor(self.contract, token, **who, **self.reached())

    def signs_in(self, username: str, password: str = PASSWORD, **who: str) -> Visitor:
        """Someone who has an account, signed in."""
        answer = self.visitor().post("/sessions", json={"username": username, "password": password})
        assert answer.status_code == 201, answer.text
        return self.visitor(answer.json()["token"], username=username, **who)

    def member(self, name: str = "member", *, editor: bool = False) -> Visitor:
        """A new member, signed up, made an editor if asked, and signed in."""
        username = fresh(name)
        email = f"{username}@mail.example"
        account = {"username": username, "email": email, "password": PASSWORD, "name": name.title()}
        answer = self.visitor().post("/users", json=account)
        assert answer.status_code == 201, answer.text
        # Not by the API, which would hash the password again.
        if editor:
            users.set_role(self.table, username, "editor")
        user = users.get(self.table, username, consistent=True)
        token, _ = sessions.start(self.table, user, times.now(), secrets.token_bytes(identifiers.BYTES))
        return self.visitor(token, username=username, email=email)

    def editor(self, name: str = "editor") -> Visitor:
        """A new member who was made an editor by who runs the site: no route does that."""
        return self.member(name, editor=True)

    def demotes(self, editor: Visitor) -> None:
        """Make an editor a member again, who signs out everywhere."""
        users.set_role(self.table, editor.username, "member")


@dataclass(frozen=True, slots=True)
class Site(Api):
    """A deployed Big Time Deals."""

    port: int
    api_id: str
    home: Home

    @property
    def endpoint(self) -> str:
        return endpoint(self.port)

    @property
    def origin(self) -> str:
        """The address at which browsers find it."""
        return cloud.origin(self.port)

    def reached(self) -> Mapping[str, Any]:
        return {"transport": Patient(), **_reached(self.port, self.api_id)}

    def writes(self) -> Writes:
        """The records of the table's stream."""
        streams: Any = boto3.client("dynamodbstreams", **client_arguments(self.home, self.port))
        (stream,) = (each["StreamArn"] for each in streams.list_streams(TableName=self.table.name)["Streams"])
        iterators = [
            streams.get_shard_iterator(StreamArn=stream, ShardId=shard["ShardId"], ShardIteratorType="LATEST")
            for shard in streams.describe_stream(StreamArn=stream)["StreamDescription"]["Shards"]
        ]

        def keys() -> list[str]:
            changes = (
                record["dynamodb"]
                for iterator in iterators
                for record in streams.get_records(ShardIterator=iterator["ShardIterator"])["Records"]
            )
            images = [change.get("NewImage") or change["OldImage"] for change in changes]
            places = [image["PK"]["S"] for image in images if image["Type"]["S"] not in BACKGROUND]
            return [place for place in places if not place.startswith(MAILS)]

        return Writes(keys)


def dump(table: Table, leaving_out: Container[str] = BACKGROUND) -> dict[str, dict[str, Any]]:
    """Every item of a table that a request writes, by its key."""
    return {f"{item['PK']} {item['SK']}": item for item in table.everything() if item["Type"] not in leaving_out}


@contextmanager
def deployed(folder: Path) -> Iterator[Site]:
    """A site with a cloud, a port and a folder of its own, beside whatever ``make run`` has running."""
    home = Home(folder)
    port = free_port()
    try:
        cloud.start(home, port)
        cloud.bootstrap(home, port)
        outputs = cloud.deploy(home, port, cloud.digest_of_sources(port))
        table = connect(outputs["TableName"], **client_arguments(home, port))
        client.enable_ttl(table.client, table.name)
        served = httpx.Client(**_reached(port, outputs["ApiId"])).get("/openapi.json")
        yield Site(table, Contract(served.json()), port, outputs["ApiId"], home)
    except Trouble as trouble:
        log = home.deploy_log.read_text(errors="replace") if home.deploy_log.exists() else ""
        pytest.fail(f"{trouble}\n{log[-3000:]}")
    finally:
        # An orderly stop would first write down all that the cloud holds.
        if (running := cloud.running(home)) is not None:
            os.killpg(running.pid, signal.SIGKILL)
        # Tens of thousands of files: each function's code. pytest would keep them for three more runs.
        shutil.rmtree(home.scratch, ignore_errors=True)


def fresh(name: str) -> str:
    """A name that no other test uses."""
    return f"{name}-{next(_serial)}"


def a_deal(brand: str, **others: Any) -> dict[str, Any]:
    """The body that posts a deal."""
    return {
        "title": "Trail runner",
        "link": "https://shop.example/trail-runner",
        "price": "31.90",
        "brand": brand,
        "category": "shoes",
        **others,
    }


def _reached(port: int, api_id: str) -> dict[str, Any]:
    # The name of the host is sent, not resolved: not every machine knows *.localhost.
    host = f"{api_id}.execute-api.localhost:{port}"
    return {"base_url": f"{endpoint(port)}/v1", "headers": {"Host": host}, "timeout": PATIENCE, "trust_env": False}


SITE = pytest.StashKey["Site"]()


@pytest.fixture(scope="session")
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The site of all tests of a process: pytest takes a fixture for another one in each file that imports it."""
    kept = request.config.stash
    if SITE not in kept:
        ending = ExitStack()
        kept[SITE] = ending.enter_context(deployed(tmp_path_factory.mktemp("cloud")))
        request.config.add_cleanup(ending.close)
    return kept[SITE]


@pytest.fixture(scope="session")
def visitor(site: Site) -> Visitor:
    return site.visitor()


@pytest.fixture(scope="session")
def member(site: Site) -> Visitor:
    return site.member()


@pytest.fixture(scope="session")
def editor(site: Site) -> Visitor:
    return site.editor()


@pytest.fixture
def brand(editor: Visitor) -> str:
    return a_brand(editor)


def a_brand(editor: Visitor) -> str:
    """A new brand of a test's own."""
    slug = fresh("brand")
    assert editor.post("/brands", json={"name": slug.title()}).status_code == 201
    return slug


NAME = "probe"

_PROBE = """
import json, os

def handler(event, context):
    names = [record["dynamodb"]["Keys"]["PK"]["S"] for record in event["Records"]]
    with open(os.environ["SEEN"], "a") as seen:
        seen.write(json.dumps(names) + chr(10))
    if os.environ["FAILS"] == "whole" and "poison" in names:
        raise ValueError("poison")
    failed = [r["dynamodb"]["SequenceNumber"] for r in event["Records"] if r["dynamodb"]["Keys"]["PK"]["S"] == "poison"]
    return {"batchItemFailures": [{"itemIdentifier": number} for number in failed]}
"""


TRUST = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}],
}


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """The folder of a cloud, which ends with the test where that starts one."""
    home = Home(tmp_path / "cloud's")  # as a user may call a folder
    yield home
    cloud.kill(home)


@pytest.fixture
def probed(home: Home) -> Home:
    """The same, of a running cloud."""
    cloud.start(home, free_port())
    return home


def stream_to_a_function(home: Home, seen: Path, fails: str = "whole", **settings: Any) -> None:
    """Make both on the cloud of a folder; ``settings`` are further ones of the event source.

    Where a record's key is ``poison`` the function fails as ``fails`` says: with the ``whole`` batch, or ``partly``.
    """
    table = client_of(home, "dynamodb").create_table(
        TableName=NAME,
        KeySchema=[{"AttributeName": "PK", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "PK", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    )
    code = io.BytesIO()
    with zipfile.ZipFile(code, "w") as archive:
        archive.writestr("probe.py", _PROBE)
    role = client_of(home, "iam").create_role(RoleName=NAME, AssumeRolePolicyDocument=json.dumps(TRUST))["Role"]
    functions = client_of(home, "lambda")
    functions.create_function(
        FunctionName=NAME,
        Runtime="python3.12",
        Handler="probe.handler",
        Role=role["Arn"],
        Code={"ZipFile": code.getvalue()},
        Timeout=60,
        Environment={"Variables": {"SEEN": str(seen), "FAILS": fails}},
    )
    functions.create_event_source_mapping(
        EventSourceArn=table["TableDescription"]["LatestStreamArn"],
        FunctionName=NAME,
        StartingPosition="TRIM_HORIZON",
        **settings,
    )


def client_of(home: Home, service: Any, **config: Any) -> Any:
    """A service's client, at the cloud that runs in a folder; ``config`` are settings of botocore's."""
    running = cloud.running(home)
    assert running is not None
    return boto3.session.Session().client(service, config=Config(**config), **client_arguments(home, running.port))


def write(home: Home, *names: str) -> None:
    """Write items of these keys."""
    dynamodb = client_of(home, "dynamodb")
    for name in names:
        dynamodb.put_item(TableName=NAME, Item={"PK": {"S": name}})


def told(seen: Path) -> str:
    """The batches that the function was called with, each a line of JSON."""
    return seen.read_text() if seen.exists() else ""
