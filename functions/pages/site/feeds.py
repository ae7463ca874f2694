"""Pages for machines: Atom and JSON feeds of all deals, a brand, a category and a search; sitemaps and robots.txt."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from http import HTTPStatus
from itertools import accumulate
from typing import Any

from functions.pages.site.deal import summary
from functions.pages.site.listing import brand_named, for_machines, matching, moved
from shared import features
from shared.data.catalog import feed_counts, feeds, topics
from shared.errors import NoSuchTopic, NotFound
from shared.html import fragments, pages, views
from shared.html.app import Routes
from shared.html.fragments import path_of
from shared.html.links import absolute, link, origin
from shared.html.pages import Answer, Request
from shared.html.views import render, xml_text
from shared.http import answers
from shared.models.catalog import ALL_DEALS, BRAND, CATEGORIES, CATEGORY, Deal, Topic, feed_of
from shared.runtime.environment import table
from shared.values import identifiers
from shared.values.times import to_http, to_iso

ATOM = "application/atom+xml; charset=utf-8"
JSON_FEED = "application/feed+json; charset=utf-8"

ENTRIES = 50
"""Deals of a feed."""

routes = Routes()


@routes.get("/feed.atom", "/feed.json")
def feed(request: Request) -> Answer:
    typed = request.query.get("q", "").strip()
    if typed:
        shown = matching(typed, request.now)
        return _feed(request, f"{typed} · Big Time Deals", "/search", shown, q=typed)
    latest = feeds.read(table(), ALL_DEALS, limit=ENTRIES, now=request.now)
    return _feed(request, "Big Time Deals", "/", latest.items)


@routes.get("/brands/<name>/feed.atom", "/brands/<name>/feed.json")
def brand_feed(request: Request, name: str) -> Answer:
    try:
        topic = brand_named(name)
        found, held = feeds.open_feed(table(), topic)
    except NotFound as error:
        return _no_feed(request, error)
    return _topic_feed(request, topic, name, found.name, held)


@routes.get("/categories/<name>/feed.atom", "/categories/<name>/feed.json")
def category_feed(request: Request, name: str) -> Answer:
    topic = Topic(CATEGORY, name.lower())
    if topic.slug not in CATEGORIES:
        return _no_feed(request, NoSuchTopic(CATEGORY.label, name[:100]))
    return _topic_feed(request, topic, name, CATEGORIES[topic.slug])


def _topic_feed(
    request: Request, topic: Topic, typed: str, name: str, held: feeds.PeriodCounts | None = None
) -> Answer:
    """The feed of a brand or a category that exists; where something else than its slug was typed, the way there."""
    path = fragments.path_of(feed_of(topic))
    if typed != topic.slug:
        return moved(f"{path}/{request.path.rpartition('/')[2]}")
    latest = feeds.read(table(), feed_of(topic), limit=ENTRIES, now=request.now, held=held)
    return _feed(request, f"{name} · Big Time Deals", path, latest.items)


def _no_feed(request: Request, error: NotFound) -> Answer:
    """The answer for an unknown feed, readable by machines: https://www.rfc-editor.org/rfc/rfc9457, also in XML
    (appendix B)."""
    status = HTTPStatus.NOT_FOUND
    if request.path.endswith(".json"):
        text, media_type = json.dumps(answers.document(status, str(error))), answers.MEDIA_TYPE
    else:
        text = render("problem.xml", **answers.document(status, xml_text(str(error))))
        media_type = "application/problem+xml"
    return Answer(text, status=status, media_type=media_type, cache=pages.PUBLIC)


def _feed(request: Request, title: str, path: str, found: Sequence[Deal], **query: str) -> Answer:
    """A list as a feed, in the format that its address ends with."""
    home, own = absolute(path, **query), absolute(request.path, **query)
    updated = max((deal.changed_at for deal in found), default=identifiers.EPOCH)
    if request.path.endswith(".json"):
        text, media_type = json.dumps(_json_feed(title, home, own, found), ensure_ascii=False), JSON_FEED
    else:
        entries = [_atom_entry(deal) for deal in found]
        text = render("feed.xml", title=xml_text(title), home=home, own=own, updated=to_iso(updated), entries=entries)
        media_type = ATOM
    return Answer(text, media_type=media_type, cache=pages.PUBLIC, headers={"Last-Modified": to_http(updated)})


def _atom_entry(deal: Deal) -> dict[str, str]:
    return {
        "id": f"urn:ksuid:{deal.deal_id}",
        "title": xml_text(_headline(deal)),
        "brand": xml_text(deal.brand_name),
        "category": CATEGORIES.get(deal.category, deal.category),
        "link": absolute(f"/deals/{views.number(deal)}"),
        "at": to_iso(deal.created_at),
        "updated": to_iso(deal.changed_at),
        "summary": xml_text(summary(deal)),
    }


def _json_feed(title: str, home: str, own: str, found: Sequence[Deal]) -> dict[str, Any]:
    """A list as https://www.jsonfeed.org/version/1.1/ has it."""
    return {
        "version": "https://jsonfeed.org/version/1.1",
        "title": title,
        "home_page_url": home,
        "feed_url": own,
        "items": [
            {
                "id": deal.deal_id,
                "url": absolute(f"/deals/{views.number(deal)}"),
                "external_url": deal.link,
                "title": _headline(deal),
                "content_text": summary(deal),
                **({"image": picture} if (picture := views.picture_address(deal)) else {}),
                "date_published": to_iso(deal.created_at),
                "date_modified": to_iso(deal.changed_at),
                "tags": [deal.category],
                "authors": [{"name": deal.brand_name}],
            }
            for deal in found
        ],
    }


