"""The functions behind the stream: what they file, announce and log, what pages say of it, and records that fail."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from functions.background import messenger, publisher
from local.event_source import EventSource
from shared import settings
from shared.data import keys
from shared.data.catalog import changes, deals, offers, search, shops, words
from shared.data.catalog.deals import is_listed, to_item, to_item_listed
from shared.data.members import fanout, messages
from shared.data.members.cohorts import Unit
from shared.dynamodb import aws_errors, damage
from shared.dynamodb.table import Table
from shared.dynamodb.writes import put, update
from shared.errors import InvalidCursor, Unavailable
from shared.models.catalog import Changed, Deal, LogLine, Verdict
from shared.runtime import environment
from shared.services import Queue
from shared.values import times
from tests.support.engines import FAST_SERVER
from tests.support.factories import APPLE, a_deal, a_message, ids, let_watch, open_brands, post
from tests.support.surroundings import (
    Record,
    a_context,
    batch,
    damaged,
    event,
    number_of,
    of_deal,
    queue_in_process,
    record,
    surrounded,
    taken,
)
from tests.support.wire import Answer, answered, error, losing, watched

pytestmark = pytest.mark.faults

Handler = Callable[[Record], dict[str, Any]]
NOW = times.now()

CONTEXT = a_context()


@pytest.fixture
def table() -> Iterator[Table]:
    with FAST_SERVER.table() as table:
        open_brands(table)
        yield table


@pytest.fixture
def queue(table: Table, monkeypatch: pytest.MonkeyPatch) -> Iterator[Queue]:
    """The queue of the fan-out; the functions know it and the table by their environment."""
    with queue_in_process() as queue, surrounded(monkeypatch, table, QUEUE_URL=queue.url):
        yield queue


@pytest.fixture
def announce(queue: Queue) -> Handler:
    """Calls the publisher with an event."""
    return lambda event: dict(publisher.handler(event, CONTEXT))


@pytest.fixture
def deliver(queue: Queue) -> Handler:
    """Calls the messenger with an event."""
    return lambda event: dict(messenger.handler(event, CONTEXT))


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
    assert {deal_id for body in taken(queue) for deal_id in Unit.from_json(body).deal_ids} == set(ids(posted))


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


def test_a_failing_batch_is_halved_until_the_record_at_fault_is_alone_and_retried() -> None:
    poison, *others = records = [of_deal(None, a_deal(NOW), NOW) for _ in range(100)]
    done, alone = list[Record](), list[Record]()

    def fails(event: Record) -> dict[str, Any]:
        if poison in event["Records"]:
            alone.extend(event["Records"] if len(event["Records"]) == 1 else ())
            raise Unavailable("The table cannot answer.")
        done.extend(event["Records"])
        return {"batchItemFailures": []}

    source = EventSource(fails)
    source.deliver(records)

    assert (done, source.dead_letters) == (others, [[poison]])
    assert alone == [poison] * (1 + source.retries)


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
    untitle(table, posted[1])
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
    untitle(table, posted[0])
    event = sqs_event(fanout.news_of(posted[0])[0].to_json())

    with answered(environment.table(), "GetItem", lambda _: error("ProvisionedThroughputExceededException")):
        throttled = deliver(event)
    before = deliver(event)
    table.write(update(keys.deal(posted[0].deal_id), "SET Title = :title", values={":title": "Mended"}, refused=None))
    after = deliver(event)

    assert [len(answer["batchItemFailures"]) for answer in (throttled, before, after)] == [1, 1, 0]
    (message,) = messages.latest(table, "ana", limit=9, now=NOW).items
    assert message.subject.endswith(": Mended")


def untitle(table: Table, deal: Deal) -> None:
    """Take away what every deal has."""
    table.write(update(keys.deal(deal.deal_id), "REMOVE Title", refused=None))


FILED = {keys.WORD, keys.WORD_COUNT, keys.PRODUCT_OFFER}
COLOURS = ("Black", "Blue", "Brown", "Green", "Grey", "Olive", "Pink", "Red", "White", "Yellow")


@pytest.fixture
def new() -> list[Deal]:
    """Twenty deals of an import: one was taken back before, and one has ended."""
    now = times.now()
    made = [
        a_deal(title=f"{colour} trail {name}", link=f"https://s.example/{name}/{colour}")
        for colour in COLOURS
        for name in ("boots", "T-Shirt")
    ]
    made[4], made[7] = replace(made[4], withdrawn_at=now), replace(made[7], ends_at=now)
    return made


def records(deals: list[Deal]) -> list[Record]:
    return [record(None, to_item(deal, times.now())) for deal in deals]


def filed(table: Table) -> dict[tuple[str, str], Any]:
    """The words, their counts and the offers in the table."""
    return {(item["PK"], item["SK"]): item for item in table.scan()[0] if item["Type"] in FILED}


def announced(deals: list[Deal]) -> set[str]:
    """The ids of the deals that are news."""
    return {deal.deal_id for deal in deals if is_listed(to_item(deal, times.now()))}


def due(deals: list[Deal]) -> dict[tuple[str, str], Any]:
    """The words, their counts and the offers that should be there."""
    listed = [deal for deal in deals if is_listed(to_item(deal, times.now()))]
    counts = Counter(word for deal in listed for word in words.of_deal(deal))
    expected = [item for deal in listed for item in search.items_of(deal).values()]
    for deal in deals:
        item = to_item(deal, times.now())
        expected.append(offers_item(deal, ended=not is_listed(item) and deal.withdrawn_at is None))
    for word, number in counts.items():
        forms = {words.of_deal(deal)[word] for deal in listed if word in words.of_deal(deal)}
        expected.append({**keys.word_count(word), "Type": "WordCount", "Word": word, "Deals": number, "Forms": forms})
    return {(item["PK"], item["SK"]): item for item in expected}


def offers_item(deal: Deal, *, ended: bool) -> Any:
    return {name: value for name, value in offers.to_item(deal, has_ended=ended).items() if value is not None}


def test_new_deals_of_a_batch_take_a_transaction_for_as_many_as_fit(
    table: Table, announce: Handler, new: list[Deal]
) -> None:
    with watched(environment.table()) as wire:
        answer = announce(batch(records(new)))

    assert answer == {"batchItemFailures": []}
    assert filed(table) == due(new)
    offered = [deal for deal in new if deal.withdrawn_at is None]
    assert len(offered) < len(new)
    assert wire.operations == {"TransactWriteItems": 2, "Query": len(offered)}, (
        "a Query tells that an offer is the first"
    )


def test_new_deals_are_announced_and_found_though_the_count_of_a_word_is_damaged(
    table: Table, queue: Queue, announce: Handler, new: list[Deal]
) -> None:
    bad = {**keys.word_count("trail"), "Type": keys.WORD_COUNT, "Word": "trail", "Deals": "many"}
    table.write(put(bad, because="a hand's"))

    answer = announce(batch(records(new)))

    assert answer == {"batchItemFailures": []}
    assert {deal_id for body in taken(queue) for deal_id in Unit.from_json(body).deal_ids} == announced(new)
    count = keys.word_count("trail")["PK"], keys.word_count("trail")["SK"]
    assert {**filed(table), count: None} == {**due(new), count: None}
    changed = {"Deals": "unknown", "Uncounted": len(list(table.query(keys.word("trail"))))}
    assert filed(table)[count] == {**bad, **changed}  # a repair, which has looked before, finds it changed
    assert set(damage.taken()) == {" / ".join(count)}

    withdrawn = replace(new[0], withdrawn_at=times.now())
    assert announce(batch([record(to_item(new[0], times.now()), to_item(withdrawn, times.now()))])) == answer
    assert keys.word_of_deal("trail", new[0].deal_id)["SK"] not in str(table.query(keys.word("trail")))


def test_announcing_does_not_wait_for_the_counts_of_words(
    table: Table, queue: Queue, announce: Handler, new: list[Deal], monkeypatch: pytest.MonkeyPatch
) -> None:
    def throttled(request: dict[str, Any]) -> Answer | None:
        return error("ThrottlingException") if "TransactItems" in request else None

    monkeypatch.setattr(aws_errors, "MAX_ATTEMPTS", 1)
    with answered(environment.table(), "TransactWriteItems", throttled):
        answer = announce(batch(records(new)))

    assert {deal_id for body in taken(queue) for deal_id in Unit.from_json(body).deal_ids} == announced(new)
    assert len(answer["batchItemFailures"]) == len(new) - 2  # all that are listed come again


def test_new_deals_are_filed_and_counted_once_however_often_they_come(
    table: Table, announce: Handler, new: list[Deal]
) -> None:
    search.file(table, None, new[0])  # an earlier delivery of the same record got so far
    written = records(new)

    with losing(environment.table(), "TransactWriteItems", times=2):
        announce(batch(written))
    answer = announce(batch(written))

    assert answer == {"batchItemFailures": []}
    assert filed(table) == due(new)


@pytest.fixture
def deal() -> Deal:
    return a_deal(NOW, number=7).signed("ana")


def lines(table: Table, deal: Deal, now: datetime = NOW) -> list[LogLine]:
    return list(changes.log_of(table, deal.deal_id, limit=25, now=now).items)


def edited(deal: Deal, by: str | None = None, **changes: Any) -> Deal:
    return replace(deal, version=deal.version + 1, **changes).signed(by)


def test_each_change_is_logged_once_and_in_order_however_often_its_record_comes(
    table: Table, announce: Handler, deal: Deal
) -> None:
    cheaper = edited(deal, "bo", price="9.50", coupon_code="SAVE")
    gone = edited(cheaper, "cy", withdrawn_at=NOW)
    # Two in one second: the records' numbers tell which was first.
    records = [of_deal(before, after, NOW) for before, after in ((None, deal), (deal, cheaper), (cheaper, gone))]

    for delivered in (records, records[1:]):
        assert announce(batch(delivered)) == {"batchItemFailures": []}

    at = [Changed("withdrawnAt", None, times.to_iso(NOW))]
    prices = [Changed("price", "31.90", "9.50"), Changed("couponCode", None, "SAVE")]
    assert [(line.by, [*line.changes]) for line in lines(table, deal)] == [("cy", at), ("bo", prices), ("ana", [])]
    assert shops.category_of(table, "shop.example") == "shoes"


def unsigned_of(deal: Deal) -> dict[str, Record]:
    """Records of changes whose maker nobody knows, by what wrote them."""
    return {
        "a release without logs": of_deal(deal, replace(deal, version=2, title="Other")),
        "a hand in the table": of_deal(deal, replace(deal, title="Other")),
        "a record that was redriven": of_deal(deal, replace(deal, version=4, title="Other").signed("bo")),
    }


@pytest.mark.parametrize("what", unsigned_of(a_deal()))
def test_no_editor_is_named_for_what_another_may_have_done(
    table: Table, announce: Handler, deal: Deal, what: str
) -> None:
    announce(batch([unsigned_of(deal)[what]]))

    assert [(line.by, line.changes) for line in lines(table, deal)] == [
        (None, (Changed("title", "Trail runner", "Other"),))
    ]


def test_what_no_person_changes_and_what_an_import_posts_makes_no_line(
    table: Table, announce: Handler, deal: Deal
) -> None:
    judged = of_deal(deal, replace(deal, verdict=Verdict(9000, NOW.date(), (9000, 9900))))
    swept = of_deal(deal, edited(deal))
    imported = of_deal(None, replace(deal, edited_by=None))

    announce(batch([judged, swept, imported]))

    assert [item for item in table.scan()[0] if item["Type"] in (keys.LOG_LINE, keys.SHOP)] == []


def test_a_long_text_is_cut_and_a_log_is_read_by_pages_for_a_year(table: Table, announce: Handler, deal: Deal) -> None:
    long = edited(deal, "bo", description="x" * 5_000)
    announce(batch([of_deal(None, deal, NOW), of_deal(deal, long, NOW + timedelta(days=2))]))

    first = changes.log_of(table, deal.deal_id, limit=1, now=NOW)
    second = changes.log_of(table, deal.deal_id, limit=1, now=NOW, cursor=first.next)

    assert first.items[0].changes == (Changed("description", None, f"{'x' * changes.LONGEST}…"),)
    assert (second.items[0].by, second.next) == ("ana", None)
    assert [line.by for line in lines(table, deal, NOW + settings.LOG_LIFETIME)] == ["bo"]
    with pytest.raises(InvalidCursor):
        changes.log_of(table, "another", limit=1, now=NOW, cursor=first.next)


def test_what_the_desk_and_the_table_say_of_an_editor_is_the_version_that_was_written(table: Table) -> None:
    posted_by_form = deals.create(table, a_deal(NOW).signed("ana"), NOW)

    by_bo = deals.edit(table, posted_by_form.deal_id, {"title": "Road runner"}, NOW, by="bo")
    by_nobody = deals.edit(table, posted_by_form.deal_id, {"price": "9.50"}, NOW)

    assert [posted_by_form.editor, by_bo.editor, by_nobody.editor] == ["ana", "bo", None]
    assert deals.get(table, posted_by_form.deal_id).edited_by is None
