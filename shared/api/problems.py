"""Errors as ``application/problem+json`` (RFC 9457)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from http import HTTPStatus

from aws_lambda_powertools.event_handler import Response

from shared.errors import DealsError, NotSignedIn
from shared.http.answers import PRIVATE
from shared.http.statuses import detail_of, headers_of, phrase, status_of

MEDIA_TYPE = "application/problem+json"


def problem(
    status: HTTPStatus, detail: str, errors: Sequence[dict[str, str]] = (), headers: dict[str, str] | None = None
) -> Response[str]:
    """A problem document: ``type``, ``title``, ``status``, ``detail``, and ``errors`` with one entry per field."""
    document = {
        "type": "about:blank",
        "title": phrase(status),
        "status": int(status),
        "detail": detail,
        **({"errors": list(errors)} if errors else {}),
    }
    return Response(status, MEDIA_TYPE, json.dumps(document, ensure_ascii=False), {**PRIVATE, **(headers or {})})


def of(error: DealsError) -> Response[str]:
    """The problem document of a domain error."""
    detail, headers = detail_of(error), headers_of(error)
    if isinstance(error, NotSignedIn):
        headers["WWW-Authenticate"] = "Bearer"
    errors = [{"field": field, "detail": reason or detail} for field, reason in error.faults]
    return problem(status_of(error), detail, errors, headers)
