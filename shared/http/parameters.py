"""The parameters of a request: parts of its path, and its query."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from shared import settings
from shared.errors import BadRequest, InvalidName, NoSuchTopic
from shared.http.event import header, is_plain
from shared.models.catalog import Topic, TopicKind
from shared.values import slugs

if TYPE_CHECKING:
    from aws_lambda_powertools.event_handler import APIGatewayRestResolver

MAX_PAGE = 100
DEFAULT_PAGE = settings.CACHED_PAGE
"""Items of a page of a list: the most, and the default."""

MAX_CLIENT_KEY = 255
"""Characters of an idempotency key, of a header and of a form."""


def segment(text: str) -> str:
    """A decoded path parameter: REST APIs deliver them percent-encoded."""
    return unquote(text)


def topic_named(kind: TopicKind, parameter: str) -> Topic:
    """The brand or category that a path names, in whatever case and spelling. Raises NoSuchTopic."""
    name = segment(parameter)
    try:
        return Topic(kind, slugs.slug(name))
    except InvalidName as error:
        raise NoSuchTopic(kind.label, name) from error


def is_client_key(text: str) -> bool:
    """Whether a text can be an idempotency key: printable ASCII, not empty, and not too long."""
    return is_plain(text, MAX_CLIENT_KEY)


def client_key(event: Mapping[str, Any]) -> str | None:
    """The Idempotency-Key of a request, or None. Raises BadRequest for an invalid one."""
    key = header(event, "idempotency-key")
    if key is not None and not is_client_key(key):
        detail = f"Idempotency-Key must have 1 to {MAX_CLIENT_KEY} printable ASCII characters."
        raise BadRequest(detail, "Idempotency-Key")
    return key


def paging(app: APIGatewayRestResolver) -> dict[str, Any]:
    """The ``limit`` and ``cursor`` that a list's request names. Raises BadRequest for an invalid limit."""
    asked = app.current_event.get_query_string_value("limit", str(DEFAULT_PAGE))
    limit = int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 10 else 0
    if not 1 <= limit <= MAX_PAGE:
        raise BadRequest(f"limit must be a number from 1 to {MAX_PAGE}.", "limit")
    return {"limit": limit, "cursor": app.current_event.get_query_string_value("cursor", None)}
