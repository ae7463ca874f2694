"""The log of deals, and what follows a form."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from functions.background import messenger, publisher, refresher
from functions.cost_headers import with_cost
from functions.pages import desk
from shared import settings
from shared.data import item_types, traces
from shared.data.catalog import changes, deals, offers
from shared.data.members import follows
from shared.dynamodb.table import Table
from shared.errors import InvalidCursor
from shared.html import cookies, page_cost
from shared.models.catalog import Changed, Deal, LogLine, StockLevel
from shared.runtime import environment
from shared.services import Queue
from shared.values import times
from tests.streams.conftest import CONTEXT
from tests.support.browsing import DEAL, Browser
from tests.support.events import Record, batch, of_deal, record
from tests.support.factories import APPLE, a_deal, join, token_of_new
from tests.support.rights import within_rights
from tests.support.wire import Answer, answered, error

Followed = Callable[[], str]


@pytest.fixture
def shown(queue: Queue, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("SHOWS_WORK", "true")
    page_cost.trace.cache_clear()
    yield
    page_cost.trace.cache_clear()


def posted(table: Table) -> tuple[Record, Followed]:
    """Have a form post a deal: its record in the stream, and what the page says that followed."""
    editor = Browser({"/desk": within_rights(desk)}, {cookies.SESSION: token_of_new(table, "eddy", "editor")})
    place = editor.post("/desk/deals", DEAL | {"key": "k"}).location
    (item,) = [item for item in table.scan()[0] if item["Type"] == "Deal"]

    def followed() -> str:
        return editor.get(place).words.rpartition("What followed")[2].partition("Cost of this page")[0]

    return record(None, item), followed


def work(queue: Queue) -> dict[str, Any]:
    """The event of the messages that wait in the queue."""
    return {
        "Records": [
            {"messageId": each.message_id, "body": each.body, "eventSource": "aws:sqs", "receiptHandle": "none"}
            for each in queue.receive()
        ]
    }


def test_each_function_behind_the_stream_files_what_it_did_once(shown: None, table: Table, queue: Queue) -> None:
    join(table, "ana")
    follows.watch(table, APPLE, "ana", times.now())
    written, followed = posted(table)
    before = followed()
    work_of_messenger = None

    for _ in range(2):  # Lambda may hand over each record twice
        with_cost(publisher)({"Records": [written]}, CONTEXT)
        with_cost(refresher)({"Records": [written]}, CONTEXT)
        work_of_messenger = work_of_messenger or work(queue)
        with_cost(messenger)(work_of_messenger, CONTEXT)

    after = followed()
    assert "No function has read it yet." in before
    assert re.search(
        r"\+\d\.\d s publisher announced \d cohorts of readers, by the queue; filed \d+ items PRODUCT", after
    )
    assert re.search(r"refresher copied \d+ copies \S+CACHE#", after)
    assert re.search(r"messenger told 1 reader MESSAGES#ana / MESSAGE#\w+ in a batch of \d ", after)
    assert [after.count(f" s {name} ") for name in ("publisher", "refresher", "messenger")] == [1, 1, 1]


def test_a_record_that_failed_says_so_until_it_came_again(shown: None, table: Table, queue: Queue) -> None:
    written, followed = posted(table)
    publish = with_cost(publisher)

    def refused(request: dict[str, Any]) -> Answer | None:
        return error("ValidationException") if item_types.PRODUCT_OFFER in str(request) else None

    with answered(environment.table(), "PutItem", refused):
        publish({"Records": [written]}, CONTEXT)
    failed = followed()
    publish({"Records": [written]}, CONTEXT)

    assert "failed, and will be retried" in failed
    assert "failed" not in followed()


def test_what_no_form_led_to_leaves_no_step(shown: None, table: Table, queue: Queue) -> None:
    written, _ = posted(table)
    del written["dynamodb"]["NewImage"]["CorrelationId"]

    with_cost(publisher)({"Records": [written]}, CONTEXT)
    with_cost(messenger)({"Records": [{"messageId": "1", "body": json.dumps({}), "eventSource": "aws:sqs"}]}, CONTEXT)

    assert not [item for item in table.scan()[0] if item["Type"] == "TraceStep"]
    assert traces.trace_steps("").startswith(traces.trace("")["PK"])  # one pattern of keys is their right


Announce = Callable[[Any], dict[str, Any]]
NOW = times.now()


@pytest.fixture
def deal() -> Deal:
    return a_deal(NOW, number=7).signed("ana")


def lines(table: Table, deal: Deal, now: datetime = NOW) -> list[LogLine]:
    return list(changes.log_of(table, deal.deal_id, limit=25, now=now).items)


def edited(deal: Deal, by: str | None = None, **changes: Any) -> Deal:
    return replace(deal, version=deal.version + 1, **changes).signed(by)


def test_each_change_is_logged_once_and_in_order_however_often_its_record_comes(
    table: Table, announce: Announce, deal: Deal
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
    assert offers.category_of_shop(table, "shop.example") == "shoes"


def unsigned_of(deal: Deal) -> dict[str, Record]:
    """Records of changes whose maker nobody knows, by what wrote them."""
    return {
        "a release without logs": of_deal(deal, replace(deal, version=2, title="Other")),
        "a hand in the table": of_deal(deal, replace(deal, title="Other")),
        "a record that was redriven": of_deal(deal, replace(deal, version=4, title="Other").signed("bo")),
    }


@pytest.mark.parametrize("what", unsigned_of(a_deal()))
def test_nobody_is_named_for_what_another_may_have_done(
    table: Table, announce: Announce, deal: Deal, what: str
) -> None:
    announce(batch([unsigned_of(deal)[what]]))

    assert [(line.by, line.changes) for line in lines(table, deal)] == [
        (None, (Changed("title", "Trail runner", "Other"),))
    ]


def test_what_no_person_changes_and_what_an_import_posts_makes_no_line(
    table: Table, announce: Announce, deal: Deal
) -> None:
    level = of_deal(deal, replace(deal, stock=StockLevel.LOW))
    swept = of_deal(deal, edited(deal))
    imported = of_deal(None, replace(deal, edited_by=None))

    announce(batch([level, swept, imported]))

    assert [item for item in table.scan()[0] if item["Type"] in (item_types.LOG_LINE, item_types.SHOP)] == []


def test_a_long_text_is_cut_and_a_log_is_read_by_pages_for_a_year(table: Table, announce: Announce, deal: Deal) -> None:
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
    posted = deals.create(table, a_deal(NOW).signed("ana"), NOW)

    by_bo = deals.edit(table, posted.deal_id, {"title": "Road runner"}, NOW, by="bo")
    by_nobody = deals.edit(table, posted.deal_id, {"price": "9.50"}, NOW)

    assert [posted.editor, by_bo.editor, by_nobody.editor] == ["ana", "bo", None]
    assert deals.get(table, posted.deal_id).edited_by is None