def _headline(deal: Deal) -> str:
    return f"{deal.title}: {views.money(deal.price, deal.currency)}"


MOST_MAPPED = 20_000
"""Deals of a month's sitemap, the newest: no more than fit an answer of Lambda's, which is 6 MB at most.

https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html"""

XML = "application/xml; charset=utf-8"


@routes.get("/sitemap.xml")
def sitemap(_request: Request) -> Answer:
    months = {day[:7] for day, count in feed_counts.counts(table(), ALL_DEALS).items() if count > 0}
    return for_machines(render("sitemap-index.xml", months=sorted(months, reverse=True)), XML)


@routes.get("/sitemap-pages.xml")
def sitemap_of_pages(_request: Request) -> Answer:
    """The front page, and the pages of categories and brands. An address of theirs has at most a hundred bytes, and all
    brands fit one item of 400 KB: so they fit one map (https://www.sitemaps.org/protocol.html)."""
    listed = [Topic(CATEGORY, slug) for slug in CATEGORIES] + [
        Topic(BRAND, slug) for slug in topics.brand_names(table())
    ]
    paths = ["/", "/deals", "/ending", "/editors-choice", "/brands", *(path_of(feed_of(topic)) for topic in listed)]
    return for_machines(render("sitemap.xml", pages=[(path, None) for path in paths]), XML)


@routes.get("/sitemap-<month>.xml")
def sitemap_of_month(_request: Request, month: str) -> Answer:
    if not re.fullmatch("[0-9]{4}-[0-9]{2}", month):
        raise NotFound("This is not a month.")
    counts = feed_counts.counts(table(), ALL_DEALS, most=1, until=f"{month}-31")
    days = sorted((day for day, count in counts.items() if day[:7] == month and count > 0), reverse=True)
    if not days:
        raise NotFound("No deals of that month are listed.")
    newer = accumulate((counts[day] for day in days), initial=0)
    newest = [day for day, deals_before in zip(days, newer, strict=False) if deals_before < MOST_MAPPED]
    found = feeds.of_periods(table(), ALL_DEALS, newest, most=MOST_MAPPED)
    listed = [(f"/deals/{views.number(deal)}", to_iso(deal.changed_at)) for deal in found[:MOST_MAPPED]]
    return for_machines(render("sitemap.xml", pages=listed), XML)


@routes.get("/robots.txt")
def robots(_request: Request) -> Answer:
    private = ("/my/", "/account", "/desk", *features.paths("private"), "/go/")
    lines = ["User-agent: *", *(f"Disallow: {link(path)}" for path in private)]
    if origin():
        lines.append(f"Sitemap: {absolute('/sitemap.xml')}")
    return for_machines("\n".join(lines) + "\n", "text/plain; charset=utf-8")
