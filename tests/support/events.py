"""Sample events, and the context of a call, as Lambda hands them to a function."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.pages import a_context

EVENTS = Path(__file__).resolve().parents[2] / "events"


def event(name: str) -> dict[str, Any]:
    """A sample event."""
    loaded: dict[str, Any] = json.loads((EVENTS / f"{name}.json").read_text(encoding="utf-8"))
    return loaded


def page(path: str, headers: Mapping[str, str] | None = None, **query: str) -> dict[str, Any]:
    """The event of a request for a public page."""
    return event("catalog-brand-page") | {
        "path": path,
        "resource": path,
        "pathParameters": None,
        "headers": {"Accept": "application/json", **(headers or {})},
        "queryStringParameters": query or None,
        "multiValueQueryStringParameters": {name: [value] for name, value in query.items()} or None,
    }


@pytest.fixture
def context() -> Any:
    """Lambda's context of a call."""
    return a_context()
