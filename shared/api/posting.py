"""What routes that post deals share: confirmed warnings, and the answer to a posted deal."""

from __future__ import annotations

import re
from collections.abc import Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.event_handler import Response

from shared.api import documents
from shared.api.app import deal_path
from shared.data.catalog.editing import FIELDS
from shared.errors import BadRequest
from shared.http.answers import json_answer
from shared.http.requests import correlation_id
from shared.models.catalog import Deal
from shared.runtime import metrics
from shared.runtime.metrics import report

if TYPE_CHECKING:
    from datetime import datetime

    from aws_lambda_powertools.event_handler.api_gateway import BaseRouter

CONFIRM = rf"^({'|'.join(FIELDS)})(,({'|'.join(FIELDS)}))*$"
"""The query parameter ``confirm``: the fields whose warnings an editor has seen and confirms."""

ONCE = ("Idempotency-Key", "confirm")
"""The header and query of routes that create a deal: an idempotency key, and the confirmed warnings."""


def posted(app: BaseRouter, deal: Deal, now: datetime) -> Response[Any]:
    """The answer to a posted deal. A repeated request isn't counted again."""
    if deal.correlation_id == sent_as(app):
        report(metrics.DEALS_POSTED)
    return json_answer(documents.deal(deal, now), HTTPStatus.CREATED, {"Location": deal_path(deal.deal_id)})


def confirmed(app: BaseRouter) -> Sequence[str]:
    """The fields in ``confirm`` (in 1.1.0, ``anyway``) whose warnings are confirmed. Raises BadRequest for other
    names."""
    query = app.current_event.query_string_parameters or {}
    name = next((each for each in ("confirm", "anyway") if each in query), None)
    if name is None:
        return ()
    if not re.fullmatch(CONFIRM, query[name]):
        raise BadRequest(f"{name} must name fields, separated by commas: {', '.join(FIELDS)}.", name)
    return query[name].split(",")


def sent_as(app: BaseRouter) -> str:
    return correlation_id(app.current_event.raw_event)
