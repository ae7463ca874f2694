"""The modeller's function, in this process, at a stage that shows its work."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from features.modeller import modeller
from features.workings.tests.conftest import stage
from shared.dynamodb.table import Table
from tests.support.browsing import Browser
from tests.support.engines import DYNOXIDE_ENGINE
from tests.support.rights import within_rights


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> Iterator[Table]:
    """A table of the engine that reports units as DynamoDB does."""
    with stage(DYNOXIDE_ENGINE, monkeypatch, modeller, lambda _: None) as own:
        yield own


@pytest.fixture
def visitor(table: Table) -> Browser:
    """Someone who is nobody to the site, at a function that is held to its rights."""
    return Browser({"/model": within_rights(modeller)})
