"""Members' routes that like and watch brands and categories."""

from __future__ import annotations

from contextlib import suppress
from itertools import starmap
from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Router

from shared.api import documents, member_documents
from shared.api.app import calling
from shared.api.paths import of_members
from shared.data.catalog import topics
from shared.data.members import follows, limits
from shared.errors import AlreadyLiked, AlreadyWatching, NotLiked, NotWatching
from shared.http.answers import json_answer
from shared.http.requests import topic_named
from shared.models.catalog import BRAND, CATEGORY, TopicKind
from shared.models.members import NO_LIMITS
from shared.runtime import metrics
from shared.runtime.environment import table
from shared.runtime.metrics import report
from shared.values import times

router = Router()  # type: ignore[no-untyped-call]  # Powertools leaves it untyped


def offer_likes_and_watches(kind: TopicKind, path: str) -> None:
    """The four routes for likes and watches of one kind of topic. They are idempotent."""

    @router.put(f"{path}/like", **of_members(f"Like a {kind.label}", "Like", errors=[404]))
    def like(slug: str) -> Response[Any]:
        topic, own = topic_named(kind, slug), calling(router)
        with suppress(AlreadyLiked):
            follows.like(table(), topic, own.username, times.now(), own.account_id)
            report(metrics.LIKES_ADDED)
        return json_answer({"liked": True, "likes": topics.get(table(), topic, consistent=True).likes})

    @router.delete(f"{path}/like", **of_members(f"Unlike a {kind.label}", "Like", errors=[404]))
    def unlike(slug: str) -> Response[Any]:
        topic, own = topic_named(kind, slug), calling(router)
        with suppress(NotLiked):
            follows.unlike(table(), topic, own.username, own.account_id)
            report(metrics.LIKES_REMOVED)
        return json_answer({"liked": False, "likes": topics.get(table(), topic, consistent=True).likes})

    @router.put(
        f"{path}/watch",
        **of_members(f"Watch a {kind.label}, within limits", "Watch", errors=[404, 422], body="NewLimits"),
    )
    def watch(slug: str) -> Response[Any]:
        """Watch a topic. A body, where there is one, says within which limits; without one, those there are stay."""
        topic, own, given = topic_named(kind, slug), calling(router), router.current_event.json_body
        within = limits.read(given) if given is not None else None
        try:
            follows.watch(table(), topic, own.username, times.now(), own.account_id, within or NO_LIMITS)
            report(metrics.WATCHES_ADDED)
        except AlreadyWatching:
            if within is not None:
                follows.limit(table(), topic, own.username, within, own.account_id)
        return json_answer({"watching": True, "watchers": topics.get(table(), topic, consistent=True).watchers})

    @router.delete(f"{path}/watch", **of_members(f"Stop watching a {kind.label}", "Watch", errors=[404]))
    def unwatch(slug: str) -> Response[Any]:
        topic, own = topic_named(kind, slug), calling(router)
        with suppress(NotWatching):
            follows.unwatch(table(), topic, own.username, own.account_id)
            report(metrics.WATCHES_REMOVED)
        return json_answer({"watching": False, "watchers": topics.get(table(), topic, consistent=True).watchers})


offer_likes_and_watches(BRAND, "/brands/<slug>")
offer_likes_and_watches(CATEGORY, "/categories/<slug>")


@router.get("/me/watches", **of_members("Brands and categories one watches", "WatchList"))
def my_watches() -> Response[Any]:
    found = follows.watching(table(), calling(router).username)
    return json_answer(documents.all_of(starmap(member_documents.watched, found.items())))
