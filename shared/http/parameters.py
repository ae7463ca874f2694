"""The parameters of a request: parts of its path, and its query."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from shared import settings
from shared.errors import BadRequest, InvalidName, NoSuchTopic
from shared.http.event import is_plain
from shared.models.catalog import Topic, TopicKind
from shared.models.lists import Selection, Sort
from shared.values import money, slugs

if TYPE_CHECKING:
    from aws_lambda_powertools.event_handler.api_gateway import BaseRouter

MAX_PAGE = 100
DEFAULT_PAGE = settings.CACHED_PAGE
"""Items of a page of a list: the most, and the default."""

SELECTING = ("sort", "from", "to", "currency", "brand")
"""The parameters that say which deals of a brand's or a category's list are asked for."""

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


def selection(query: Mapping[str, str | None]) -> Selection:
    """The filters of a list in a query; None means no filter.

    Raises BadRequest.
    """
    sort, least, most, currency, brand = (query.get(name) for name in SELECTING)
    if sort is not None and sort not in set(Sort):
        raise BadRequest(f"sort must be one of {', '.join(Sort)}.", "sort")
    cheapest, dearest = _price("from", least), _price("to", most)
    if cheapest is not None and dearest is not None and float(cheapest) > float(dearest):
        raise BadRequest("from must not be above to.", "from")
    if currency is not None and not re.fullmatch(money.CODE, currency):
        raise BadRequest("currency must be three capital letters.", "currency")
    try:
        slug = None if brand is None else slugs.slug(brand)
    except InvalidName as error:
        raise BadRequest("brand must be a brand's name or slug.", "brand") from error
    return Selection(Sort(sort or Sort.NEWEST), cheapest, dearest, currency, slug)


def _price(name: str, amount: str | None) -> str | None:
    if amount is None:
        return None
    if not re.fullmatch(money.PATTERN, amount):
        raise BadRequest(f"{name} must be a price such as 80 or 79.90.", name)
    return money.normal(amount)


def paging(app: BaseRouter) -> dict[str, Any]:
    """The ``limit`` and ``cursor`` that a list's request names. Raises BadRequest for an invalid limit."""
    asked = app.current_event.get_query_string_value("limit", str(DEFAULT_PAGE))
    limit = int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 10 else 0
    if not 1 <= limit <= MAX_PAGE:
        raise BadRequest(f"limit must be a number from 1 to {MAX_PAGE}.", "limit")
    return {"limit": limit, "cursor": app.current_event.get_query_string_value("cursor", None)}
