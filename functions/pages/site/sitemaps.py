"""For crawlers: sitemaps by month, and robots.txt."""

from __future__ import annotations

import re
from itertools import accumulate

from functions.pages.site.public import for_machines
from shared.data.catalog import feed_counts, feeds, topics
from shared.errors import NotFound
from shared.html import views
from shared.html.app import Routes
from shared.html.fragments import path_of
from shared.html.links import absolute, link, origin
from shared.html.pages import Answer, Request
from shared.html.templates import render
from shared.models.catalog import ALL_DEALS, BRAND, CATEGORIES, CATEGORY, Topic, feed_of
from shared.runtime.environment import table
from shared.values.times import to_iso

MOST_MAPPED = 20_000
"""Deals of a month's sitemap, the newest: no more than fit an answer of Lambda's, which is 6 MB at most.

https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html"""

XML = "application/xml; charset=utf-8"


routes = Routes()


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
    lines = ["User-agent: *", *(f"Disallow: {link(path)}" for path in ("/my/", "/account", "/desk", "/shop/", "/go/"))]
    if origin():
        lines.append(f"Sitemap: {absolute('/sitemap.xml')}")
    return for_machines("\n".join(lines) + "\n", "text/plain; charset=utf-8")
