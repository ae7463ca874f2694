"""The site that all tests here share, and who visits it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.site import brand, editor, member, site, visitor

__all__ = ["brand", "editor", "member", "site", "visitor"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all tests here. They share one site, so they run in one process (see ``tests/conftest.py``)."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.e2e)
