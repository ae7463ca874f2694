"""Members' routes that like and watch brands and categories."""

from __future__ import annotations

from contextlib import suppress
from itertools import starmap
from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Router

from shared.api import documents, member_documents
from shared.api.callers import Caller, caller
from shared.api.documentation import of_members
from shared.data.catalog import topics
from shared.data.members import follows, limits
from shared.errors import AlreadyLiked, AlreadyWatching, NotLiked, NotWatching
from shared.http.answers import json_answer
from shared.http.parameters import topic_named
from shared.models.alerts import NO_LIMITS
from shared.models.catalog import BRAND, CATEGORY, Topic, TopicKind
from shared.runtime import metrics
from shared.runtime.environment import table
from shared.runtime.reporting import report
from shared.values import times

router = Router()  # type: ignore[no-untyped-call]  # Powertools leaves it untyped


def _own() -> Caller:
    return caller(router.current_event.raw_event)


def _username() -> str:
    return _own().username


def offer_likes_and_watches(kind: TopicKind, path: str) -> None:
    """The four routes by which members like and watch one kind of topic. Saying it twice counts once."""

    @router.put(f"{path}/like", **of_members(f"Like a {kind.label}", "Like", errors=[404]))
    def like(slug: str) -> Response[Any]:
        topic = topic_named(kind, slug)
        with suppress(AlreadyLiked):
            follows.like(table(), topic, _username(), times.now(), _own().account_id)
            report(metrics.LIKES_ADDED)
        return _likes(topic, liked=True)

    @router.delete(f"{path}/like", **of_members(f"Unlike a {kind.label}", "Like", errors=[404]))
    def unlike(slug: str) -> Response[Any]:
        topic = topic_named(kind, slug)
        with suppress(NotLiked):
            follows.unlike(table(), topic, _username(), _own().account_id)
            report(metrics.LIKES_REMOVED)
        return _likes(topic, liked=False)

    @router.put(
        f"{path}/watch", **of_members(f"Watch a {kind.label}, within limits", "Watch", errors=[404, 422], body="Limits")
    )
    def watch(slug: str) -> Response[Any]:
        """Watch a topic. A body, where there is one, says within which limits; without one, those there are stay."""
        topic, given = topic_named(kind, slug), router.current_event.json_body
        within = limits.read(given) if given is not None else None
        try:
            follows.watch(table(), topic, _username(), times.now(), _own().account_id, within or NO_LIMITS)
            report(metrics.WATCHES_ADDED)
        except AlreadyWatching:
            if within is not None:
                follows.limit(table(), topic, _username(), within, _own().account_id)
        return _watchers(topic, watching=True)

    @router.delete(f"{path}/watch", **of_members(f"Stop watching a {kind.label}", "Watch", errors=[404]))
    def unwatch(slug: str) -> Response[Any]:
        topic = topic_named(kind, slug)
        with suppress(NotWatching):
            follows.unwatch(table(), topic, _username(), _own().account_id)
            report(metrics.WATCHES_REMOVED)
        return _watchers(topic, watching=False)


offer_likes_and_watches(BRAND, "/brands/<slug>")
offer_likes_and_watches(CATEGORY, "/categories/<slug>")


@router.get("/me/watches", **of_members("Brands and categories one watches", "WatchList"))
def my_watches() -> Response[Any]:
    found = follows.watching(table(), _username())
    return json_answer(documents.all_of(starmap(member_documents.watched, found.items())))


def _likes(topic: Topic, *, liked: bool) -> Response[Any]:
    return json_answer(member_documents.like(topics.get(table(), topic, consistent=True), liked=liked))


def _watchers(topic: Topic, *, watching: bool) -> Response[Any]:
    return json_answer(member_documents.watch(topics.get(table(), topic, consistent=True), watching=watching))
