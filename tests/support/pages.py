"""What page functions are asked with: events as API Gateway sends them."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any


def a_context() -> Any:
    """What of Lambda's context the functions look at."""
    return SimpleNamespace(aws_request_id="00000000-0000-0000-0000-000000000000", function_name="site")


def event_of(
    path: str,
    method: str = "GET",
    *,
    query: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    body: str | None = None,
) -> Any:
    """The event of a request."""
    return {
        "httpMethod": method,
        "path": path,
        "resource": "/{proxy+}" if path.strip("/") else "/",
        "headers": dict(headers or {}),
        "multiValueHeaders": {name: [value] for name, value in (headers or {}).items()},
        "queryStringParameters": dict(query) if query else None,
        "multiValueQueryStringParameters": {name: [value] for name, value in (query or {}).items()} or None,
        "pathParameters": {"proxy": path.strip("/")} if path.strip("/") else None,
        "body": body,
        "isBase64Encoded": False,
        "requestContext": {"requestId": "request-1", "identity": {"sourceIp": "127.0.0.1"}},
    }
