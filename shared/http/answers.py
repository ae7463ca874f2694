"""Answers to one caller alone: never cached."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.event_handler import Response

PRIVATE = {"Cache-Control": "no-store"}


def json_answer(
    document: Any, status: HTTPStatus = HTTPStatus.OK, headers: dict[str, str] | None = None
) -> Response[str]:
    """A JSON document for the caller."""
    return Response(
        status, "application/json", json.dumps(document, ensure_ascii=False), {**PRIVATE, **(headers or {})}
    )


def nothing() -> Response[str]:
    """204: done, and nothing to say."""
    return Response(HTTPStatus.NO_CONTENT, None, "", dict(PRIVATE))
