"""The stream's and the queue's functions, called as Lambda calls them: what always fails, between what does not."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from local.event_source import EventSource
from shared.data import keys
from shared.data.catalog import page_cache
from shared.data.catalog.deal_items import to_item_listed
from shared.data.catalog.page_cache import NEWEST
from shared.data.members import fanout, messages
from shared.dynamodb.table import Table
from shared.dynamodb.writes import update
from shared.errors import Unavailable
from shared.models.catalog import Deal
from shared.runtime import environment
from shared.sqs import Queue
from shared.values import times
from tests.support.factories import APPLE, a_deal, a_message, let_watch, post
from tests.support.records import Record, by_ttl, damaged, number_of, of_deal, record
from tests.support.surroundings import taken
from tests.support.wire import answered, error

Handler = Callable[[Record], dict[str, Any]]

pytestmark = pytest.mark.faults

NOW = times.now()


@pytest.fixture
def posted(table: Table) -> list[Deal]:
    """Six deals that are a few seconds old."""
    return post(table, [a_deal(NOW - timedelta(seconds=number)) for number in range(6)], NOW)


def poisoned(good: list[Deal]) -> tuple[list[Record], Record]:
    """Records of some new deals with a damaged one in their midst, and that one."""
    poison = damaged(to_item_listed(a_deal(NOW), listed=True))
    records = [of_deal(None, deal, NOW) for deal in good]
    return [*records[:3], poison, *records[3:]], poison


def announced(queue: Queue) -> set[str]:
    """The deals that the queue holds work for, taken out of it."""
    return {json.loads(body)["dealId"] for body in taken(queue)}


def newest(table: Table) -> str:
    """The copy of the newest deals."""
    (cached,) = page_cache.read(table, [NEWEST], shard=1, now=NOW)
    assert cached is not None
    return cached.text


def sqs_event(*bodies: str) -> Record:
    return {
        "Records": [
            {
                "messageId": f"message-{number}",
                "receiptHandle": "none",
                "body": body,
                "attributes": {"ApproximateReceiveCount": "1"},
                "messageAttributes": {},
                "md5OfBody": "",
                "eventSource": "aws:sqs",
                "eventSourceARN": "arn:aws:sqs:us-east-1:123456789012:work",
                "awsRegion": "us-east-1",
            }
            for number, body in enumerate(bodies)
        ]
    }


def test_the_publisher_parks_a_record_it_cannot_read_and_announces_the_others(
    table: Table, queue: Queue, posted: list[Deal], announce: Handler
) -> None:
    records, poison = poisoned(posted)
    source = EventSource(announce)

    source.deliver(records)

    assert [batch[0] for batch in source.dead_letters] == [poison]
    assert source.calls == 1 + source.retries
    assert announced(queue) == {deal.deal_id for deal in posted}


def test_the_refresher_leaves_out_a_deal_it_cannot_read_and_shows_the_others_at_once(
    table: Table, queue: Queue, posted: list[Deal], refresh: Handler
) -> None:
    records, _ = poisoned(posted)
    source = EventSource(refresh)

    source.deliver(records)

    assert (source.dead_letters, source.calls) == ([], 1)
    assert all(deal.deal_id in newest(table) for deal in posted)


def test_the_publisher_reports_the_record_that_failed_and_no_other(posted: list[Deal], announce: Handler) -> None:
    records, poison = poisoned(posted)

    answer = announce({"Records": records})

    assert answer == {"batchItemFailures": [{"itemIdentifier": number_of(poison)}]}


def test_a_batch_that_the_table_refuses_for_a_while_is_repeated_until_it_succeeds(
    table: Table, queue: Queue, posted: list[Deal], refresh: Handler
) -> None:
    failures = iter([True] * 3)

    def sometimes(event: Record) -> dict[str, Any]:
        if next(failures, False):
            raise Unavailable("The table cannot answer.")
        return refresh(event)

    source = EventSource(sometimes)
    source.deliver([of_deal(None, deal, NOW) for deal in posted])

    assert source.dead_letters == []
    assert all(deal.deal_id in newest(table) for deal in posted)


def test_all_records_are_reported_where_the_queue_is_out_of_reach(
    posted: list[Deal], announce: Handler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QUEUE_URL", "http://127.0.0.1:9/000000000000/none")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    records = [of_deal(None, deal, NOW) for deal in posted[:2]]

    answer = announce({"Records": records})

    assert answer == {"batchItemFailures": [{"itemIdentifier": number_of(each)} for each in records]}


def test_a_removal_by_ttl_makes_no_work(queue: Queue, announce: Handler, refresh: Handler) -> None:
    removals = [by_ttl(to_item_listed(a_deal(NOW), listed=True)), by_ttl({**keys.session("hash"), "Type": "Session"})]

    answers = [handler({"Records": removals}) for handler in (announce, refresh)]

    assert answers == [{"batchItemFailures": []}] * 2
    assert announced(queue) == set()


def test_a_damaged_deal_that_is_repaired_is_shown(
    table: Table, queue: Queue, posted: list[Deal], refresh: Handler
) -> None:
    whole = to_item_listed(posted[0], listed=True)
    broken = {name: value for name, value in whole.items() if name != "Title"}

    answer = refresh({"Records": [record(broken, whole)]})

    assert answer == {"batchItemFailures": []}
    assert posted[0].deal_id in newest(table)


def test_the_messenger_gives_back_what_it_cannot_do_and_does_the_rest(
    table: Table, queue: Queue, posted: list[Deal], deliver: Handler
) -> None:
    let_watch(table, APPLE, "ana", now=NOW)
    damage(table, posted[1])
    good, failing, last = (fanout.news_of(deal)[0].to_json() for deal in posted[:3])

    answer = deliver(sqs_event(good, "no JSON", failing, "{}", '["a list"]', good.replace('"brand"', '"gossip"'), last))

    failed = [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]
    assert failed == [f"message-{number}" for number in range(1, 6)]
    told = messages.latest(table, "ana", limit=9, now=NOW).items
    assert {message.about for message in told} == {a_message(posted[at]).about for at in (0, 2)}


def test_a_unit_fails_while_its_deal_is_damaged_and_succeeds_once_it_is_repaired(
    table: Table, queue: Queue, posted: list[Deal], deliver: Handler
) -> None:
    let_watch(table, APPLE, "ana", now=NOW)
    damage(table, posted[0])
    event = sqs_event(fanout.news_of(posted[0])[0].to_json())

    before = deliver(event)
    table.write(update(keys.deal(posted[0].deal_id), "SET Title = :title", values={":title": "Mended"}, refused=None))
    after = deliver(event)

    assert (len(before["batchItemFailures"]), after) == (1, {"batchItemFailures": []})
    (message,) = messages.latest(table, "ana", limit=9, now=NOW).items
    assert message.subject.endswith(": Mended")


def test_a_throttled_table_gives_the_page_back_to_the_queue(
    table: Table, queue: Queue, posted: list[Deal], deliver: Handler
) -> None:
    let_watch(table, APPLE, "ana", now=NOW)
    event = sqs_event(fanout.news_of(posted[0])[0].to_json())

    with answered(environment.table(), "GetItem", lambda _: error("ProvisionedThroughputExceededException")):
        throttled = deliver(event)
    again = deliver(event)

    assert (len(throttled["batchItemFailures"]), again) == (1, {"batchItemFailures": []})


def damage(table: Table, deal: Deal) -> None:
    """Take away what every deal has."""
    table.write(update(keys.deal(deal.deal_id), "REMOVE Title", refused=None))
