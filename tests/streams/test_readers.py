"""The stream's and the queue's functions, called as Lambda calls them: what always fails, between what does not."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from local.event_source import EventSource
from shared.data import keys
from shared.data.catalog.deal_items import to_item_listed
from shared.data.members import fanout, messages
from shared.dynamodb.table import Table
from shared.dynamodb.writes import update
from shared.errors import Unavailable
from shared.models.catalog import Deal
from shared.runtime import environment
from shared.services import Queue
from shared.values import times
from tests.support.events import event
from tests.support.factories import APPLE, a_deal, a_message, let_watch, post
from tests.support.records import Record, damaged, number_of, of_deal
from tests.support.surroundings import taken
from tests.support.wire import answered, error

Handler = Callable[[Record], dict[str, Any]]

pytestmark = pytest.mark.faults

NOW = times.now()


@pytest.fixture
def posted(table: Table) -> list[Deal]:
    """Six deals that are a few seconds old."""
    return post(table, [a_deal(NOW - timedelta(seconds=number)) for number in range(6)], NOW)


def sqs_event(*bodies: str) -> Record:
    """The event of some messages, named by their number."""
    (like, *_) = event("messenger-work")["Records"]
    return {"Records": [{**like, "messageId": str(number), "body": body} for number, body in enumerate(bodies)]}


def test_the_publisher_parks_a_record_it_cannot_read_and_announces_the_others(
    table: Table, queue: Queue, posted: list[Deal], announce: Handler
) -> None:
    poison = damaged(to_item_listed(a_deal(NOW), listed=True))
    records = [of_deal(None, deal, NOW) for deal in posted]
    source = EventSource(announce)

    source.deliver([*records[:3], poison, *records[3:]])

    assert [batch[0] for batch in source.dead_letters] == [poison]
    assert source.calls == 1 + source.retries
    assert {json.loads(body)["dealId"] for body in taken(queue)} == {deal.deal_id for deal in posted}


def test_a_batch_that_fails_for_a_while_is_repeated_until_it_succeeds() -> None:
    failures, done = [Unavailable("The table cannot answer.")] * 3, list[Record]()

    def sometimes(event: Record) -> dict[str, Any]:
        if failures:
            raise failures.pop()
        done.extend(event["Records"])
        return {"batchItemFailures": []}

    records = [of_deal(None, a_deal(NOW), NOW) for _ in range(2)]
    source = EventSource(sometimes)
    source.deliver(records)

    assert (source.dead_letters, done) == ([], records)


def test_all_records_are_reported_where_the_queue_is_out_of_reach(
    posted: list[Deal], announce: Handler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QUEUE_URL", "http://127.0.0.1:9/000000000000/none")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    records = [of_deal(None, deal, NOW) for deal in posted[:2]]

    answer = announce({"Records": records})

    assert answer == {"batchItemFailures": [{"itemIdentifier": number_of(each)} for each in records]}


def test_the_messenger_gives_back_what_it_cannot_do_and_does_the_rest(
    table: Table, queue: Queue, posted: list[Deal], deliver: Handler
) -> None:
    let_watch(table, APPLE, "ana", now=NOW)
    damage(table, posted[1])
    good, failing, last = (fanout.news_of(deal)[0].to_json() for deal in posted[:3])

    answer = deliver(sqs_event(good, "no JSON", failing, "{}", '["a list"]', good.replace('"brand"', '"gossip"'), last))

    failed = [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]
    assert failed == ["1", "2", "3", "4", "5"]
    told = messages.latest(table, "ana", limit=9, now=NOW).items
    assert {message.about for message in told} == {a_message(posted[at]).about for at in (0, 2)}


def test_a_unit_fails_while_the_table_is_throttled_or_its_deal_damaged_and_succeeds_after_that(
    table: Table, queue: Queue, posted: list[Deal], deliver: Handler
) -> None:
    let_watch(table, APPLE, "ana", now=NOW)
    damage(table, posted[0])
    event = sqs_event(fanout.news_of(posted[0])[0].to_json())

    with answered(environment.table(), "GetItem", lambda _: error("ProvisionedThroughputExceededException")):
        throttled = deliver(event)
    before = deliver(event)
    table.write(update(keys.deal(posted[0].deal_id), "SET Title = :title", values={":title": "Mended"}, refused=None))
    after = deliver(event)

    assert [len(answer["batchItemFailures"]) for answer in (throttled, before, after)] == [1, 1, 0]
    (message,) = messages.latest(table, "ana", limit=9, now=NOW).items
    assert message.subject.endswith(": Mended")


def damage(table: Table, deal: Deal) -> None:
    """Take away what every deal has."""
    table.write(update(keys.deal(deal.deal_id), "REMOVE Title", refused=None))
