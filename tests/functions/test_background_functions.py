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

from features.shop.data import keys as shop_keys
from features.shop.data import stock
from features.shop.fields import StockLevel, level_of
from functions.background import publisher, refresher, seed
from shared import settings
from shared.data import keys
from shared.data.catalog import deals, topics
from shared.data.members import follows
from shared.data.members.cohorts import Unit
from shared.dynamodb.table import Table
from shared.dynamodb.writes import put
from shared.models.catalog import CATEGORIES, CATEGORY, Topic
from shared.runtime import environment
from shared.services import Queue
from shared.values import times
from tests.support.factories import SHOES, a_deal, join
from tests.support.surroundings import event, number_of, record, taken
from tests.support.wire import Answer, answered, error

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


def test_a_deal_follows_its_stock_and_a_repeated_record_changes_nothing(table: Table, context: LambdaContext) -> None:
    deal = deals.create(table, a_deal(times.now(), brand="g-fore", category="clothing"), times.now())
    seen = []

    for more in (3, 10, -13):
        stock.add(table, deal.deal_id, more, times.now())
        image = table.get(shop_keys.stock_shard(deal.deal_id, 1), consistent=True) or {}
        changed = record(image, image)
        for _ in range(2):
            assert refresher.handler({"Records": [changed, changed]}, context) == {"batchItemFailures": []}
        seen.append(level_of(deals.get(table, deal.deal_id, consistent=True)))

    assert seen == [StockLevel.LOW, StockLevel.AVAILABLE, StockLevel.SOLD_OUT]
    assert deals.get(table, deal.deal_id, consistent=True).version == 1


def test_a_stock_that_cannot_be_shown_is_reported_and_keeps_no_other_from_being_shown(
    table: Table, context: LambdaContext, caplog: pytest.LogCaptureFixture
) -> None:
    sold = [
        deals.create(table, a_deal(times.now(), brand="g-fore", category="clothing"), times.now()) for _ in range(3)
    ]
    for deal in sold:
        stock.add(table, deal.deal_id, 3, times.now(), shards=2)
    damaged, failing, whole = sold
    shard = table.get(shop_keys.stock_shard(damaged.deal_id, 1), consistent=True) or {}
    table.write(put({**shard, "Left": "three"}, because="someone writes by hand"))
    records = [
        record(None, table.get(shop_keys.stock_shard(deal.deal_id, number), consistent=True))
        for deal in sold
        for number in (1, 2)
    ]

    def refused(request: dict[str, Any]) -> Answer | None:
        told = request["Key"]["PK"]["S"] == keys.deal(failing.deal_id)["PK"]
        return error("ValidationException") if told else None

    with answered(environment.table(), "UpdateItem", refused):
        answer = refresher.handler({"Records": records}, context)

    assert answer == {"batchItemFailures": [{"itemIdentifier": number_of(each)} for each in records[2:4]]}
    for deal in (damaged, whole):
        assert level_of(deals.get(table, deal.deal_id, consistent=True)) is StockLevel.LOW
    assert shop_keys.stock_shard(damaged.deal_id, 1)["PK"] in " ".join(str(vars(line)) for line in caplog.records)
