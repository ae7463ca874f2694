"""The functions that nobody calls: seeding at deployment, the clock's, the stream's and the queue's."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.api import catalog
from functions.background import expiry, messenger, publisher, refresher, seed
from shared import settings
from shared.data.catalog import brands, deals, feeds, page_cache, seeds, topics
from shared.data.catalog.deal_items import from_item
from shared.data.catalog.page_cache import NEWEST
from shared.data.members import alerts, fanout, follows, messages
from shared.dynamodb.attributes import unmarshal_item
from shared.dynamodb.table import Table
from shared.models.alerts import Limits
from shared.models.catalog import ALL_DEALS, BRAND, CATEGORIES, CATEGORY, Deal, Topic
from shared.runtime import environment
from shared.sqs import Queue
from shared.values import times
from tests.functions.conftest import DEAL_ID
from tests.support.events import event, page
from tests.support.factories import a_deal, account_of, join, let_watch
from tests.support.surroundings import taken
from tests.support.wire import answered, error

G_FORE = Topic(BRAND, "g-fore")
SHOES = Topic(CATEGORY, "shoes")


@pytest.fixture
def deal(table: Table) -> Deal:
    """The deal that the stream's events are about, as they found it, but posted now: its messages are of its time."""
    image = event("stream-insert")["Records"][0]["dynamodb"]["NewImage"]
    return deals.create(table, replace(from_item(unmarshal_item(image)), created_at=times.now()), times.now())


def bodies(queue: Queue) -> list[dict[str, Any]]:
    """The work in the queue, taken out of it."""
    return [json.loads(body) for body in taken(queue)]


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


def test_seed_plants_the_categories_and_tells_cloudformation(deployed: Table, context: LambdaContext) -> None:
    request = event("seed-create")

    with cloudformation() as (address, received):
        seed.handler(request | {"ResponseURL": address}, context)

    ((path, headers, answer),) = received
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
    assert [topics.get(deployed, Topic(CATEGORY, slug)).name for slug in CATEGORIES] == list(CATEGORIES.values())


def test_seeding_again_leaves_what_is_there(table: Table, context: LambdaContext) -> None:
    join(table, "ana")
    follows.like(table, SHOES, "ana", times.now())

    with cloudformation() as (address, received):
        update = {"RequestType": "Update", "PhysicalResourceId": "seeds", "ResponseURL": address}
        seed.handler(event("seed-create") | update, context)

    assert received[0][2]["Status"] == "SUCCESS"
    assert topics.get(table, SHOES).likes == 1


def test_seed_leaves_the_table_alone_when_its_resource_goes(deployed: Table, context: LambdaContext) -> None:
    with cloudformation() as (address, received):
        seed.handler(event("seed-delete") | {"ResponseURL": address}, context)

    assert received[0][2]["Status"] == "SUCCESS"
    assert deployed.scan() == ([], None)


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


