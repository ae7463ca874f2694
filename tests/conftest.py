"""What all tests share: engines, tables on them, and the marks that select tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from shared.data.table import Table
from tests.engines import ENGINES, Engine
from tests.making import open_brands

# How long an example takes depends on the engine and the machine, and says nothing.
settings.register_profile("engines", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.load_profile("engines")


@pytest.fixture(scope="session", params=ENGINES, ids=[engine.name for engine in ENGINES])
def engine(request: pytest.FixtureRequest) -> Engine:
    """Each of the engines in turn."""
    chosen: Engine = request.param
    return chosen


@pytest.fixture
def bare_table(engine: Engine) -> Iterator[Table]:
    """An empty table of a test's own."""
    with engine.bare_table() as table:
        yield table


@pytest.fixture
def table(engine: Engine) -> Iterator[Table]:
    """A table of a test's own with the eight categories, and with the brands Apple and ASICS."""
    with engine.table() as table:
        open_brands(table)
        yield table
