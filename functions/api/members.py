"""Members' routes: like and watch brands and categories, vote deals up or down, and read one's messages."""

from __future__ import annotations

import secrets
from contextlib import suppress
from http import HTTPStatus
from itertools import starmap
from typing import Any

from aws_lambda_powertools.event_handler import Response

from shared.api import documents, member_documents
from shared.api.app import create_app, serve
from shared.api.callers import Caller, caller
from shared.api.documentation import PAGED, describe
from shared.data.catalog import deals, scores, topics
from shared.data.catalog.scores import Scored
from shared.data.members import alerts, feed_keys, follows, limits, messages, votes
from shared.errors import AlreadyLiked, AlreadyWatching, BadRequest, NotLiked, NotWatching
from shared.http.answers import json_answer, nothing
from shared.http.parameters import paging, segment, topic_named
from shared.models.alerts import NO_LIMITS
from shared.models.catalog import BRAND, CATEGORY, Topic, TopicKind, Vote
from shared.runtime import metrics
from shared.runtime.environment import table
from shared.runtime.reporting import report
from shared.values import times

app = create_app()


def _own() -> Caller:
    return caller(app.current_event.raw_event)


def _username() -> str:
    return _own().username


def offer_likes_and_watches(kind: TopicKind, path: str) -> None:
    """The four routes by which members like and watch one kind of topic. Saying it twice counts once."""

    @app.put(f"{path}/like", **describe(f"Like a {kind.label}", "Like", who="member", errors=[404]))
    def like(slug: str) -> Response[Any]:
        topic = topic_named(kind, slug)
        with suppress(AlreadyLiked):
            follows.like(table(), topic, _username(), times.now(), _own().account_id)
            report(metrics.LIKES_ADDED)
        return _likes(topic, liked=True)

    @app.delete(f"{path}/like", **describe(f"Unlike a {kind.label}", "Like", who="member", errors=[404]))
    def unlike(slug: str) -> Response[Any]:
        topic = topic_named(kind, slug)
        with suppress(NotLiked):
            follows.unlike(table(), topic, _username(), _own().account_id)
            report(metrics.LIKES_REMOVED)
        return _likes(topic, liked=False)

    @app.put(
        f"{path}/watch",
        **describe(f"Watch a {kind.label}, within limits", "Watch", who="member", errors=[404, 422], body="Limits"),
    )
    def watch(slug: str) -> Response[Any]:
        """Watch a topic. A body, where there is one, says within which limits; without one, those there are stay."""
        topic, given = topic_named(kind, slug), app.current_event.json_body
        within = limits.read(given) if given is not None else None
        try:
            follows.watch(table(), topic, _username(), times.now(), _own().account_id, within or NO_LIMITS)
            report(metrics.WATCHES_ADDED)
        except AlreadyWatching:
            if within is not None:
                follows.limit(table(), topic, _username(), within, _own().account_id)
        return _watchers(topic, watching=True)

    @app.delete(f"{path}/watch", **describe(f"Stop watching a {kind.label}", "Watch", who="member", errors=[404]))
    def unwatch(slug: str) -> Response[Any]:
        topic = topic_named(kind, slug)
        with suppress(NotWatching):
            follows.unwatch(table(), topic, _username(), _own().account_id)
            report(metrics.WATCHES_REMOVED)
        return _watchers(topic, watching=False)


offer_likes_and_watches(BRAND, "/brands/<slug>")
offer_likes_and_watches(CATEGORY, "/categories/<slug>")


def offer_vote(given: Vote) -> None:
    """The route by which members vote a deal up, or down. Saying it twice counts once."""

    @app.put(
        f"/deals/<deal_id>/vote/{given}", **describe(f"Vote a deal {given}", "Vote", who="member", errors=[404, 409])
    )
    def vote(deal_id: str) -> Response[Any]:
        return _voted(deal_id, given)


offer_vote(Vote.UP)
offer_vote(Vote.DOWN)


@app.delete("/deals/<deal_id>/vote", **describe("Take one's vote back", "Vote", who="member", errors=[404]))
def no_vote(deal_id: str) -> Response[Any]:
    return _voted(deal_id, None)


@app.get("/me/watches", **describe("Brands and categories one watches", "WatchList", who="member"))
def my_watches() -> Response[Any]:
    found = follows.watching(table(), _username())
    return json_answer(documents.all_of(starmap(member_documents.watched, found.items())))


@app.get("/me/alerts", **describe("One's alerts, on prices and on words", "AlertList", who="member"))
def my_alerts() -> Response[Any]:
    return json_answer(documents.all_of(map(member_documents.alert, alerts.of(table(), _username()))))


