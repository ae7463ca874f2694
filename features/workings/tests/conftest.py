"""The page functions, as tests of pages for someone who is signed in call them, on a stage that shows its work."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType

import pytest

from features.workings import collections, page_cost, panel
from functions.pages import site
from shared import features, hooks
from shared.dynamodb.table import Table
from shared.http import cached_pages
from tests.signed_in.conftest import ana, anyone, editor, post_deal, table
from tests.support.browsing import ORIGIN
from tests.support.engines import Engine
from tests.support.surroundings import hand_over, surrounded

EDITS = "".join(each.EDITS for each in features.roles(hooks.Navigation))
by_form = pytest.mark.skipif(not EDITS, reason="No page has a form that posts deals.")

__all__ = ["ana", "anyone", "editor", "post_deal", "table"]


@pytest.fixture
def shown(table: Table, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A stage that shows its work, and makes no faults."""
    monkeypatch.setenv("SHOWS_WORK", "true")
    for module in (page_cost, panel, cached_pages):
        monkeypatch.setattr(module, "table", lambda: table)
    hand_over(monkeypatch, table, collections, site)
    kept = (page_cost.trace, page_cost._faults, collections._counts)
    for each in kept:
        each.cache_clear()
    yield
    page_cost.trace().detach(table)
    if page_cost._faults.cache_info().currsize:
        page_cost._faults().detach(table)
    for each in kept:
        each.cache_clear()


@contextmanager
def stage(
    engine: Engine,
    monkeypatch: pytest.MonkeyPatch,
    function: ModuleType,
    fill: Callable[[Table], None],
) -> Iterator[Table]:
    """A stage that shows its work, with its table, for a function's tests."""
    with engine.table(fill) as own, surrounded(monkeypatch, own, SITE_ORIGIN=ORIGIN, SITE_BASE="", SHOWS_WORK="true"):
        hand_over(monkeypatch, own, function)
        monkeypatch.setattr(page_cost, "table", lambda: own)
        page_cost.trace.cache_clear()
        yield own
        page_cost.trace().detach(own)
        page_cost.trace.cache_clear()
