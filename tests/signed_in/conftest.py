"""The page functions, called in this process as the gateway calls them, on a table of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from importlib import import_module
from typing import Any

import pytest

from infra.bundling import module_of
from infra.functions import FUNCTIONS as ROWS
from shared.data import invariants
from shared.data.catalog import deals, picks, topics
from shared.dynamodb.table import Table
from shared.html import cookies
from shared.models.catalog import FRONT_PAGE, Deal
from shared.models.members import Role
from shared.values import times
from tests.support.browsing import ORIGIN, Browser
from tests.support.cases import cases
from tests.support.checks import faults
from tests.support.engines import FAST_SERVER
from tests.support.factories import a_deal, token_of_new
from tests.support.preview import Preview, started
from tests.support.rights import within_rights
from tests.support.surroundings import hand_over, surrounded

MODULES = {row.pages: import_module(module_of(row.name)) for row in ROWS if row.pages and row.traced}
"""The functions of pages for someone who is signed in, by how their paths begin: what these do is traced."""

FUNCTIONS = {prefix: within_rights(module) for prefix, module in MODULES.items()}
"""The functions, held to their rights: the local cloud does not tell IAM of the keys that they name."""

STREAMED = {invariants.WORDS, invariants.WORD_COUNTS, invariants.OFFERS, invariants.VERDICTS, *cases("STREAMED")}
"""The rules of what the stream's functions write, which do not run here."""

PASSWORD = "correct horse battery"

PostDeal = Callable[..., Deal]


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Table]:
    """A seeded table of a test's own, which the functions find in their environment.

    What they leave has no fault that a check finds, unless the test ``damages`` it.
    """
    with FAST_SERVER.table(two_brands) as own, found_by_functions(monkeypatch, own) as table:
        yield table
        if request.node.get_closest_marker("damages") is None:
            assert [fault for fault in faults(table.everything(), times.now()) if fault.rule not in STREAMED] == []


def two_brands(table: Table) -> None:
    topics.create_brand(table, "apple", "Apple", times.now())
    topics.create_brand(table, "g-fore", "G/Fore", times.now())


@contextmanager
def found_by_functions(monkeypatch: pytest.MonkeyPatch, table: Table) -> Iterator[Table]:
    """A table that the functions find in their environment."""
    with surrounded(monkeypatch, table, SITE_ORIGIN=ORIGIN, SITE_BASE=""):
        hand_over(monkeypatch, table, *MODULES.values())
        yield table


def another() -> Browser:
    """A browser that was never here."""
    return Browser(FUNCTIONS)


@pytest.fixture
def anyone(table: Table) -> Browser:
    return another()


def entered(table: Table, username: str, role: Role = "member") -> Browser:
    """The browser of someone who is signed in."""
    return Browser(FUNCTIONS, {cookies.SESSION: token_of_new(table, username, role), cookies.HINT: "1"})


@pytest.fixture
def ana(table: Table) -> Browser:
    return entered(table, "ana")


@pytest.fixture
def editor(table: Table) -> Browser:
    return entered(table, "eddy", "editor")


@pytest.fixture
def post_deal(table: Table) -> PostDeal:
    """Posts a deal some minutes ago."""

    def posted(minutes: int = 5, **fields: Any) -> Deal:
        now = times.now()
        return deals.create(table, a_deal(now - timedelta(minutes=minutes), **fields), now)

    return posted


@pytest.fixture(name="site")
def _site() -> Iterator[Preview]:
    """The page functions behind a server, for a real browser; on the front page are four deals."""
    with started(most=12) as preview:
        picks.set_featured(preview.table, FRONT_PAGE, [deal.deal_id for deal in preview.deals[:4]], times.now())
        yield preview
