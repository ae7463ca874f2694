"""Public routes: pages, feeds, deals, brands, categories, and the API's documentation.

This function can't write. It imports neither pydantic nor Tracer, so that it starts fast.
"""

from __future__ import annotations

import base64
import hashlib
from datetime import datetime
from itertools import starmap
from pathlib import Path
from typing import Any

import aws_lambda_powertools
from aws_lambda_powertools.event_handler import Response

from shared import features, hooks, settings
from shared.api import documents
from shared.api.app import PAGED, create_app, describe, include, preflight, serve
from shared.api.documents import compact
from shared.data.catalog import deals, feeds, picks, selecting, sorting, topics
from shared.data.catalog.page_cache import CATEGORY_PAGES, EDITORS_CHOICE_PICKS, FRONT_PAGE_PICKS, NEWEST, Cached, Copy
from shared.errors import BadRequest
from shared.http import cached_pages
from shared.http.answers import public
from shared.http.requests import SELECTING, paging, selection, topic_named
from shared.models.catalog import (
    ALL_DEALS,
    BRAND,
    CATEGORIES,
    CATEGORY,
    EDITORS_CHOICE,
    FRONT_PAGE,
    Feed,
    Selection,
    Topic,
    feed_of,
)
from shared.runtime.environment import table
from shared.values import naming, times

OPENAPI, DOCS = (Path(__file__).with_name(name) for name in ("openapi.json", "docs.html"))
SWAGGER_UI = Path(aws_lambda_powertools.__file__).parent / "event_handler" / "openapi" / "swagger_ui"

FIRST_PAGE = {"limit": settings.CACHED_PAGE, "cursor": None}

app = create_app()


@app.get("/front-page", **describe("Get the front page and the latest deals", "FrontPage", query=PAGED, cached=True))
def front_page() -> Response[Any]:
    now, wanted = times.now(), paging(app)
    picked, newest = cached_pages.read([FRONT_PAGE_PICKS, NEWEST], now) if wanted == FIRST_PAGE else (None, None)
    featured = picked.picks if picked else compact(documents.deals(picks.read(table(), FRONT_PAGE, now), now))
    latest = newest.latest if newest else compact(_feed(ALL_DEALS, now=now))
    return public(app, f'{{"featured":{featured},"latest":{latest}}}')


@app.get("/editors-choice", **describe("Get the editor's choice", "EditorsChoice", cached=True))
def editors_choice() -> Response[Any]:
    now = times.now()
    (picked,) = cached_pages.read([EDITORS_CHOICE_PICKS], now)
    featured = picked.picks if picked else compact(documents.deals(picks.read(table(), EDITORS_CHOICE, now), now))
    return public(app, f'{{"featured":{featured}}}')


@app.get(
    "/deals",
    **describe("List the latest deals, or search them", "FoundDeals", query=(*PAGED, "q", *SELECTING), cached=True),
)
def latest_deals() -> Response[Any]:
    typed, asked = app.current_event.get_query_string_value("q", None), _selection()
    if typed is None and not asked.is_all:
        raise BadRequest("All deals can be listed by time only: name a brand, a category, or words.", "q")
    return public(app, _newest(NEWEST, ALL_DEALS) if typed is None else compact(_found(typed, asked)))


@app.get("/deals/<deal_id>", **describe("Get a deal by its id or number", "Deal", errors=[404], cached=True))
def one_deal(deal_id: str) -> Response[Any]:
    deal, now = deals.find(table(), deal_id), times.now()
    modified = {"Last-Modified": times.to_http(deal.seen_changing_at(now))}
    return public(app, compact(documents.deal(deal, now)), more=modified)


@app.get("/brands", **describe("List all brands", "BrandList", cached=True))
def all_brands() -> Response[Any]:
    names = topics.brand_names(table())
    return public(app, compact(documents.all_of(starmap(documents.brand, names.items()))))


@app.get(
    "/brands/<brand>",
    **describe("Get a brand and its latest deals", "BrandPage", errors=[404], query=PAGED, cached=True),
)
def brand_page(brand: str) -> Response[Any]:
    now, topic = times.now(), _brand_named(brand)
    page = topics.get(table(), topic)
    return public(app, compact({**documents.topic(page), "latest": _feed(feed_of(topic), now=now)}))


@app.get(
    "/brands/<brand>/deals",
    **describe("List a brand's deals", "DealList", errors=[404], query=(*PAGED, *SELECTING[:-1]), cached=True),
)
def brand_deals(brand: str) -> Response[Any]:
    return public(app, _selected(_brand_named(brand), None))


def _brand_named(name: str) -> Topic:
    """The brand in a path; a name with a sign is looked up. Raises NoSuchTopic."""
    topic = topic_named(BRAND, name)
    has_sign = name != topic.slug and naming.without_signs(topic.slug)
    return topics.named(table(), name).topic if has_sign else topic


