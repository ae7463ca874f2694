"""Fixtures of the data layer's tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from shared.dynamodb.table import Table
from shared.models.catalog import Deal
from tests.support.engines import DYNOXIDE_ENGINE, Engine
from tests.support.factories import a_deal, post
from tests.support.wire import compared


@pytest.fixture
def deal(table: Table) -> Deal:
    """A new deal of Apple's among the shoes."""
    (deal,) = post(table, [a_deal()])
    return deal


@pytest.fixture
def counted_as_told(request: pytest.FixtureRequest, engine: Engine) -> Iterator[None]:
    """Each request takes the capacity that is counted for it, where the engine tells it truly."""
    if engine is not DYNOXIDE_ENGINE:
        yield
        return
    table: Table = request.getfixturevalue("bare_table" if "bare_table" in request.fixturenames else "table")
    with compared(table) as wrong:
        yield
    assert wrong == []
