"""Sample events, and the context of a call, as Lambda hands them to a function."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from aws_lambda_powertools.utilities.typing import LambdaContext

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
def context() -> LambdaContext:
    """Lambda's context of a call."""
    made = LambdaContext()
    made._function_name = "function"
    made._memory_limit_in_mb = 512
    made._invoked_function_arn = "arn:aws:lambda:eu-central-1:123456789012:function:function"
    made._aws_request_id = "8f2d5c1e-4b7a-4c39-9f10-2a6b8c4d0e1f"
    made._log_stream_name = "2026/06/12/[$LATEST]0123456789abcdef"
    return made
