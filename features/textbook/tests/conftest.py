"""The textbook's function, in this process, on a table with a deal, at a stage that shows its work."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from features.textbook import learn
from features.workings.tests.conftest import stage
from shared.data.catalog import deals, topics
from shared.dynamodb.table import Table
from shared.values import times
from tests.support.browsing import Browser
from tests.support.engines import DYNOXIDE_ENGINE
from tests.support.factories import a_deal
from tests.support.rights import within_rights


def runa(table: Table) -> None:
    """A brand with one deal."""
    topics.create_brand(table, "runa", "Runa", times.now())
    deals.create(table, a_deal(times.now(), brand="runa", brand_name="Runa"), times.now())


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> Iterator[Table]:
    """A table of the engine that refuses what DynamoDB refuses, in its words."""
    with stage(DYNOXIDE_ENGINE, monkeypatch, learn, runa) as own:
        yield own


@pytest.fixture
def reader(table: Table) -> Browser:
    """Someone who is nobody to the site, at a function that is held to its rights."""
    return Browser({"/learn": within_rights(learn)})
