"""Errors as answers with a problem document (RFC 9457)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from http import HTTPStatus

from aws_lambda_powertools.event_handler import Response

from shared.errors import DealsError
from shared.http.answers import PRIVATE
from shared.http.statuses import MEDIA_TYPE, detail_of, document, headers_of, status_of


def problem(
    status: HTTPStatus, detail: str, errors: Sequence[dict[str, str]] = (), headers: dict[str, str] | None = None
) -> Response[str]:
    """An answer with a problem document, and with ``headers`` that say what to do about it."""
    text = json.dumps(document(status, detail, errors), ensure_ascii=False)
    return Response(status, MEDIA_TYPE, text, {**PRIVATE, **(headers or {})})


def of(error: DealsError) -> Response[str]:
    """The problem document of a domain error."""
    detail = detail_of(error)
    errors = [{"field": field, "detail": reason or detail} for field, reason in error.faults]
    return problem(status_of(error), detail, errors, headers_of(error))
