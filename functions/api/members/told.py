"""Members' routes for what they are told: alerts on prices and on words, a private feed, and messages."""

from __future__ import annotations

import secrets
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Router

from shared.api import documents, member_documents
from shared.api.app import calling
from shared.api.documentation import PAGED, of_members
from shared.data.catalog import deals
from shared.data.members import alerts, feed_keys, limits, messages
from shared.errors import BadRequest
from shared.http.answers import json_answer, nothing
from shared.http.requests import paging, segment
from shared.runtime.environment import table
from shared.values import identifiers, times

router = Router()  # type: ignore[no-untyped-call]  # Powertools leaves it untyped


@router.get("/me/alerts", **of_members("One's alerts, on prices and on words", "AlertList"))
def my_alerts() -> Response[Any]:
    return json_answer(documents.all_of(map(member_documents.alert, alerts.of(table(), calling(router).username))))


@router.put(
    "/me/alerts/deals/<deal_id>",
    **of_members("Be told of a deal's product at a price", "Alert", errors=[404, 409, 422], body="NewLimits"),
)
def alert_on_price(deal_id: str) -> Response[Any]:
    """Tell of each offer of a product at the ceiling or below: one alert for a product, which this replaces."""
    deal, own = deals.find(table(), segment(deal_id)), calling(router)
    given = {"currency": deal.currency, **(router.current_event.json_body or {})}
    alert = alerts.on_price(table(), deal, own.username, own.account_id, limits.read(given), times.now())
    return json_answer(member_documents.alert(alert))


@router.post(
    "/me/alerts", **of_members("Be told of new deals with some words", "Alert", errors=[409, 422], body="NewLimits")
)
def alert_on_words() -> Response[Any]:
    """Tell of new deals within limits that name words: one alert for the same words, which this replaces."""
    own, within = calling(router), limits.read(router.current_event.json_body or {})
    alert = alerts.on_words(table(), own.username, own.account_id, within, times.now())
    return json_answer(member_documents.alert(alert))


@router.delete("/me/alerts/<alert_id>", **of_members("Remove an alert", None, status=204, errors=[404]))
def remove_alert(alert_id: str) -> Response[Any]:
    alerts.remove(table(), calling(router).username, segment(alert_id), calling(router).account_id)
    return nothing()


@router.get("/me/feed", **of_members("Whether one has a private feed", "PrivateFeed"))
def my_feed() -> Response[Any]:
    key = feed_keys.of(table(), calling(router).username)
    return json_answer(member_documents.private_feed(key.made_at if key else None, ended=key is not None and key.ended))


@router.post("/me/feed", **of_members("Make the key of a private feed", "FeedKey", status=201, errors=[409]))
def make_feed() -> Response[Any]:
    """Make a new key, in place of the one before. The feed is at the site's ``/my/messages.atom?key=``."""
    own, now = calling(router), times.now()
    key = feed_keys.make(table(), own.username, own.account_id, now, secrets.token_bytes(identifiers.BYTES))
    return json_answer(member_documents.feed_key(key, now), HTTPStatus.CREATED)


@router.delete("/me/feed", **of_members("Revoke one's private feed", None, status=204, errors=[409]))
def revoke_feed() -> Response[Any]:
    feed_keys.revoke(table(), calling(router).username, calling(router).account_id)
    return nothing()


@router.get("/messages", **of_members("One's messages", "MessageList", query=[*PAGED, "unread"]))
def my_messages() -> Response[Any]:
    unread = router.current_event.get_query_string_value("unread", "false")
    if unread not in ("true", "false"):
        raise BadRequest("unread must be true or false.", "unread")
    page = messages.latest(
        table(), calling(router).username, unread=unread == "true", now=times.now(), **paging(router)
    )
    return json_answer(documents.page(page, member_documents.message))


@router.get("/messages/unread-count", **of_members("How many messages are unread", "UnreadCount"))
def unread_count() -> Response[Any]:
    return json_answer(
        member_documents.unread_count(messages.unread_count(table(), calling(router).username, times.now()))
    )


@router.put("/messages/<message_id>/read", **of_members("Mark a message read", "Message", errors=[404]))
def mark_read(message_id: str) -> Response[Any]:
    marked = messages.mark_read(table(), calling(router).username, segment(message_id), times.now())
    return json_answer(member_documents.message(marked))


@router.post("/messages/read-all", **of_members("Mark all messages read", "Marked"))
def mark_all_read() -> Response[Any]:
    marked = messages.mark_all_read(table(), calling(router).username, times.now(), calling(router).account_id)
    return json_answer(member_documents.marked(marked))
