"""A table with deals, and the public page functions called in this process as the gateway calls them.

They ask several things at once, which moto does not bear: this table is of an engine of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import pytest

from functions.pages import clicks, site
from shared.dynamodb.table import Table
from shared.values import times
from tests.support.browsing import Ask
from tests.support.engines import DYNOXIDE_ENGINE
from tests.support.events import a_context, event_of
from tests.support.factories import open_brands
from tests.support.rights import within_rights
from tests.support.surroundings import surrounded


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
def follow(table: Table) -> Ask:
    """Follow ``/go``."""
    handler = within_rights(clicks)
    return lambda path, method="GET", **how: handler(event_of(path, method, **how), a_context())
