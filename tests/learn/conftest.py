"""The textbook's function, in this process, on a table with a few deals, at a stage that shows its work."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from functions.pages import learn
from shared.data.catalog import brands, deals
from shared.dynamodb.table import Table
from shared.html import page_cost
from shared.values import times
from tests.support.browsing import ORIGIN, Browser
from tests.support.engines import FAST_SERVER
from tests.support.factories import a_deal
from tests.support.rights import within_rights
from tests.support.surroundings import hand_over, surrounded


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> Iterator[Table]:
    with (
        FAST_SERVER.table() as own,
        surrounded(monkeypatch, own, SITE_ORIGIN=ORIGIN, SITE_BASE="", SHOWS_WORK="true"),
    ):
        hand_over(monkeypatch, own, learn)
        monkeypatch.setattr(page_cost, "table", lambda: own)
        page_cost.trace.cache_clear()
        brands.create(own, "allbirds", "Allbirds", times.now())
        deals.create(own, a_deal(times.now(), brand="allbirds", brand_name="Allbirds"), times.now())
        yield own
        trace, events = page_cost.trace(), own.client.meta.events
        events.unregister("before-parameter-build.dynamodb", trace._before)
        events.unregister("after-call.dynamodb", trace._after)
        page_cost.trace.cache_clear()


@pytest.fixture
def reader(table: Table) -> Browser:
    """Somebody who is nobody to the site, at a function that is held to its rights."""
    return Browser({"/learn": within_rights(learn)})
