"""Shared by the routes that write: odd fields that are meant, and requests that take effect once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from shared.api.app import calling
from shared.data.catalog.oddities import FIELDS
from shared.data.idempotency import Idempotency
from shared.errors import BadRequest
from shared.http.requests import MAX_CLIENT_KEY, header, is_client_key

if TYPE_CHECKING:
    from aws_lambda_powertools.event_handler.api_gateway import BaseRouter

ANYWAY = rf"^({'|'.join(FIELDS)})(,({'|'.join(FIELDS)}))*$"
"""The query parameter ``anyway``: the odd fields that an editor has seen, and means."""


def seen(app: BaseRouter) -> Sequence[str]:
    """The odd fields that a request confirms by ``anyway``. Raises BadRequest for other names."""
    anyway = app.current_event.get_query_string_value("anyway", None)
    if anyway is None:
        return ()
    if not re.fullmatch(ANYWAY, anyway):
        raise BadRequest(f"anyway must name fields, separated by commas: {', '.join(FIELDS)}.", "anyway")
    return anyway.split(",")


def idempotency(app: BaseRouter, asked: dict[str, Any]) -> Idempotency | None:
    """The idempotency of a request, which asks for ``asked``; None where there is no key.

    Raises BadRequest for an invalid key, NotSignedIn.
    """
    key = header(app.current_event.raw_event, "idempotency-key")
    if key is None:
        return None
    if not is_client_key(key):
        detail = f"Idempotency-Key must have 1 to {MAX_CLIENT_KEY} printable ASCII characters."
        raise BadRequest(detail, "Idempotency-Key")
    return Idempotency(calling(app).account_id, key, asked)
