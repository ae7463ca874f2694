"""Pages for crawlers: sitemaps of all listed deals, and the paths that crawlers leave out."""

from __future__ import annotations

import re
from itertools import accumulate

from shared import features, hooks
from shared.data.catalog import feed_counts, feeds, topics
from shared.errors import NotFound
from shared.html import pages
from shared.html.fragments import path_of
from shared.html.links import absolute, link, origin
from shared.html.pages import Answer, Request, Routes
from shared.html.views import render
from shared.models.catalog import ALL_DEALS, BRAND, CATEGORIES, CATEGORY, Topic, feed_of
from shared.runtime.environment import table
from shared.values.times import to_iso

routes = Routes()

MOST_MAPPED = 20_000
"""The newest deals of a month in a sitemap, as many as fit Lambda's answer of 6 MB.
https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html"""

XML = "application/xml; charset=utf-8"


@routes.get("/sitemap.xml")
def sitemap(_request: Request) -> Answer:
    months = {day[:7] for day, count in feed_counts.counts(table(), ALL_DEALS).items() if count > 0}
    return _text(render("crawlers/templates/sitemap-index.xml", months=sorted(months, reverse=True)), XML)


@routes.get("/sitemap-pages.xml")
def sitemap_of_pages(_request: Request) -> Answer:
    """The front page, and the pages of categories and brands. Addresses have at most a hundred bytes and all brands fit
    one item of 400 KB, so one sitemap holds them (https://www.sitemaps.org/protocol.html)."""
    listed = [Topic(CATEGORY, slug) for slug in CATEGORIES] + [
        Topic(BRAND, slug) for slug in topics.brand_names(table())
    ]
    paths = ["/", "/deals", "/ending", "/editors-choice", "/brands", *(path_of(feed_of(topic)) for topic in listed)]
    return _text(render("crawlers/templates/sitemap.xml", pages=[(path, None) for path in paths]), XML)


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
    listed = [(f"/deals/{deal.page_id}", to_iso(deal.changed_at)) for deal in found[:MOST_MAPPED]]
    return _text(render("crawlers/templates/sitemap.xml", pages=listed), XML)


@routes.get("/robots.txt")
def robots(_request: Request) -> Answer:
    private = (path for each in features.roles(hooks.Navigation) for path in each.PRIVATE_PATHS)
    lines = ["User-agent: *", *(f"Disallow: {link(path)}" for path in private)]
    if origin():
        lines.append(f"Sitemap: {absolute('/sitemap.xml')}")
    return _text("\n".join(lines) + "\n", "text/plain; charset=utf-8")


def _text(text: str, media_type: str) -> Answer:
    return Answer(text, media_type=media_type, cache=pages.FOR_A_DAY)
