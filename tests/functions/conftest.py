"""The functions, called in this process with events as AWS sends them, on a table and a queue of a test's own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from shared.data.catalog import topics
from shared.dynamodb.table import Table
from shared.runtime import environment
from shared.services import Queue
from shared.values import times
from tests.support.engines import FAST_SERVER, plant
from tests.support.surroundings import captured_log, context, queue_in_process, surrounded

__all__ = ["context"]


@pytest.fixture
def deployed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Table]:
    """An environment as the stack gives it to the functions, with a table that is not seeded yet, and a queue.

    The table's engine has a PartiQL that refuses what exists, as moto's does not.
    """
    with (
        FAST_SERVER.bare_table() as table,
        queue_in_process() as queue,
        surrounded(monkeypatch, table, QUEUE_URL=queue.url),
    ):
        yield table


@pytest.fixture
def lines(deployed: Table) -> Iterator[Callable[[], list[dict[str, Any]]]]:
    """Tells what the functions have logged since it was last asked."""

    def told() -> list[dict[str, Any]]:
        found = [json.loads(line) for line in log.getvalue().splitlines()]
        log.seek(0)
        log.truncate()
        return found

    with captured_log() as log:
        yield told


@pytest.fixture
def table(deployed: Table) -> Table:
    """The seeded table, with the brand that the events are about."""
    plant(deployed, _g_fore)
    return deployed


def _g_fore(table: Table) -> None:
    topics.create_brand(table, "g-fore", "G/Fore", times.now())


@pytest.fixture
def queue(deployed: Table) -> Queue:
    """The queue of the fan-out."""
    return environment.queue()
