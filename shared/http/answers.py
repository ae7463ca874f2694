"""Answers to one caller alone, which are never cached: JSON, nothing, and problem documents (RFC 9457)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.event_handler import Response

from shared.errors import DealsError
from shared.http.statuses import MEDIA_TYPE, detail_of, document, headers_of, status_of

PRIVATE = {"Cache-Control": "no-store"}


def json_answer(
    document: Any,
    status: HTTPStatus = HTTPStatus.OK,
    headers: dict[str, str] | None = None,
    media_type: str = "application/json",
) -> Response[str]:
    """A JSON document for the caller."""
    return Response(status, media_type, json.dumps(document, ensure_ascii=False), {**PRIVATE, **(headers or {})})


def nothing() -> Response[str]:
    """204: done, and nothing to say."""
    return Response(HTTPStatus.NO_CONTENT, None, "", dict(PRIVATE))


def problem(
    status: HTTPStatus, detail: str, errors: Sequence[dict[str, str]] = (), headers: dict[str, str] | None = None
) -> Response[str]:
    """An answer with a problem document, and with ``headers`` that say what to do about it."""
    return json_answer(document(status, detail, errors), status, headers, MEDIA_TYPE)


def problem_of(error: DealsError) -> Response[str]:
    """The problem document of a domain error."""
    detail = detail_of(error)
    errors = [{"field": field, "detail": reason or detail} for field, reason in error.faults]
    return problem(status_of(error), detail, errors, headers_of(error))
