"""The modeller's function, in this process, at a stage that shows its work."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from features.modeller import modeller
from features.workings import page_cost
from shared.dynamodb.table import Table
from tests.support.browsing import ORIGIN, Browser
from tests.support.engines import DYNOXIDE_ENGINE
from tests.support.rights import within_rights
from tests.support.surroundings import hand_over, surrounded


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> Iterator[Table]:
    """A table of the engine that reports units as DynamoDB does."""
    stage = {"SITE_ORIGIN": ORIGIN, "SITE_BASE": "", "SHOWS_WORK": "true"}
    with DYNOXIDE_ENGINE.table(lambda _: None) as own, surrounded(monkeypatch, own, **stage):
        hand_over(monkeypatch, own, modeller)
        monkeypatch.setattr(page_cost, "table", lambda: own)
        page_cost.trace.cache_clear()
        yield own
        page_cost.trace().detach(own)
        page_cost.trace.cache_clear()


@pytest.fixture
def visitor(table: Table) -> Browser:
    """Someone who is nobody to the site, at a function that is held to its rights."""
    return Browser({"/model": within_rights(modeller)})
