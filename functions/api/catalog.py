"""What anyone may read: the pages, the feeds, single deals, brands, categories - and the documentation of the API.

This function cannot write. It imports neither pydantic nor Tracer, so it starts fast.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import aws_lambda_powertools
from aws_lambda_powertools.event_handler import Response

from shared import settings
from shared.api import documents
from shared.api.app import create_app, serve
from shared.api.documentation import PAGED, describe
from shared.api.documents import compact
from shared.data.catalog import brands, caches, deals, featured, feeds, topics
from shared.data.catalog.caches import NEWEST, Cached
from shared.http.caching import public
from shared.http.parameters import paging, segment, topic_named
from shared.models import ALL_DEALS, BRAND, CATEGORIES, CATEGORY, EDITORS_CHOICE, FRONT_PAGE, Topic, feed_of
from shared.runtime import metrics
from shared.runtime.environment import table
from shared.runtime.reporting import report
from shared.values import times

OPENAPI = Path(__file__).with_name("openapi.json")
SWAGGER_UI = Path(aws_lambda_powertools.__file__).parent / "event_handler" / "openapi" / "swagger_ui"

FIRST_PAGE = {"limit": settings.CACHED_PAGE, "cursor": None}

app = create_app()


@app.get("/front-page", **describe("The front page and the latest deals", "FrontPage", query=PAGED, cached=True))
def front_page() -> Response[Any]:
    now, wanted = times.now(), paging(app)
    picked, latest = cached([Cached(FRONT_PAGE), NEWEST], now, usable=wanted == FIRST_PAGE)
    if picked is None:
        picked = compact(documents.deals(featured.read(table(), FRONT_PAGE, now), now))
    if latest is None:
        latest = compact(documents.feed(feeds.read(table(), ALL_DEALS, now=now, **wanted), now))
    return public(app, f'{{"featured":{picked},"latest":{latest}}}')


@app.get("/editors-choice", **describe("The editor's choice", "EditorsChoice", cached=True))
def editors_choice() -> Response[Any]:
    now = times.now()
    (picked,) = cached([Cached(EDITORS_CHOICE)], now)
    if picked is None:
        picked = compact(documents.deals(featured.read(table(), EDITORS_CHOICE, now), now))
    return public(app, f'{{"featured":{picked}}}')


@app.get("/deals", **describe("Latest deals", "DealList", query=PAGED, cached=True))
def latest_deals() -> Response[Any]:
    now, wanted = times.now(), paging(app)
    (latest,) = cached([NEWEST], now, usable=wanted == FIRST_PAGE)
    if latest is None:
        latest = compact(documents.feed(feeds.read(table(), ALL_DEALS, now=now, **wanted), now))
    return public(app, latest)


@app.get("/deals/<deal_id>", **describe("One deal, by its id or number", "Deal", errors=[404], cached=True))
def one_deal(deal_id: str) -> Response[Any]:
    return public(app, compact(documents.deal(deals.find(table(), segment(deal_id)), times.now())))


@app.get("/brands", **describe("All brands", "BrandList", cached=True))
def all_brands() -> Response[Any]:
    names = brands.names(table())
    return public(app, compact(documents.all_of({"brand": slug, "name": name} for slug, name in names.items())))


@app.get(
    "/brands/<brand>",
    **describe("A brand and its latest deals", "BrandPage", errors=[404], query=PAGED, cached=True),
)
def brand_page(brand: str) -> Response[Any]:
    now = times.now()
    page = topics.get(table(), topic_named(BRAND, brand))
    document = {**documents.topic(page), "latest": _latest(page.topic, now=now, periods=page.periods)}
    return public(app, compact(document))


@app.get(
    "/brands/<brand>/deals",
    **describe("Latest deals of a brand", "DealList", errors=[404], query=PAGED, cached=True),
)
def brand_deals(brand: str) -> Response[Any]:
    return public(app, compact(_latest(topic_named(BRAND, brand), now=times.now())))


@app.get("/categories", **describe("The eight categories", "CategoryList", cached=True))
def all_categories() -> Response[Any]:
    return public(app, compact(documents.all_of(map(documents.category, CATEGORIES))))


@app.get(
    "/categories/<category>",
    **describe("A category and its latest deals", "CategoryPage", errors=[404], query=PAGED, cached=True),
)
def category_page(category: str) -> Response[Any]:
    now, topic = times.now(), topic_named(CATEGORY, category)
    if paging(app) == FIRST_PAGE:
        counts, text = caches.read_category(table(), topic, shard=any_shard(), now=now)
        count_hits([text])
        if counts is not None and text is not None:
            picked, latest = text.split(caches.SEPARATOR)
            return public(app, f'{compact(documents.topic(counts))[:-1]},"featured":{picked},"latest":{latest}}}')
    page = topics.get(table(), topic)
    document = {
        **documents.topic(page),
        "featured": documents.deals(featured.active(page.featured, now), now),
        "latest": _latest(topic, now=now, periods=page.periods),
    }
    return public(app, compact(document))


@app.get(
    "/categories/<category>/deals",
    **describe("Latest deals of a category", "DealList", errors=[404], query=PAGED, cached=True),
)
def category_deals(category: str) -> Response[Any]:
    now, topic = times.now(), topic_named(CATEGORY, category)
    (text,) = cached([Cached(topic)], now, usable=paging(app) == FIRST_PAGE)
    return public(app, text.split(caches.SEPARATOR)[1] if text is not None else compact(_latest(topic, now=now)))


@app.get("/openapi.json", **describe("This document", "OpenApi", cached=True))
def openapi() -> Response[Any]:
    return public(app, OPENAPI.read_text(encoding="utf-8"))


@app.get("/docs", **describe("This document, to read and to try out", "Html", cached=True, media_type="text/html"))
def docs() -> Response[Any]:
    style = (SWAGGER_UI / "swagger-ui.min.css").read_text(encoding="utf-8")
    script = (SWAGGER_UI / "swagger-ui-bundle.min.js").read_text(encoding="utf-8")
    return public(app, DOCS_PAGE % {"style": style, "script": script}, "text/html; charset=utf-8")


DOCS_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Big Time Deals: the API</title>
<style>%(style)s</style>
<div id="docs"></div>
<script>%(script)s</script>
<script>SwaggerUIBundle({url: "openapi.json", dom_id: "#docs", deepLinking: true})</script>
</html>
"""


def cached(parts: Sequence[Cached], now: datetime, *, usable: bool = True) -> list[str | None]:
    """The cached texts of some parts in one round trip, each None where it must be made from the indexes."""
    if not usable:
        return [None] * len(parts)
    texts = caches.read(table(), parts, shard=any_shard(), now=now)
    count_hits(texts)
    return texts


def count_hits(texts: Sequence[str | None]) -> None:
    """Count how many of the copies that were asked for could be used."""
    misses = texts.count(None)
    if misses:
        report(metrics.CACHE_MISSES, misses)
    if misses < len(texts):
        report(metrics.CACHE_HITS, len(texts) - misses)


def any_shard() -> int:
    """One of the cache's shards, so that readers spread over them."""
    return secrets.randbelow(settings.CACHE_SHARDS) + 1


def _latest(topic: Topic, **how: Any) -> documents.Json:
    """A page of a brand's or category's feed."""
    return documents.feed(feeds.read(table(), feed_of(topic), **how, **paging(app)), how["now"])


handler = serve(app)
