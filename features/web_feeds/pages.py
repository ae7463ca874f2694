"""Feeds of lists and searches, in Atom (https://www.rfc-editor.org/rfc/rfc4287) and JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from http import HTTPStatus
from typing import Any

from shared import settings
from shared.data.catalog import feeds, selecting
from shared.errors import DealsError, InvalidName, NoSuchTopic, NotFound
from shared.html import pages, views
from shared.html.fragments import path_of
from shared.html.links import absolute
from shared.html.pages import Answer, Request, Routes
from shared.html.views import render, xml_text
from shared.http import answers
from shared.models.catalog import ALL_DEALS, BRAND, CATEGORIES, CATEGORY, Deal, Selection, Topic, feed_of
from shared.runtime.environment import table
from shared.values import identifiers, naming
from shared.values.directions import isolated
from shared.values.times import to_http, to_iso

routes = Routes()

ATOM = "application/atom+xml; charset=utf-8"
JSON_FEED = "application/feed+json; charset=utf-8"

ENTRIES = 50
"""Deals in a feed."""


@routes.get("/feed.atom", "/feed.json")
def feed(request: Request) -> Answer:
    typed = request.query.get("q", "").strip()
    if typed:
        shown = _matching(typed, request.now)
        return _feed(request, f"{typed} · Big Time Deals", "/search", shown, q=typed)
    latest = feeds.read(table(), ALL_DEALS, limit=ENTRIES, now=request.now)
    return _feed(request, "Big Time Deals", "/", latest.items)


@routes.get("/brands/<name>/feed.atom", "/brands/<name>/feed.json")
def brand_feed(request: Request, name: str) -> Answer:
    try:
        topic = Topic(BRAND, naming.slug(name))
        found, held = feeds.open_feed(table(), topic)
    except (InvalidName, NotFound) as error:
        return _no_feed(request, error)
    return _topic_feed(request, topic, name, found.name, held)


@routes.get("/categories/<name>/feed.atom", "/categories/<name>/feed.json")
def category_feed(request: Request, name: str) -> Answer:
    topic = Topic(CATEGORY, name.lower())
    if topic.slug not in CATEGORIES:
        return _no_feed(request, NoSuchTopic(CATEGORY.label, name[:100]))
    return _topic_feed(request, topic, name, CATEGORIES[topic.slug])


def _matching(typed: str, now: datetime) -> Sequence[Deal]:
    """The newest active deals of a search, as many as its page has cards."""
    found = selecting.page(table(), typed, Selection(), limit=settings.CARDS_OF_A_SEARCH, now=now, all_words=True)
    return found.page.items


def _topic_feed(
    request: Request, topic: Topic, typed: str, name: str, held: feeds.PeriodCounts | None = None
) -> Answer:
    """The feed of an existing brand or category; another spelling redirects to its slug."""
    path = path_of(feed_of(topic))
    if typed != topic.slug:
        return pages.moved(f"{path}/{request.path.rpartition('/')[2]}")
    latest = feeds.read(table(), feed_of(topic), limit=ENTRIES, now=request.now, held=held)
    return _feed(request, f"{name} · Big Time Deals", path, latest.items)


def _no_feed(request: Request, error: DealsError) -> Answer:
    """The machine-readable answer for an unknown feed: https://www.rfc-editor.org/rfc/rfc9457, also in XML (appendix
    B)."""
    status = HTTPStatus.NOT_FOUND
    if request.path.endswith(".json"):
        text, media_type = json.dumps(answers.document(status, str(error))), answers.MEDIA_TYPE
    else:
        text = render("web_feeds/templates/problem.xml", **answers.document(status, xml_text(str(error))))
        media_type = "application/problem+xml"
    return Answer(text, status=status, media_type=media_type, cache=pages.PUBLIC)


def _feed(request: Request, title: str, path: str, found: Sequence[Deal], **query: str) -> Answer:
    """A list as a feed, in the format that the address names."""
    home, own = absolute(path, **query), absolute(request.path, **query)
    updated = max((deal.changed_at for deal in found), default=identifiers.EPOCH)
    if request.path.endswith(".json"):
        text, media_type = json.dumps(_json_feed(title, home, own, found), ensure_ascii=False), JSON_FEED
    else:
        entries = [_atom_entry(deal) for deal in found]
        at = to_iso(updated)
        text = render(
            "web_feeds/templates/feed.xml", title=xml_text(title), home=home, own=own, updated=at, entries=entries
        )
        media_type = ATOM
    return Answer(text, media_type=media_type, cache=pages.PUBLIC, headers={"Last-Modified": to_http(updated)})


def _atom_entry(deal: Deal) -> dict[str, str]:
    return {
        "id": f"urn:ksuid:{deal.deal_id}",
        "title": xml_text(_headline(deal)),
        "brand": xml_text(deal.brand_name),
        "category": CATEGORIES.get(deal.category, deal.category),
        "link": absolute(f"/deals/{deal.page_id}"),
        "at": to_iso(deal.created_at),
        "updated": to_iso(deal.changed_at),
        "summary": xml_text(views.summary(deal)),
    }


def _json_feed(title: str, home: str, own: str, found: Sequence[Deal]) -> dict[str, Any]:
    """A list as a JSON Feed: https://www.jsonfeed.org/version/1.1/."""
    return {
        "version": "https://jsonfeed.org/version/1.1",
        "title": title,
        "home_page_url": home,
        "feed_url": own,
        "items": [
            {
                "id": deal.deal_id,
                "url": absolute(f"/deals/{deal.page_id}"),
                "external_url": deal.link,
                "title": _headline(deal),
                "content_text": views.summary(deal),
                **({"image": image} if (image := views.image_address(deal)) else {}),
                "date_published": to_iso(deal.created_at),
                "date_modified": to_iso(deal.changed_at),
                "tags": [deal.category],
                "authors": [{"name": deal.brand_name}],
            }
            for deal in found
        ],
    }


def _headline(deal: Deal) -> str:
    return f"{isolated(deal.title)}: {views.money(deal.price, deal.currency)}"
