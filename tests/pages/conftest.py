"""A table with deals, and the public page functions called in this process as the gateway calls them.

They ask several things at once, which moto does not bear: this table is of an engine of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest

from functions.pages import site
from shared.dynamodb.table import Table
from shared.models.catalog import Deal
from shared.values import times
from tests.support.browsing import Ask, parsed
from tests.support.engines import DYNOXIDE_ENGINE
from tests.support.factories import a_deal, indexed, open_brands, post
from tests.support.rights import within_rights
from tests.support.surroundings import a_context, event_of, surrounded


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> Iterator[Table]:
    """A table of a test's own, which the functions find in their environment."""
    with (
        DYNOXIDE_ENGINE.table() as table,
        surrounded(monkeypatch, table, SITE_ORIGIN="https://deals.example", SITE_BASE=""),
    ):
        open_brands(table)
        yield table


@pytest.fixture
def now() -> datetime:
    """The functions' present: they look at the clock themselves."""
    return times.now()


@pytest.fixture
def ask(table: Table) -> Ask:
    """Ask the public site for a path."""
    handler = within_rights(site)
    return lambda path, method="GET", **how: handler(event_of(path, method, **how), a_context())


@pytest.fixture
def posted(table: Table, now: datetime) -> list[Deal]:
    """Four deals, the newest first: two colours of one shoe, a lamp and an older one of the shoe."""
    shoe = "https://www.shop.example/shoes/trail"
    made = [
        a_deal(now - timedelta(minutes=1), title="Trail runner, green", link=f"{shoe}?variant=1", price="60.00"),
        a_deal(now - timedelta(minutes=2), title="Trail runner, blue", link=f"{shoe}?variant=2", price="60.00"),
        a_deal(now - timedelta(days=1), title="Café lamp", brand="asics", brand_name="ASICS", category="home"),
        a_deal(now - timedelta(days=40), title="Trail runner, green", link=f"{shoe}?variant=1", price="80.00"),
    ]
    return indexed(table, post(table, made, now))


def walked(ask: Ask, path: str, **query: str) -> Iterator[Any]:
    """The pages of a list, as far as each leads to a next one."""
    following: str | None = ""
    while following is not None:
        document = parsed(ask(path, query=query | ({"cursor": following} if following else {})))
        yield document
        onward = next((each for each in document.iter("a") if "next" in each.get("rel", "").split()), None)
        last, following = following, None if onward is None else onward.get("href").partition("cursor=")[2]
        assert following != last, "a page leads to itself"