@app.put(
    "/me/alerts/deals/<deal_id>",
    **describe("Be told of a deal's product at a price", "Alert", who="member", errors=[404, 409, 422], body="Limits"),
)
def alert_on_price(deal_id: str) -> Response[Any]:
    """Tell of each offer of a product at the ceiling or below: one alert for a product, which this replaces."""
    deal, own = deals.find(table(), segment(deal_id)), _own()
    given = {"currency": deal.currency, **(app.current_event.json_body or {})}
    alert = alerts.on_price(table(), deal, own.username, own.account_id, limits.read(given), times.now())
    return json_answer(member_documents.alert(alert))


@app.post(
    "/me/alerts",
    **describe("Be told of new deals with some words", "Alert", who="member", errors=[409, 422], body="Limits"),
)
def alert_on_words() -> Response[Any]:
    """Tell of new deals within limits that name words: one alert for the same words, which this replaces."""
    own, within = _own(), limits.read(app.current_event.json_body or {})
    alert = alerts.on_words(table(), own.username, own.account_id, within, times.now())
    return json_answer(member_documents.alert(alert))


@app.delete("/me/alerts/<alert_id>", **describe("Remove an alert", None, who="member", status=204, errors=[404]))
def remove_alert(alert_id: str) -> Response[Any]:
    alerts.remove(table(), _username(), segment(alert_id), _own().account_id)
    return nothing()


@app.get("/me/feed", **describe("Whether one has a private feed", "PrivateFeed", who="member"))
def my_feed() -> Response[Any]:
    return json_answer(member_documents.private_feed(feed_keys.made_at(table(), _username())))


@app.post(
    "/me/feed",
    **describe("Make the key of a private feed", "FeedKey", who="member", status=201, errors=[409]),
)
def make_feed() -> Response[Any]:
    """Make a new key, in place of the one before. The feed is at the site's ``/my/messages.atom?key=``."""
    own, now = _own(), times.now()
    key = feed_keys.make(table(), own.username, own.account_id, now, secrets.token_bytes(feed_keys.KEY_BYTES))
    return json_answer(member_documents.feed_key(key, now), HTTPStatus.CREATED)


@app.delete("/me/feed", **describe("Revoke one's private feed", None, who="member", status=204, errors=[409]))
def revoke_feed() -> Response[Any]:
    feed_keys.revoke(table(), _username(), _own().account_id)
    return nothing()


@app.get("/messages", **describe("One's messages", "MessageList", who="member", query=[*PAGED, "unread"]))
def my_messages() -> Response[Any]:
    unread = app.current_event.get_query_string_value("unread", "false")
    if unread not in ("true", "false"):
        raise BadRequest("unread must be true or false.", "unread")
    page = messages.latest(table(), _username(), unread=unread == "true", now=times.now(), **paging(app))
    return json_answer(documents.page(page, member_documents.message))


@app.get("/messages/unread-count", **describe("How many messages are unread", "UnreadCount", who="member"))
def unread_count() -> Response[Any]:
    return json_answer(member_documents.unread_count(messages.unread_count(table(), _username(), times.now())))


@app.put("/messages/<message_id>/read", **describe("Mark a message read", "Message", who="member", errors=[404]))
def mark_read(message_id: str) -> Response[Any]:
    return json_answer(
        member_documents.message(messages.mark_read(table(), _username(), segment(message_id), times.now()))
    )


@app.post("/messages/read-all", **describe("Mark all messages read", "Marked", who="member"))
def mark_all_read() -> Response[Any]:
    marked = messages.mark_all_read(table(), _username(), times.now(), _own().account_id)
    return json_answer(member_documents.marked(marked))


def _voted(deal_id: str, given: Vote | None) -> Response[Any]:
    deal, now, own = deals.find(table(), segment(deal_id)), times.now(), _own()
    counts = votes.vote(table(), deal, own.username, given, now, own.account_id)
    score = Scored(deal, scores.of(table(), deal.deal_id, consistent=True)).shown(now)
    return json_answer(member_documents.vote(given, score, counts=counts))


def _likes(topic: Topic, *, liked: bool) -> Response[Any]:
    return json_answer(member_documents.like(topics.get(table(), topic, consistent=True), liked=liked))


def _watchers(topic: Topic, *, watching: bool) -> Response[Any]:
    return json_answer(member_documents.watch(topics.get(table(), topic, consistent=True), watching=watching))


handler = serve(app)
