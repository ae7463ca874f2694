"""What follows a form: the work of the functions behind the stream."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from features.workings import items, page_cost
from features.workings.entry import wrap
from features.workings.tests.conftest import EDITS, by_form
from functions.background import messenger, publisher, refresher
from shared.data import keys
from shared.data.members import follows
from shared.dynamodb.table import Table
from shared.html import cookies
from shared.runtime import environment
from shared.services import Queue
from shared.values import times
from tests.signed_in.conftest import FUNCTIONS
from tests.support.browsing import DEAL, Browser
from tests.support.engines import FAST_SERVER
from tests.support.factories import APPLE, join, open_brands, token_of_new
from tests.support.surroundings import (
    Record,
    a_context,
    queue_in_process,
    record,
    surrounded,
)
from tests.support.wire import Answer, answered, error

pytestmark = by_form

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


Followed = Callable[[], str]


@pytest.fixture
def shown(queue: Queue, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("SHOWS_WORK", "true")
    page_cost.trace.cache_clear()
    yield
    page_cost.trace.cache_clear()


def posted_by_form(table: Table) -> tuple[Record, Followed]:
    """Have a form post a deal: its record in the stream, and what the page says that followed."""
    editor = Browser(FUNCTIONS, {cookies.SESSION: token_of_new(table, "eddy", "editor")})
    place = editor.post(EDITS.rstrip("/"), DEAL | {"key": "k"}).location
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
    written, followed = posted_by_form(table)
    before = followed()
    work_of_messenger = None

    for _ in range(2):  # Lambda may hand over each record twice
        wrap(publisher)({"Records": [written]}, CONTEXT)
        wrap(refresher)({"Records": [written]}, CONTEXT)
        work_of_messenger = work_of_messenger or work(queue)
        wrap(messenger)(work_of_messenger, CONTEXT)

    after = followed()
    assert "No function has read it yet." in before
    assert re.search(
        r"\+\d\.\d s publisher announced \d cohorts of readers, by the queue; filed \d+ items PRODUCT", after
    )
    assert re.search(r"refresher copied \d+ copies \S+CACHE#", after)
    assert re.search(r"messenger told 1 reader MESSAGES#ana / MESSAGE#\w+ in a batch of \d ", after)
    assert [after.count(f" s {name} ") for name in ("publisher", "refresher", "messenger")] == [1, 1, 1]


def test_a_record_that_failed_says_so_until_it_came_again(shown: None, table: Table, queue: Queue) -> None:
    written, followed = posted_by_form(table)
    publish = wrap(publisher)

    def refused(request: dict[str, Any]) -> Answer | None:
        return error("ValidationException") if keys.PRODUCT_OFFER in str(request) else None

    with answered(environment.table(), "PutItem", refused):
        publish({"Records": [written]}, CONTEXT)
    failed = followed()
    publish({"Records": [written]}, CONTEXT)

    assert "failed, and will be retried" in failed
    assert "failed" not in followed()


def test_what_no_form_led_to_leaves_no_step(shown: None, table: Table, queue: Queue) -> None:
    written, _ = posted_by_form(table)
    del written["dynamodb"]["NewImage"]["CorrelationId"]

    wrap(publisher)({"Records": [written]}, CONTEXT)
    wrap(messenger)({"Records": [{"messageId": "1", "body": json.dumps({}), "eventSource": "aws:sqs"}]}, CONTEXT)

    assert not [item for item in table.scan()[0] if item["Type"] == "TraceStep"]
    assert items.trace_steps("").startswith(items.trace("")["PK"])  # one pattern of keys is their right
