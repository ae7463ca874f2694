"""Pages that anyone may read: here the front page, the newest deals, those that end, the popular ones, the editors'
choice and the site's own files, beside deals, categories, brands, search and feeds.

These pages are one and the same for everyone: this function reads no cookie and cannot write.
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date

from functions.pages.site import deal, feeds, listing
from functions.pages.site.listing import (
    cursor_of,
    feed_addresses,
    for_machines,
    latest_of,
    older_of,
    public_page,
    selection_of,
)
from shared import features, settings
from shared.data.catalog import endings, page_cache, picks, scores, sorting
from shared.data.catalog.page_cache import EDITORS_CHOICE_PICKS, FRONT_PAGE_PICKS, HTML, NEWEST
from shared.errors import NotFound
from shared.html import fragments, links, pages, views
from shared.html.app import Routes, serve
from shared.html.links import base, link
from shared.html.pages import Answer, Request
from shared.html.views import render
from shared.http import cached_pages
from shared.models.catalog import ALL_DEALS, CATEGORIES, EDITORS_CHOICE, FRONT_PAGE, Deal, Selection, Sort
from shared.runtime.environment import table

SELECTED = 24
"""Cards of the deals of all categories in another order."""

HALF = 50
"""The discount in percent from which a deal is half price or less."""

ENDING_DAYS = 7
MOST_ENDING = 100

routes = Routes()


@routes.get("/")
def front_page(request: Request) -> Answer:
    now = request.now
    picked, newest = cached_pages.read([FRONT_PAGE_PICKS, NEWEST], now, HTML)
    if picked and picked.picks is not None:
        front = fragments.Front.of(picked.picks)
    else:
        front = fragments.front(picks.read(table(), FRONT_PAGE, now), page_cache.read_today(table(), now), now)
    latest = (newest.latest if newest else latest_of(ALL_DEALS, now)) or ""
    latest, new = fragments.under_masthead(latest, views.long_day(now))
    latest = fragments.without(latest, front.picks) if front.picks else fragments.enlarge_first_card(latest)
    ends = f"{front.ends:,} {'ends' if front.ends == 1 else 'end'} within a day" if front.ends else ""
    figures = [*filter(None, (new.replace("deal", "new deal"), ends))]
    return public_page(
        "front.html",
        request,
        day=views.long_day(now),
        deals_of={slug: f"{count:,}" if (count := front.counts.get(slug)) else "" for slug in CATEGORIES},
        figures=figures,
        picks=fragments.placed(front.picks),
        beside=fragments.placed(front.beside),
        latest=fragments.placed(latest),
        description="Deals picked by hand, all of them by day, by brand and by category.",
        feed=feed_addresses("/feed"),
    )


@routes.get("/deals")
def latest_deals(request: Request) -> Answer:
    cursor, now = cursor_of(request), request.now
    selection = replace(selection_of(request), brand=None)
    if not selection.is_all:
        return _selected(request, selection)
    if cursor is None:
        (newest,) = cached_pages.read([NEWEST], now, HTML)
        latest = (newest.latest if newest else None) or latest_of(ALL_DEALS, now)
    else:
        latest = older_of(ALL_DEALS, now, cursor)
    return public_page(
        "latest.html",
        request,
        latest=fragments.placed(latest),
        first=cursor is None,
        description="All deals by day, newest first.",
        feed=feed_addresses("/feed"),
        robots=None if cursor is None else "noindex, follow",
    )


def _selected(request: Request, selection: Selection) -> Answer:
    """The deals of all categories that are selected; by price or by discount the first, and each category's list goes
    on."""
    cursor = cursor_of(request)
    found = sorting.of_all(table(), selection, limit=SELECTED, now=request.now, cursor=cursor)
    more = found.page.next
    deals = found.page.items[: views.first_groups(found.page.items, SELECTED, under=None)]
    shown = sorting.opened_in_settings(selection)
    said = listing.sentence(shown)
    asked = listing.query_of(shown)
    return public_page(
        "selected.html",
        request,
        name=_named(selection),
        topic=None,
        remark=f"{said}. {_among(shown.sort, found.looked, cursor)}" if found.looked is not None else said,
        order=said,
        narrowing=listing.above(
            "/deals",
            selection,
            among=[
                {"name": name, "address": link(f"/categories/{slug}", **asked), "current": False}
                for slug, name in CATEGORIES.items()
            ],
            opened=shown,
        ),
        cards=views.cards(deals, request.now),
        next=link("/deals", **asked, cursor=more) if more else None,
        more=listing.MORE[Sort.NEWEST] if shown.sort is Sort.NEWEST else "",
        all=link("/deals"),
        chips=listing.chips("/deals", selection),
        alert=None,
        partly=[],
        first=cursor is None,
        feed=feed_addresses("/feed"),
        robots="noindex, follow",
        description=f"Deals of all categories. {said}.",
    )


def _named(selection: Selection) -> str:
    if selection.lowest:
        return listing.LOWEST
    return "Half price or less" if selection.discount == HALF else "All deals"


def _among(sort: Sort, looked: int, cursor: str | None) -> str:
    """The list that some deals of all categories come from, where there are more."""
    if sort is Sort.NEWEST:
        return f"Only of the {'next' if cursor else 'newest'} {looked} deals."
    return f"Only of the {looked} {'cheapest' if sort is Sort.CHEAPEST else 'biggest discounts'} of each category."


@routes.get("/ending")
def ending(request: Request) -> Answer:
    cursor, now = cursor_of(request), request.now
    found = endings.upcoming(table(), now, days=ENDING_DAYS, most=MOST_ENDING, cursor=cursor)
    days: dict[date, list[Deal]] = {}
    for each in found.items:
        days.setdefault((each.ends_at or now).date(), []).append(each)
    return public_page(
        "ending.html",
        request,
        days=[
            {"name": views.long_day(day), "remark": "today" if day == now.date() else "", "cards": views.cards(of, now)}
            for day, of in days.items()
        ],
        more=found.next,
        description=f"Deals that end within {ENDING_DAYS} days, by their last day.",
        robots=None if cursor is None else "noindex, follow",
    )


@routes.get("/popular")
def popular(request: Request) -> Answer:
    cursor, now = cursor_of(request), request.now
    found = scores.popular(table(), now, limit=settings.CACHED_PAGE, cursor=cursor)
    return public_page(
        "popular.html",
        request,
        cards=[views.card(each.deal, now) | {"score": views.score(each.shown(now))} for each in found.items],
        first=cursor is None,
        more=found.next,
        description="The deals that readers vote for, of this month and the one before.",
        robots=None if cursor is None else "noindex, follow",
    )


@routes.get("/editors-choice")
def editors_choice(request: Request) -> Answer:
    (picked,) = cached_pages.read([EDITORS_CHOICE_PICKS], request.now, HTML)
    found = picked.picks if picked else None
    if found is None:
        found = fragments.picks(picks.read(table(), EDITORS_CHOICE, request.now), request.now)
    description = "The deals that our editors would buy themselves."
    return public_page("choice.html", request, picks=fragments.placed(found), description=description)


@routes.get("/about")
def about(request: Request) -> Answer:
    return public_page("about.html", request, description="What Big Time Deals is, and how to follow it.")


@routes.get("/site.webmanifest")
def manifest(_request: Request) -> Answer:
    icon = {"src": f"{base()}/assets/{links.served_name('mark.svg')}", "sizes": "any", "type": "image/svg+xml"}
    document = {
        "name": "Big Time Deals",
        "short_name": "Deals",
        "start_url": link("/"),
        "display": "minimal-ui",
        "background_color": "#f6f2e9",
        "theme_color": "#16140f",
        "icons": [icon],
    }
    return for_machines(json.dumps(document), "application/manifest+json")


@routes.get("/opensearch.xml")
def opensearch(_request: Request) -> Answer:
    return for_machines(render("opensearch.xml"), "application/opensearchdescription+xml")


@routes.get("/assets/<name>")
def asset(_request: Request, name: str) -> Answer:
    found = links.asset(name)
    if found is None:
        raise NotFound("There is no such file.")
    content, media_type = found
    # Text goes out as text: without Accept, the gateway would send bytes in base64.
    body = content if media_type.startswith("font/") else content.decode()
    return Answer(body, media_type=media_type, cache=pages.IMMUTABLE)


handler = serve(routes, deal.routes, listing.routes, feeds.routes, *features.joining("site"), public=True)
