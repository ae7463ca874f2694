"""The functions in the background."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.background import publisher, seed
from shared import settings
from shared.data.catalog import topics
from shared.data.members import follows
from shared.data.members.cohorts import Unit
from shared.dynamodb.table import Table
from shared.models.catalog import CATEGORIES, CATEGORY, Topic
from shared.runtime import environment
from shared.services import Queue
from shared.values import times
from tests.support.factories import SHOES, join
from tests.support.surroundings import event, taken
from tests.support.wire import answered, error

DEAL_ID = "3F2VM8KqLdHD6qBOm7B4Q0YD0Fr"
"""The deal that the events are about."""


class Answers(BaseHTTPRequestHandler):
    """Where CloudFormation waits for a custom resource's answer."""

    received: list[tuple[str, dict[str, str], dict[str, Any]]]

    def do_PUT(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.received.append((self.path, dict(self.headers), body))
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing."""


@contextmanager
def cloudformation() -> Iterator[tuple[str, list[tuple[str, dict[str, str], dict[str, Any]]]]]:
    """An address that takes answers, and those it took."""
    received: list[tuple[str, dict[str, str], dict[str, Any]]] = []
    handler = type("Handler", (Answers,), {"received": received})
    with HTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/signed?X-Amz-Signature=abc%2F1", received
        finally:
            server.shutdown()


def test_seed_plants_the_categories_once_and_leaves_the_table_alone_when_its_resource_goes(
    deployed: Table, context: LambdaContext
) -> None:
    request = event("seed-create")

    with cloudformation() as (address, received):
        where = {"ResponseURL": address}
        seed.handler(event("seed-delete") | where, context)
        assert deployed.scan() == ([], None)
        seed.handler(request | where, context)
        join(deployed, "ana")
        follows.like(deployed, SHOES, "ana", times.now())
        seed.handler(request | where | {"RequestType": "Update", "PhysicalResourceId": "seeds"}, context)

    _, (path, headers, answer), _ = received
    assert path == "/signed?X-Amz-Signature=abc%2F1"
    assert headers.get("Content-Type", "") == ""
    assert answer == {
        "Status": "SUCCESS",
        "Reason": answer["Reason"],
        "PhysicalResourceId": "seeds",
        "StackId": request["StackId"],
        "RequestId": request["RequestId"],
        "LogicalResourceId": "Seeds",
    }
    assert [answer["Status"] for _, _, answer in received] == ["SUCCESS"] * 3
    assert [topics.get(deployed, Topic(CATEGORY, slug)).name for slug in CATEGORIES] == list(CATEGORIES.values())
    assert topics.get(deployed, SHOES).likes == 1


def test_seed_waits_for_the_role_of_a_first_deployment(
    deployed: Table, context: LambdaContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusals = [error("AccessDeniedException")] * 2
    monkeypatch.setattr(seed, "PAUSE", 0.0)
    monkeypatch.setattr(context, "get_remaining_time_in_millis", lambda: 30_000)

    with (
        cloudformation() as (address, received),
        answered(environment.table(), "PutItem", lambda _: refusals.pop() if refusals else None) as refused,
    ):
        seed.handler(event("seed-create") | {"ResponseURL": address}, context)

    assert (received[0][2]["Status"], len(refused)) == ("SUCCESS", 2)
    assert [topics.get(deployed, Topic(CATEGORY, slug)).name for slug in CATEGORIES] == list(CATEGORIES.values())


def test_seed_reports_a_failure_to_cloudformation(
    deployed: Table, context: LambdaContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TABLE_NAME", "no-such-table")

    with cloudformation() as (address, received):
        seed.handler(event("seed-create") | {"ResponseURL": address}, context)

    assert received[0][2]["Status"] == "FAILED"
    assert received[0][2]["Reason"]


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("stream-insert", ["brand", "category", "words"]),
        ("stream-modify-hot", ["hot"] * settings.SCAN_SEGMENTS),
        ("stream-insert-old-date", []),
        ("stream-modify-withdrawn", []),
        ("stream-ttl-remove", []),
    ],
)
def test_publisher_queues_the_work_that_an_event_makes(
    deployed: Table, queue: Queue, context: LambdaContext, name: str, kinds: list[str]
) -> None:
    answer = publisher.handler(event(name), context)

    assert answer == {"batchItemFailures": []}
    units = [Unit.from_json(body) for body in taken(queue)]
    assert sorted((unit.deal_id, unit.kind) for unit in units) == [(DEAL_ID, kind) for kind in kinds]
