"""The stream's functions in this process, with a table and a queue of a test's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.background import messenger, publisher
from shared.dynamodb.table import Table
from shared.services import Queue
from tests.support.engines import FAST_SERVER
from tests.support.events import Record
from tests.support.factories import open_brands
from tests.support.surroundings import queue_in_process, surrounded

CONTEXT = LambdaContext()
CONTEXT._aws_request_id = "test"


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
def announce(queue: Queue) -> Callable[[Record], dict[str, Any]]:
    """Calls the publisher with an event."""
    return lambda event: dict(publisher.handler(event, CONTEXT))


@pytest.fixture
def deliver(queue: Queue) -> Callable[[Record], dict[str, Any]]:
    """Calls the messenger with an event."""
    return lambda event: dict(messenger.handler(event, CONTEXT))
