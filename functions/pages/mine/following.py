"""Brands and categories that a member watches and likes: the buttons on public pages, and suggestions."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from functools import partial
from typing import Any

from shared.data.catalog import feeds, topics
from shared.data.members import follows
from shared.errors import NoSuchTopic
from shared.html import pages
from shared.html.inbox import row_id
from shared.html.pages import Answer, Request, Routes
from shared.html.switches import switched
from shared.http.requests import topic_named
from shared.models.catalog import ALL_DEALS, BRAND, CATEGORY, CountedTopic, Topic, TopicKind
from shared.runtime import metrics
from shared.runtime.environment import table

KINDS: dict[str, TopicKind] = {kind.label: kind for kind in (BRAND, CATEGORY)}
"""The kinds of topics by their names in paths."""

SUGGESTED = 8
"""Brands that are suggested to members without watches."""

routes = Routes()


@routes.get("/my/watches/<kind>/<slug>", "/my/likes/<kind>/<slug>")
def topic_of_button(_request: Request, kind: str, slug: str) -> Answer:
    _, place = topic_at(kind, slug)
    return pages.redirect(place)


@routes.post("/my/watches/<kind>/<slug>")
def watch(request: Request, kind: str, slug: str) -> Answer:
    topic, place = topic_at(kind, slug)
    on, off = partial(follows.watch, table(), topic, now=request.now), partial(follows.unwatch, table(), topic)
    counted = metrics.WATCHES_ADDED, metrics.WATCHES_REMOVED
    return switched(request, place, on=on, off=off, notices=("watching", "unwatched"), counted=counted)


@routes.post("/my/likes/<kind>/<slug>")
def like(request: Request, kind: str, slug: str) -> Answer:
    topic, place = topic_at(kind, slug)
    on, off = partial(follows.like, table(), topic, now=request.now), partial(follows.unlike, table(), topic)
    counted = metrics.LIKES_ADDED, metrics.LIKES_REMOVED
    return switched(request, place, on=on, off=off, notices=("liked", "unliked"), counted=counted)


def topic_at(kind: str, slug: str) -> tuple[Topic, str]:
    """A path's topic, and the path of its own page. Raises NoSuchTopic."""
    if kind not in KINDS:
        raise NoSuchTopic("topic", slug)
    topic = topic_named(KINDS[kind], slug)
    return topic, f"/{topic.kind.path}/{topic.slug}"


def suggested(now: datetime, followed: Collection[Topic]) -> list[dict[str, Any]]:
    """The most watched brands with new deals, and whether the reader watches them.

    No index lists all brands by their watchers.
    """
    newest = feeds.read(table(), ALL_DEALS, limit=100, now=now).items
    brands = list(dict.fromkeys(Topic(BRAND, deal.brand) for deal in newest))
    found = sorted(topics.get_many(table(), brands), key=lambda page: -page.watchers)
    return [{**topic_row(page), "watching": page.topic in followed} for page in found[:SUGGESTED]]


def topic_row(page: CountedTopic) -> dict[str, Any]:
    """A brand or category as a row of the member's pages."""
    topic = page.topic
    path = f"/{topic.kind.path}/{topic.slug}"
    named = {"id": row_id(topic), "kind": topic.kind.label, "slug": topic.slug, "name": page.name}
    return {**named, "path": path, "watchers": page.watchers}
