"""A site to fire at, who is there, and the proof that an attack wrote nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from local import cloud
from tests.support.site import BACKGROUND, Site, Visitor, a_deal, fresh
from tests.support.visiting import editor, member, site, visitor
from tests.support.waiting import PATIENCE

__all__ = ["editor", "member", "site", "visitor"]

COUNTERS = {"Attempts"}
"""Types of items that a refused request may write: how often someone tried to sign in."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all tests here. They share one site, so they run in one process (see ``tests/conftest.py``)."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.e2e)


@pytest.fixture(scope="session")
def brand(editor: Visitor) -> str:
    slug = fresh("target")
    assert editor.post("/brands", json={"name": slug.title()}).status_code == 201
    return slug


@pytest.fixture(scope="session")
def deal_id(editor: Visitor, brand: str) -> str:
    answer = editor.post("/deals", json=a_deal(brand))
    assert answer.status_code == 201
    return str(answer.json()["dealId"])


@pytest.fixture
def nothing_written(site: Site, member: Visitor, editor: Visitor, deal_id: str) -> Iterator[None]:
    """All that the table holds is the same after the test as before it, except counters and what follows by itself."""
    assert cloud.drain(site.home, PATIENCE) == {}  # what follows from earlier tests is written before it
    before = dump(site)
    yield
    assert dump(site) == before


def dump(site: Site) -> dict[str, dict[str, Any]]:
    """Every item of the table that a request writes, by its key."""
    found: dict[str, dict[str, Any]] = {}
    start = None
    while True:
        items, start = site.table.scan(start=start)
        found |= {f"{item['PK']} {item['SK']}": item for item in items if item["Type"] not in BACKGROUND | COUNTERS}
        if start is None:
            return found


def values(node: Any) -> Iterator[str]:
    """Every text in a dump, and every part that a key is made of."""
    if isinstance(node, str):
        yield node
        if "#" in node:
            yield from node.split("#")
    elif isinstance(node, dict):
        for name, value in node.items():
            yield str(name)
            yield from values(value)
    elif isinstance(node, list | tuple | set):
        for value in node:
            yield from values(value)
