"""Where MiniStack's event sources and gateway depart from AWS's, each as a test that fails when MiniStack changes.

What our functions do under Lambda's own rules is shown in ``tests/streams``; ``docs/failures.md`` has the list.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from shared.data import keys
from shared.data.members import rate_limits
from tests.e2e.plumbing import a_probe, client
from tests.support.contract import assert_problem
from tests.support.site import Site, fresh
from tests.support.waiting import until

pytestmark = pytest.mark.thorough  # about MiniStack, not about our code

CLAIMED = "203.0.113.9"
"""An address that a header claims."""


@dataclass(frozen=True, slots=True)
class Laboratory:
    """A table with a stream, a function that reads it, and a queue for what fails."""

    clients: dict[str, Any]
    table: str
    stream: str
    dead_letters_url: str
    seen: Path

    def write(self, *names: str, **attributes: str) -> None:
        values = {name: {"S": value} for name, value in attributes.items()}
        for name in names:
            self.clients["dynamodb"].put_item(TableName=self.table, Item={"PK": {"S": name}, **values})

    def read(self, **settings: Any) -> str:
        """Let the function read the stream from its beginning; returns what names the event source."""
        function = self.clients["lambda"].list_functions(MaxItems=50)["Functions"]
        (name,) = (each["FunctionName"] for each in function if each["FunctionName"] == self.table)
        mapping = self.clients["lambda"].create_event_source_mapping(
            EventSourceArn=self.stream,
            FunctionName=name,
            StartingPosition="TRIM_HORIZON",
            BatchSize=10,
            BisectBatchOnFunctionError=True,
            MaximumRetryAttempts=1,
            FunctionResponseTypes=["ReportBatchItemFailures"],
            DestinationConfig={"OnFailure": {"Destination": self._dead_letters_arn()}},
            **settings,
        )
        return str(mapping["UUID"])

    def batches(self) -> list[list[str]]:
        """The events that the function was called with, call by call."""
        return [json.loads(line) for line in self.seen.read_text().splitlines()] if self.seen.exists() else []

    def _dead_letters_arn(self) -> str:
        told = self.clients["sqs"].get_queue_attributes(QueueUrl=self.dead_letters_url, AttributeNames=["QueueArn"])
        return str(told["Attributes"]["QueueArn"])


@pytest.fixture
def laboratory(site: Site, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Laboratory]:
    """One of a test's own; its function fails as the test's parameter says: ``whole`` batches, or ``partly``."""
    clients = {name: client(site, name) for name in ("dynamodb", "iam", "lambda", "sqs")}
    name = fresh("laboratory")
    seen = tmp_path / "seen"
    stream = a_probe(clients, name, seen, fails=getattr(request, "param", "whole"))
    dead_letters_url = clients["sqs"].create_queue(QueueName=name)["QueueUrl"]
    yield Laboratory(clients, name, stream, dead_letters_url, seen)
    for mapping in clients["lambda"].list_event_source_mappings(FunctionName=name)["EventSourceMappings"]:
        clients["lambda"].delete_event_source_mapping(UUID=mapping["UUID"])
    clients["lambda"].delete_function(FunctionName=name)
    clients["iam"].delete_role(RoleName=name)
    clients["dynamodb"].delete_table(TableName=name)
    clients["sqs"].delete_queue(QueueUrl=dead_letters_url)


@pytest.mark.parametrize("laboratory", ["partly"], indirect=True)
def test_ministack_does_not_match_what_is_missing_below_what_is_missing(laboratory: Laboratory) -> None:
    """Lambda would let both changes through: in neither is there a text of the old image's Hot."""
    laboratory.write("changed")
    laboratory.write("changed", Title="another")
    not_hot = {"eventName": ["MODIFY"], "dynamodb": {"OldImage": {"Hot": {"S": [{"exists": False}]}}}}
    changed = {"eventName": ["MODIFY"]}

    laboratory.read(FilterCriteria={"Filters": [{"Pattern": json.dumps(not_hot)}]})
    laboratory.read(FilterCriteria={"Filters": [{"Pattern": json.dumps(changed)}]})
    assert until(lambda: len(laboratory.batches()) == 1)
    laboratory.write("changed", Title="a third")

    # The second reader has read everything twice by now, and the first, if it matched, as much.
    assert until(lambda: len(laboratory.batches()) == 2)
    assert laboratory.batches() == [["changed"], ["changed"]]


def test_ministack_believes_x_forwarded_for(site: Site) -> None:
    """API Gateway's ``sourceIp`` is the address that the connection came from, whatever a header says."""
    login = {"username": fresh("far-away"), "password": "a guess"}

    window = int(datetime.now(UTC).timestamp()) // rate_limits.WINDOW_SECONDS

    assert_problem(site.visitor().post("/sessions", json=login, headers={"X-Forwarded-For": CLAIMED}), 401)

    # The next window may have begun meanwhile.
    (counted,) = site.table.get_many([keys.attempts("ADDRESS", CLAIMED, each) for each in (window, window + 1)])
    assert len(counted["Counted"]) == 1
