"""A table, and the functions that keep and read its caches, in this process: as the stack connects them to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from functions.background import refresher
from shared.dynamodb.table import Table
from shared.http import cached_pages
from shared.runtime import environment
from tests.support.gateway import STAGE, Gateway
from tests.support.surroundings import Record, a_context, batch, surrounded

Get = Callable[..., Any]
Refresh = Callable[..., dict[str, Any]]
"""The fixtures ``get`` and ``refresh``, below."""

CONTEXT = a_context()


@pytest.fixture
def functions_of(table: Table, monkeypatch: pytest.MonkeyPatch) -> Iterator[Table]:
    """The table as the functions see it: connected by the environment that the stack gives them."""
    with surrounded(monkeypatch, table):
        yield environment.table()


@pytest.fixture
def refresh(functions_of: Table) -> Refresh:
    """Hands records of the stream to the refresher; without any, the clock's event."""

    def hand_over(*some: Record) -> dict[str, Any]:
        return refresher.handler(batch(some) if some else {"source": "aws.events"}, CONTEXT)

    return hand_over


@pytest.fixture
def get(functions_of: Table) -> Get:
    """Reads a page of the catalog: ``get("/front-page", limit="5")``."""

    def read(path: str, **query: str) -> Any:
        cached_pages.memory.cache_clear()  # each reader meets another execution environment
        answer = httpx.Client(transport=Gateway(), base_url=f"http://api{STAGE}").get(path, params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    return read
