"""The stream's functions in this process, with a table and a queue of a test's own."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions import announcer, messenger, refresher
from shared import runtime
from shared.data import queues
from shared.data.queues import Queue
from shared.data.table import Table
from tests.engines import FAKE_CREDENTIALS, MINISTACK
from tests.making import open_brands
from tests.records import Record

CONTEXT = LambdaContext()
CONTEXT._aws_request_id = "test"


@pytest.fixture
def table() -> Iterator[Table]:
    with MINISTACK.table() as table:
        open_brands(table)
        yield table


@pytest.fixture
def queue(table: Table, monkeypatch: pytest.MonkeyPatch) -> Iterator[Queue]:
    """The queue of the fan-out; the functions know it and the table by their environment."""
    endpoint = table.client.meta.endpoint_url
    sqs = queues.connect("none", endpoint_url=endpoint, **FAKE_CREDENTIALS).client
    url = sqs.create_queue(QueueName=f"work-{uuid.uuid4().hex}")["QueueUrl"]
    environment = {
        "TABLE_NAME": table.name,
        "QUEUE_URL": url,
        "POWERTOOLS_SERVICE_NAME": "test",
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_DEFAULT_REGION": FAKE_CREDENTIALS["region_name"],
        "AWS_ACCESS_KEY_ID": FAKE_CREDENTIALS["aws_access_key_id"],
        "AWS_SECRET_ACCESS_KEY": FAKE_CREDENTIALS["aws_secret_access_key"],
        "NO_PROXY": "127.0.0.1,localhost",
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    _start_anew()
    yield Queue(url, sqs)
    _start_anew()
    sqs.delete_queue(QueueUrl=url)


@pytest.fixture
def announce(queue: Queue) -> Callable[[Record], dict[str, Any]]:
    """Calls the announcer with an event."""
    return lambda event: dict(announcer.handler(event, CONTEXT))


@pytest.fixture
def refresh(queue: Queue) -> Callable[[Record], dict[str, Any]]:
    """Calls the refresher with an event."""
    return lambda event: refresher.handler(event, CONTEXT)


@pytest.fixture
def deliver(queue: Queue) -> Callable[[Record], dict[str, Any]]:
    """Calls the messenger with an event."""
    return lambda event: dict(messenger.handler(event, CONTEXT))


def _start_anew() -> None:
    """Forget what an execution environment keeps between calls."""
    for each in (runtime.table, runtime.queue, runtime.logger):
        each.cache_clear()
