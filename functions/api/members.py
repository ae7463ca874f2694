"""Members' routes: likes and watches, alerts on prices and on words, and messages."""

from __future__ import annotations

from contextlib import suppress
from itertools import starmap
from typing import Any

from aws_lambda_powertools.event_handler import Response

from shared import features, hooks
from shared.api import documents, member_documents
from shared.api.app import PAGED, calling, create_app, include, of_members, serve
from shared.data.catalog import deals, topics
from shared.data.members import alerts, follows, limits, messages
from shared.errors import AlreadyLiked, AlreadyWatching, BadRequest, NotLiked, NotWatching
from shared.http.answers import json_answer, nothing
from shared.http.requests import paging, topic_named
from shared.models.catalog import BRAND, CATEGORY, TopicKind
from shared.models.members import NO_LIMITS
from shared.runtime import metrics
from shared.runtime.environment import table
from shared.runtime.metrics import report
from shared.values import times

app = create_app()


def offer_likes_and_watches(kind: TopicKind, path: str) -> None:
    """Add the idempotent like and watch routes of one kind of topic."""

    @app.put(f"{path}/like", **of_members(f"Like a {kind.label}", "Like", errors=[404]))
    def like(slug: str) -> Response[Any]:
        topic, own = topic_named(kind, slug), calling(app)
        with suppress(AlreadyLiked):
            follows.like(table(), topic, own.username, times.now(), own.account_id)
            report(metrics.LIKES_ADDED)
        return json_answer({"liked": True, "likes": topics.get(table(), topic, consistent=True).likes})

    @app.delete(f"{path}/like", **of_members(f"Unlike a {kind.label}", "Like", errors=[404]))
    def unlike(slug: str) -> Response[Any]:
        topic, own = topic_named(kind, slug), calling(app)
        with suppress(NotLiked):
            follows.unlike(table(), topic, own.username, own.account_id)
            report(metrics.LIKES_REMOVED)
        return json_answer({"liked": False, "likes": topics.get(table(), topic, consistent=True).likes})

    @app.put(
        f"{path}/watch",
        **of_members(f"Watch a {kind.label}, optionally with limits", "Watch", errors=[404, 422], body="NewLimits"),
    )
    def watch(slug: str) -> Response[Any]:
        """Watch a topic. A body sets the watch's limits; without one, existing limits stay."""
        topic, own, given = topic_named(kind, slug), calling(app), app.current_event.json_body
        within = limits.read(given) if given is not None else None
        try:
            follows.watch(table(), topic, own.username, times.now(), own.account_id, within or NO_LIMITS)
            report(metrics.WATCHES_ADDED)
        except AlreadyWatching:
            if within is not None:
                follows.limit(table(), topic, own.username, within, own.account_id)
        return json_answer({"watching": True, "watchers": topics.get(table(), topic, consistent=True).watchers})

    @app.delete(f"{path}/watch", **of_members(f"Stop watching a {kind.label}", "Watch", errors=[404]))
    def unwatch(slug: str) -> Response[Any]:
        topic, own = topic_named(kind, slug), calling(app)
        with suppress(NotWatching):
            follows.unwatch(table(), topic, own.username, own.account_id)
            report(metrics.WATCHES_REMOVED)
        return json_answer({"watching": False, "watchers": topics.get(table(), topic, consistent=True).watchers})


offer_likes_and_watches(BRAND, "/brands/<slug>")
offer_likes_and_watches(CATEGORY, "/categories/<slug>")


@app.get("/me/watches", **of_members("List the brands and categories you watch", "WatchList"))
def my_watches() -> Response[Any]:
    found = follows.watching(table(), calling(app).username)
    return json_answer(documents.all_of(starmap(member_documents.watched, found.items())))


@app.get("/me/alerts", **of_members("List your alerts", "AlertList"))
def my_alerts() -> Response[Any]:
    return json_answer(documents.all_of(map(member_documents.alert, alerts.of(table(), calling(app).username))))


@app.put(
    "/me/alerts/deals/<deal_id>",
    **of_members("Set a price alert for a deal's product", "Alert", errors=[404, 409, 422], body="NewLimits"),
)
def alert_on_price(deal_id: str) -> Response[Any]:
    """Alert the member to offers of a product at the ceiling or below. This replaces the alert on the product."""
    deal, own = deals.find(table(), deal_id), calling(app)
    given = {"currency": deal.currency, **(app.current_event.json_body or {})}
    alert = alerts.on_price(table(), deal, own.username, own.account_id, limits.read(given), times.now())
    return json_answer(member_documents.alert(alert))


@app.post(
    "/me/alerts",
    **of_members("Set an alert for new deals with certain words", "Alert", errors=[409, 422], body="NewLimits"),
)
def alert_on_words() -> Response[Any]:
    """Alert the member to new deals within limits that have the words. This replaces the alert on the same words."""
    own, within = calling(app), limits.read(app.current_event.json_body or {})
    alert = alerts.on_words(table(), own.username, own.account_id, within, times.now())
    return json_answer(member_documents.alert(alert))


@app.delete("/me/alerts/<alert_id>", **of_members("Remove an alert", None, status=204, errors=[404]))
def remove_alert(alert_id: str) -> Response[Any]:
    alerts.remove(table(), calling(app).username, alert_id, calling(app).account_id)
    return nothing()


@app.get("/messages", **of_members("List your messages", "MessageList", query=[*PAGED, "unread"]))
def my_messages() -> Response[Any]:
    unread = app.current_event.get_query_string_value("unread", "false")
    if unread not in ("true", "false"):
        raise BadRequest("unread must be true or false.", "unread")
    page = messages.latest(table(), calling(app).username, unread=unread == "true", now=times.now(), **paging(app))
    return json_answer(documents.page(page, member_documents.message))


@app.get("/messages/unread-count", **of_members("Get the number of unread messages", "UnreadCount"))
def unread_count() -> Response[Any]:
    return json_answer({"unread": messages.unread_count(table(), calling(app).username, times.now())})


@app.put("/messages/<message_id>/read", **of_members("Mark a message as read", "Message", errors=[404]))
def mark_read(message_id: str) -> Response[Any]:
    marked = messages.mark_read(table(), calling(app).username, message_id, times.now())
    return json_answer(member_documents.message(marked))


@app.post("/messages/read-all", **of_members("Mark all messages as read", "Marked"))
def mark_all_read() -> Response[Any]:
    own = calling(app)
    return json_answer({"marked": messages.mark_all_read(table(), own.username, times.now(), own.account_id)})


include(app, features.roles(hooks.Members))

handler = serve(app)
