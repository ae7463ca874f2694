"""The site that all tests here share, who visits it, and its queues, stream and functions as seen from outside."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import boto3
import httpx
import pytest

from local.settings import REGION, access_key, client_arguments
from shared.services import Queue
from tests.support.commands import PATIENCE
from tests.support.site import Site, Visitor, brand, editor, member, site, visitor
from tests.support.site import a_deal as body_of

__all__ = ["brand", "editor", "member", "site", "visitor"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all tests here. They share one site, so they run in one process (see ``tests/conftest.py``)."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.e2e)


DEAD_LETTERS = (
    "WorkDeadLettersUrl",
    "UploadsDeadLettersUrl",
    "MailDeadLettersUrl",
    "DealsDeadLettersUrl",
    "RefreshesDeadLettersUrl",
)


@dataclass(frozen=True, slots=True)
class Plumbing:
    """The parts that work after a write, between the table and the readers."""

    outputs: dict[str, str]
    sqs: Any
    streams: Any
    functions: Any
    stream: str

    @classmethod
    def of(cls, site: Site) -> Plumbing:
        stacks = client(site, "cloudformation").describe_stacks()["Stacks"]
        outputs = {o["OutputKey"]: o["OutputValue"] for stack in stacks for o in stack.get("Outputs", ())}
        streams = client(site, "dynamodbstreams")
        (stream,) = streams.list_streams(TableName=site.table.name)["Streams"]
        return cls(outputs, client(site, "sqs"), streams, client(site, "lambda"), stream["StreamArn"])

    def queue(self, output: str) -> Queue:
        """A queue, by the stack's output that names it."""
        return Queue(self.outputs[output], client=self.sqs)

    def function(self, part: str) -> str:
        """The address of the function whose name has a part."""
        found = self.functions.list_functions(MaxItems=50)["Functions"]
        (arn,) = (each["FunctionArn"] for each in found if part in each["FunctionName"])
        return str(arn)

    def waiting(self) -> dict[str, int]:
        """How many messages each queue holds, visible or under way."""
        counts = ("ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible")
        held = {}
        for name in filter(self.outputs.__contains__, ("QueueUrl", *DEAD_LETTERS)):
            told = self.sqs.get_queue_attributes(QueueUrl=self.outputs[name], AttributeNames=["All"])["Attributes"]
            held[name] = sum(int(told[count]) for count in counts)
        return held

    def records(self) -> list[dict[str, Any]]:
        """All that the stream holds."""
        (shard,) = self.streams.describe_stream(StreamArn=self.stream)["StreamDescription"]["Shards"]
        iterator = self.streams.get_shard_iterator(
            StreamArn=self.stream, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
        )["ShardIterator"]
        found: list[dict[str, Any]] = []
        while iterator:
            answer = self.streams.get_records(ShardIterator=iterator)
            if not answer["Records"]:
                break
            found += answer["Records"]
            iterator = answer.get("NextShardIterator")
        return found

    @contextmanager
    def impatient(self) -> Iterator[None]:
        """Let what failed be delivered again after a second, not six minutes."""
        url = self.outputs["QueueUrl"]
        kept = self.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["VisibilityTimeout"])["Attributes"]
        self.sqs.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": "1"})
        try:
            yield
        finally:
            self.sqs.set_queue_attributes(QueueUrl=url, Attributes=kept)

    def call(self, part: str, event: dict[str, Any]) -> Any:
        """Call a function as an event source does; what it answers."""
        answer = self.functions.invoke(FunctionName=self.function(part), Payload=json.dumps(event).encode())
        assert "FunctionError" not in answer
        return json.loads(answer["Payload"].read())


def client(site: Site, service: Any, **credentials: Any) -> Any:
    """A service's client, with the account's own credentials where no others are given."""
    return _session().client(service, **client_arguments(site.home, site.port) | credentials)


@cache
def _session() -> boto3.session.Session:
    """One for all clients: it keeps the descriptions of services, which take longest to read."""
    return boto3.session.Session()


def name_to_btd(monkeypatch: pytest.MonkeyPatch, site: Site, **more: str) -> None:
    """Name a site to ``btd`` by the environment that one sets for AWS; ``more`` are variables of its own."""
    key = access_key(site.home)
    environment = {
        "AWS_ENDPOINT_URL": site.endpoint,
        "AWS_REGION": REGION,
        "AWS_ACCESS_KEY_ID": key.key_id,
        "AWS_SECRET_ACCESS_KEY": key.secret,
        "NO_PROXY": "127.0.0.1,localhost",
        **more,
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)  # it keeps the key that it found first


def messages_of(member: Visitor, deal_id: str) -> list[dict[str, Any]]:
    items = member.get("/messages").json()["items"]
    return [item for item in items if item["deal"]["dealId"] == deal_id]


def posted(editor: Visitor, brand: str, **others: Any) -> str:
    answer = editor.post("/deals", json=body_of(brand, **others))
    assert answer.status_code == 201, answer.text
    return str(answer.json()["dealId"])


def shown(visitor: Visitor) -> list[str]:
    return [deal["dealId"] for deal in visitor.get("/front-page").json()["latest"]["items"]]


def ministack(site: Site, method: str, path: str, **how: Any) -> httpx.Response:
    """Ask the cloud for what AWS does not have."""
    signed = {"Authorization": f"AWS4-HMAC-SHA256 Credential={access_key(site.home).key_id}/"}
    address = f"{site.endpoint}/_ministack/{path}"
    return httpx.request(method, address, headers=signed, trust_env=False, timeout=PATIENCE, **how).raise_for_status()
