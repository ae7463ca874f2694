"""The site that all tests here share, and who visits it."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from cli.importer import Importer
from local.settings import ROOT
from shared.values import times
from tests.support.site import Site, Visitor, fresh
from tests.support.visiting import editor, member, site, visitor

__all__ = ["editor", "member", "site", "visitor"]

SAMPLE_DEALS = ROOT / "tests" / "sample" / "deals.jsonl"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all tests here. They share one site, so they run in one process (see ``tests/conftest.py``)."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.e2e)


@pytest.fixture(scope="session")
def imported(site: Site) -> list[dict[str, Any]]:
    """The lines of the sample's deals, which are at the site."""
    lines = SAMPLE_DEALS.read_bytes().splitlines()
    importer = Importer(site.table, times.now())
    importer.run(io.BytesIO(b"\n".join(lines)))
    assert not importer.report.bad
    return [json.loads(line) for line in lines]


@pytest.fixture
def brand(editor: Visitor) -> str:
    """A new brand of a test's own."""
    slug = fresh("brand")
    assert editor.post("/brands", json={"name": slug.title()}).status_code == 201
    return slug
