"""The textbook's function, in this process, on a table with a deal, at a stage that shows its work."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType

import pytest

from features.textbook import learn
from features.workings import page_cost
from shared.data.catalog import deals, topics
from shared.dynamodb.table import Table
from shared.values import times
from tests.support.browsing import ORIGIN, Browser
from tests.support.engines import DYNOXIDE_ENGINE, Engine
from tests.support.factories import a_deal
from tests.support.rights import within_rights
from tests.support.surroundings import hand_over, surrounded


def _runa(table: Table) -> None:
    """A brand with one deal."""
    topics.create_brand(table, "runa", "Runa", times.now())
    deals.create(table, a_deal(times.now(), brand="runa", brand_name="Runa"), times.now())


@contextmanager
def stage(
    engine: Engine,
    monkeypatch: pytest.MonkeyPatch,
    function: ModuleType = learn,
    fill: Callable[[Table], None] = _runa,
) -> Iterator[Table]:
    """A stage that shows its work, with its table, for a function's tests."""
    with engine.table(fill) as own, surrounded(monkeypatch, own, SITE_ORIGIN=ORIGIN, SITE_BASE="", SHOWS_WORK="true"):
        hand_over(monkeypatch, own, function)
        monkeypatch.setattr(page_cost, "table", lambda: own)
        page_cost.trace.cache_clear()
        yield own
        page_cost.trace().detach(own)
        page_cost.trace.cache_clear()


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> Iterator[Table]:
    """A table of the engine that refuses what DynamoDB refuses, in its words."""
    with stage(DYNOXIDE_ENGINE, monkeypatch) as own:
        yield own


@pytest.fixture
def reader(table: Table) -> Browser:
    """Someone who is nobody to the site, at a function that is held to its rights."""
    return Browser({"/learn": within_rights(learn)})