def test_seed_tells_cloudformation_of_a_failure(
    deployed: Table, context: LambdaContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TABLE_NAME", "no-such-table")

    with cloudformation() as (address, received):
        seed.handler(event("seed-create") | {"ResponseURL": address}, context)

    assert received[0][2]["Status"] == "FAILED"
    assert received[0][2]["Reason"]


def test_expiry_takes_ended_deals_out_of_the_feeds(deployed: Table, context: LambdaContext) -> None:
    now = times.now()
    yesterday = now - timedelta(days=1)
    seeds.plant(deployed, yesterday)
    brands.create(deployed, "g-fore", "G/Fore", yesterday)
    ended = a_deal(yesterday, brand="g-fore", ends_at=yesterday + timedelta(seconds=1))
    stays = a_deal(yesterday, brand="g-fore", ends_at=now + timedelta(days=1))
    for posted in (ended, stays):
        deals.create(deployed, posted, yesterday)

    answer = expiry.handler(event("expiry-schedule"), context)

    assert answer == {"swept": 1, "posted": 0}
    assert [deal.deal_id for deal in feeds.read(deployed, ALL_DEALS, limit=5, now=yesterday).items] == [stays.deal_id]
    assert expiry.handler(event("expiry-schedule"), context) == {"swept": 0, "posted": 0}


def test_publisher_queues_a_new_deals_watchers(deployed: Table, queue: Queue, context: LambdaContext) -> None:
    answer = publisher.handler(event("stream-insert"), context)

    assert answer == {"batchItemFailures": []}
    assert sorted((unit["dealId"], unit["kind"]) for unit in bodies(queue)) == [
        (DEAL_ID, "brand"),
        (DEAL_ID, "category"),
        (DEAL_ID, "words"),
    ]


def test_publisher_queues_all_users_of_a_deal_that_became_hot(
    deployed: Table, queue: Queue, context: LambdaContext
) -> None:
    publisher.handler(event("stream-modify-hot"), context)

    units = bodies(queue)
    assert {unit["kind"] for unit in units} == {"hot"}
    assert sorted(unit["segment"] for unit in units) == list(range(settings.SCAN_SEGMENTS))


@pytest.mark.parametrize(
    "name", ["stream-insert-old-date", "stream-modify-withdrawn", "stream-ttl-remove"], ids=["old", "edited", "TTL"]
)
def test_publisher_tells_nobody_of_what_is_no_news(
    deployed: Table, queue: Queue, context: LambdaContext, name: str
) -> None:
    answer = publisher.handler(event(name), context)

    assert answer == {"batchItemFailures": []}
    assert bodies(queue) == []


def test_messenger_tells_the_watchers_once(table: Table, deal: Deal, context: LambdaContext) -> None:
    let_watch(table, G_FORE, "ana", now=times.now())
    let_watch(table, SHOES, "ana", "ben", now=times.now())

    answers = [messenger.handler(event("messenger-work"), context) for _ in range(2)]

    assert answers == [{"batchItemFailures": []}] * 2
    assert {who: [m.kind for m in inbox(table, who)] for who in ("ana", "ben", "eve")} == {
        "ana": ["brand"],
        "ben": ["category"],
        "eve": [],
    }


def test_messenger_tells_whom_alerts_name_once(table: Table, deal: Deal, context: LambdaContext) -> None:
    join(table, "ana", "ben")
    now = times.now()
    alerts.on_price(table, deal, "ana", account_of("ana"), Limits(deal.price, deal.currency), now)
    alerts.on_words(table, "ben", account_of("ben"), Limits(words=deal.brand_name), now)

    answer = messenger.handler(event("messenger-alerts"), context)

    assert answer == {"batchItemFailures": []}
    assert [[m.kind for m in inbox(table, who)] for who in ("ana", "ben")] == [["price"], ["words"]]


def test_messenger_tells_who_watched_what_the_deal_was_announced_for_though_it_was_moved_since(
    table: Table, deal: Deal, context: LambdaContext
) -> None:
    let_watch(table, SHOES, "ana", now=times.now())
    let_watch(table, Topic(CATEGORY, "home"), "ben", now=times.now())
    work = event("messenger-work")
    work["Records"] = [work["Records"][0] | {"body": unit.to_json()} for unit in fanout.news_of(deal)]
    deals.edit(table, deal.deal_id, {"category": "home"}, times.now())

    messenger.handler(work, context)

    (told,) = inbox(table, "ana")
    assert (told.subject, told.about.watched) == (f"New in Shoes: {deal.title}", "Shoes")
    assert inbox(table, "ben") == []


def inbox(table: Table, username: str) -> list[Any]:
    return list(messages.latest(table, username, limit=10, now=times.now()).items)


def test_refresher_rebuilds_the_pages_that_a_new_deal_is_on(table: Table, deal: Deal, context: LambdaContext) -> None:
    answer = refresher.handler(event("stream-insert"), context)

    assert answer == {"batchItemFailures": []}
    for shard in range(1, settings.CACHE_SHARDS + 1):
        (copy,) = page_cache.read(table, [NEWEST], shard=shard, now=times.now())
        assert copy is not None
        assert [item["dealId"] for item in json.loads(copy.text)["items"]] == [DEAL_ID]


def test_refresher_takes_a_withdrawn_deal_off_the_pages(table: Table, deal: Deal, context: LambdaContext) -> None:
    refresher.handler(event("stream-insert"), context)
    deals.withdraw(table, DEAL_ID, times.now())

    refresher.handler(event("stream-modify-withdrawn"), context)

    answer = catalog.handler(page("/deals"), context)
    assert json.loads(answer["body"]) == {"items": [], "next": None}


def test_refresher_builds_everything_that_was_never_built_when_the_clock_says_so(
    table: Table, deal: Deal, context: LambdaContext
) -> None:
    refresher.handler(event("refresher-schedule"), context)

    ages = [page_cache.age(table, part, times.now()) for part in page_cache.PARTS]
    assert all(age is not None for age in ages)
