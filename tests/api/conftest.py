"""The API's functions in this process, behind what API Gateway does; and the proof that nothing is written.

The fixtures have the names of ``tests/support/site.py``: a test runs on a deployed site as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.support.gateway import in_process
from tests.support.site import BACKGROUND, Api, Visitor, a_deal, brand, dump

__all__ = ["brand"]

COUNTERS = {"Attempts"}
"""Types of items that a refused request may write: how often someone tried to sign in."""


def filled(template: str, name: str = "0" * 27) -> str:
    """The path of a route, with the same name for each of its parameters."""
    return re.sub(r"\{\w+\}", lambda _: name, template)


@pytest.fixture(scope="module")
def site() -> Iterator[Api]:
    with in_process() as api:
        yield api


@pytest.fixture(scope="module")
def visitor(site: Api) -> Visitor:
    return site.visitor()


@pytest.fixture(scope="module")
def member(site: Api) -> Visitor:
    return site.member()


@pytest.fixture(scope="module")
def editor(site: Api) -> Visitor:
    return site.editor()


@pytest.fixture(scope="module")
def deal_id(editor: Visitor) -> str:
    """A deal of a brand that other tests leave alone."""
    assert editor.post("/brands", json={"name": "Target"}).status_code == 201
    answer = editor.post("/deals", json=a_deal("target"))
    assert answer.status_code == 201
    return str(answer.json()["dealId"])


@pytest.fixture
def nothing_written(site: Api, member: Visitor, editor: Visitor, deal_id: str) -> Iterator[None]:
    """All that the table holds is the same after the test as before it, except counters."""
    before = dump(site.table, BACKGROUND | COUNTERS)
    yield
    assert dump(site.table, BACKGROUND | COUNTERS) == before
