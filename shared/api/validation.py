"""Invalid bodies as problem documents. Only functions that take bodies import this, and pydantic with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response
from aws_lambda_powertools.event_handler.openapi.exceptions import RequestUnsupportedContentType, RequestValidationError

from shared.errors import NotJson
from shared.http.answers import problem, problem_of
from shared.http.reasons import reason

MAX_UNKNOWN = 20
"""Unknown fields that an answer names."""

MAX_NAME = 100
"""Characters of a field's name that an answer repeats."""


def report_invalid_bodies(app: APIGatewayRestResolver) -> None:
    """Answer what pydantic refuses with 422 and one entry per field, and what is no JSON at all with 400."""

    @app.exception_handler(RequestValidationError)  # type: ignore[untyped-decorator]  # Powertools leaves it untyped
    def _invalid(error: RequestValidationError) -> Response[str]:
        found = error.errors()
        if any(entry["type"] == "json_invalid" for entry in found):
            return problem(HTTPStatus.BAD_REQUEST, "The body must be JSON.")
        errors = [{"field": _field(entry), "detail": reason(entry)} for entry in _bounded(found)]
        detail = "; ".join(f"{entry['field']}: {entry['detail']}" for entry in errors)
        return problem(HTTPStatus.UNPROCESSABLE_ENTITY, detail[:1000], errors)

    @app.exception_handler(RequestUnsupportedContentType)  # type: ignore[untyped-decorator]  # Powertools leaves it untyped
    def _not_json(_error: RequestUnsupportedContentType) -> Response[str]:
        return problem_of(NotJson())


def _bounded(found: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The errors of a body, with at most ``MAX_UNKNOWN`` of its unknown fields: it may have thousands."""
    unknown = 0
    for entry in found:
        unknown += entry["type"] == "extra_forbidden"
        if entry["type"] != "extra_forbidden" or unknown <= MAX_UNKNOWN:
            yield entry


def _field(entry: Mapping[str, Any]) -> str:
    """The field at fault as a path, such as ``dealIds.2``; ``body`` for the body as a whole."""
    steps = [str(step)[:MAX_NAME] for step in entry["loc"]]
    return (
        ".".join(steps[1:] if len(steps) > 1 and steps[0] in ("body", "query", "header", "path") else steps) or "body"
    )
