"""The API's addresses, and how a route is described in the OpenAPI document.

Plain data: nothing here needs pydantic at run time, and the stacks name it, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from http import HTTPStatus
from typing import Any, Literal

from shared import features
from shared.http.answers import MEDIA_TYPE, phrase

VERSION = "v1"
"""The name of the API's stage, so that ``/v1/...`` is the whole path on every host."""

ROOT = f"/{VERSION}"

PASSWORD_PATHS = ("/users", "/sessions", *features.paths("password"))
"""POSTs that hash a password, which takes a whole processor for a moment, and those of features: they are limited by
themselves."""


def deal(deal_id: str) -> str:
    """The address of a deal."""
    return f"{ROOT}/deals/{deal_id}"


def brand(slug: str) -> str:
    """The address of a brand."""
    return f"{ROOT}/brands/{slug}"


Who = Literal["anonymous", "member", "editor"]

PAGED = ("limit", "cursor")


def describe(
    summary: str,
    schema: str | None,
    *,
    who: Who = "anonymous",
    status: int = 200,
    errors: Sequence[int] = (),
    query: Sequence[str] = (),
    cached: bool = False,
    body: str | None = None,
    media_type: str = "application/json",
) -> dict[str, Any]:
    """The keyword arguments that document a route: who may call it, what it answers, and with which errors.

    ``schema`` names a model of ``schemas.py``, as does ``body``, that of a body which the route checks by itself;
    ``query`` names parameters of ``functions/api/openapi.py``.
    """
    # The gateway itself may answer 429; the table may be busy for a moment.
    statuses = {*errors, 429, 503}
    statuses |= {400} if query or body else set()
    statuses |= {415} if body else set()
    statuses |= {401} if who != "anonymous" else set()
    statuses |= {403} if who == "editor" else set()
    responses: dict[int, Any] = {status: _answer(status, schema, media_type)}
    if cached:
        responses[304] = {"description": "Not changed since the ETag that If-None-Match names"}
    for error in sorted(statuses):
        responses[error] = problem(error)
    return {
        "summary": summary,
        "tags": [who],
        "responses": responses,
        "openapi_extensions": {"x-query": list(query), "x-body": body},
    }


of_members = partial(describe, who="member")
of_editors = partial(describe, who="editor")
"""The same for a route of members, and for one of editors."""


def problem(status: int) -> dict[str, Any]:
    """The answer of an error, as it is documented."""
    return _answer(status, "Problem", MEDIA_TYPE)


def _answer(status: int, schema: str | None, media_type: str) -> dict[str, Any]:
    answer: dict[str, Any] = {"description": phrase(HTTPStatus(status))}
    if schema is not None:
        answer["content"] = {media_type: {"schema": {"$ref": f"#/components/schemas/{schema}"}}}
    return answer
