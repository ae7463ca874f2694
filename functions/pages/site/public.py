"""Answers that are the same for everybody, and the lists of deals on them."""

from __future__ import annotations

from datetime import datetime
from http import HTTPStatus
from typing import Any

from shared import settings
from shared.data.catalog import feed_counts, feeds, page_cache
from shared.html import fragments, pages, views
from shared.html.links import link
from shared.html.pages import Answer, Request
from shared.http import requests
from shared.models.catalog import Feed, Selection
from shared.runtime.environment import table


def public_page(template: str, request: Request, **values: Any) -> Answer:
    """A page that is the same for everybody. One that is not to be indexed names no other in its place."""
    if cursor_of(request) or "q" in request.query or values.get("robots"):
        values["canonical"] = None
    return pages.page(template, cache=pages.PUBLIC, here=request.path, said=request.query.get("said"), **values)


def cursor_of(request: Request) -> str | None:
    """Where the page begins that is asked for; an empty cursor is none."""
    return request.query.get("cursor") or None


def selection_of(request: Request) -> Selection:
    """The deals of a list that a page is asked for; a field that a form sends empty is none. Raises BadRequest."""
    return requests.selection({name: text.strip() or None for name, text in request.query.items()})


def feed_addresses(path: str, **query: str) -> dict[str, str]:
    """The addresses of a list's feed, by format."""
    return {"atom": link(f"{path}.atom", **query), "json": link(f"{path}.json", **query)}


def for_machines(text: str, media_type: str) -> Answer:
    """A text that changes slowly and is read by machines."""
    return Answer(text, media_type=media_type, cache=pages.FOR_A_DAY)


def moved(path: str, status: int = HTTPStatus.MOVED_PERMANENTLY) -> Answer:
    """An answer that leads to where something is now."""
    return Answer("", status=status, cache=pages.FOR_A_DAY, headers={"Location": link(path)})


def latest_of(feed: Feed, now: datetime, held: feeds.PeriodCounts | None = None) -> str:
    """The newest page of a feed, made from the indexes."""
    # Of as many days as the page can show.
    counts = held[0] if held else feed_counts.counts(table(), feed, most=settings.READ_FOR_CARDS)
    page = feeds.read(table(), feed, limit=settings.READ_FOR_CARDS, now=now, held=held)
    shown = page_cache.first(page, feed, views.first_groups(page.items, fragments.GROUPS, feed.period))
    return fragments.latest(shown, feed, now, counts, shown.next)


def older_of(feed: Feed, now: datetime, cursor: str) -> str:
    """A page of a feed further back, of as many cards as the first. Raises InvalidCursor, NoSuchTopic."""
    page = feeds.read(table(), feed, limit=settings.READ_FOR_CARDS, now=now, cursor=cursor)
    page = page_cache.first(page, feed, views.first_groups(page.items, fragments.GROUPS, feed.period))
    return fragments.latest(page, feed, now, {}, page.next, first=False)