@app.get("/categories", **describe("List the eight categories", "CategoryList", cached=True))
def all_categories() -> Response[Any]:
    return public(app, compact(documents.all_of(map(documents.category, CATEGORIES))))


@app.get(
    "/categories/<category>",
    **describe("Get a category and its latest deals", "CategoryPage", errors=[404], query=PAGED, cached=True),
)
def category_page(category: str) -> Response[Any]:
    now, topic = times.now(), topic_named(CATEGORY, category)
    if paging(app) == FIRST_PAGE:
        counts, copy = cached_pages.read_category(topic, now)
        if copy is not None:
            parts = f'"featured":{copy.picks},"latest":{copy.latest}'
            return public(app, f"{compact(documents.topic(counts))[:-1]},{parts}}}")
    page = topics.get(table(), topic)
    document = {
        **documents.topic(page),
        "featured": documents.deals(picks.read(table(), topic, now), now),
        "latest": _feed(feed_of(topic), now=now),
    }
    return public(app, compact(document))


@app.get(
    "/categories/<category>/deals",
    **describe("List a category's deals", "DealList", errors=[404], query=(*PAGED, *SELECTING), cached=True),
)
def category_deals(category: str) -> Response[Any]:
    topic = topic_named(CATEGORY, category)
    return public(app, _selected(topic, CATEGORY_PAGES.get(topic.slug)))


@app.get("/openapi.json", **describe("Get this document", "OpenApi", cached=True))
def openapi() -> Response[Any]:
    return public(app, OPENAPI.read_text(encoding="utf-8"))


@app.get("/docs", **describe("Read and try this document in a browser", "Html", cached=True, media_type="text/html"))
def docs() -> Response[Any]:
    style = (SWAGGER_UI / "swagger-ui.min.css").read_text(encoding="utf-8")
    script = (SWAGGER_UI / "swagger-ui-bundle.min.js").read_text(encoding="utf-8")
    headers = {
        "Content-Security-Policy": DOCS_POLICY.format(" ".join(map(_hash_of, (script, DOCS_START)))),
        "X-Frame-Options": "DENY",
    }
    page = DOCS.read_text(encoding="utf-8") % {"style": style, "script": script, "start": DOCS_START}
    return public(app, page, "text/html; charset=utf-8", headers)


def _hash_of(script: str) -> str:
    """An inline script's source expression in a Content-Security-Policy."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


DOCS_POLICY = (
    "default-src 'none'; script-src {}; style-src 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The page runs its own two scripts, calls only this API, and can't be framed, with or without a proxy."""

DOCS_START = 'SwaggerUIBundle({url: "openapi.json", dom_id: "#docs", deepLinking: true})'


@app.route(".+", method="OPTIONS", include_in_schema=False)
def what_may_be_sent() -> Response[Any]:
    """Answer another site's preflight for any path. Deployed only if other sites are allowed."""
    return preflight()


def _selected(of: Topic, part: Cached | None) -> str:
    """A page of a topic's selected deals; ``part`` is the cached part with its newest deals, if any."""
    asked = _selection()
    if asked.is_all:
        return _newest(part, feed_of(of))
    now = times.now()
    return compact(documents.feed(sorting.read(table(), of, asked, now=now, **paging(app)).page, now))


def _selection() -> Selection:
    """The selection in a list's request. Raises BadRequest."""
    return selection({name: app.current_event.get_query_string_value(name, None) for name in SELECTING})


def _newest(part: Cached | None, feed: Feed) -> str:
    """A page of a feed, from the copy of ``part`` if that suffices."""
    now = times.now()
    copy: Copy | None = None
    if part is not None and paging(app) == FIRST_PAGE:
        (copy,) = cached_pages.read([part], now)
    return copy.latest if copy and copy.latest is not None else compact(_feed(feed, now=now))


def _found(typed: str, asked: Selection) -> documents.Json:
    """The requested page of a search."""
    now = times.now()
    shown = selecting.page(table(), typed, asked, now=now, **paging(app))
    if not shown.ran.terms:
        raise BadRequest("q must have a word of two characters or more, or a digit.", "q")
    return documents.found(shown, now)


def _feed(feed: Feed, *, now: datetime) -> documents.Json:
    """The requested page of a feed."""
    return documents.feed(feeds.read(table(), feed, now=now, **paging(app)), now)


def _add(shown: hooks.DealList) -> None:
    """Add the route of a feature's list of deals."""

    @app.get(shown.path, **describe(shown.summary, shown.schema, query=PAGED, cached=True))
    def deals_of_feature() -> Response[Any]:
        now = times.now()
        page = shown.read(table(), now, **paging(app))
        return public(app, compact(documents.page(page, lambda each: documents.listed(each, now))))


for of in features.roles(hooks.Lists):
    for each in of.LISTS:
        _add(each)

include(app, features.roles(hooks.Catalog))

handler = serve(app)
