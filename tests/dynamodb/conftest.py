"""The mechanism of DynamoDB, tested on every engine in every tier."""

from __future__ import annotations

import pytest

from tests.support.engines import ENGINES, Engine, params


@pytest.fixture(scope="session", params=params(ENGINES))
def engine(request: pytest.FixtureRequest) -> Engine:
    """Each of the engines in turn."""
    chosen: Engine = request.param
    return chosen
