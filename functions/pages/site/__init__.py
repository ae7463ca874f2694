"""Public pages: the front page, lists of all deals and the site's own files.

Other modules here have the pages of a deal, a category, a brand and a search. All are the same for everyone: this
function reads no cookie and can't write.
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date

from functions.pages.site import deal, listing
from functions.pages.site.listing import (
    cursor_of,
    feed_addresses,
    latest_of,
    list_page,
    older_of,
    public_page,
    selected_page,
    selection_of,
)
from shared import features, hooks
from shared.data.catalog import feeds, page_cache, picks, sorting
from shared.data.catalog.bargains import BARGAINS, Counts
from shared.data.catalog.page_cache import EDITORS_CHOICE_PICKS, FRONT_PAGE_PICKS, HTML, NEWEST
from shared.errors import NotFound
from shared.html import fragments, links, pages, views
from shared.html.links import base, link
from shared.html.pages import Answer, Request, Routes, serve
from shared.html.views import render
from shared.http import cached_pages
from shared.models.catalog import ALL_DEALS, CATEGORIES, EDITORS_CHOICE, FRONT_PAGE, Deal, Selection, Sort
from shared.runtime.environment import table

SELECTED = 24
"""Cards on a page of all categories' deals in another order."""

HALF = 50
"""The discount in percent that counts as half price."""

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
        figures=figures,
        bargains=_bargains(front.counts()),
        picks=fragments.placed(front.picks),
        beside=fragments.placed(front.beside),
        latest=fragments.placed(latest),
        description="Hand-picked deals, by day, by brand and by category.",
        feed=feed_addresses(),
    )


def _bargains(counts: Counts | None) -> list[dict[str, str]]:
    """The front page's links to bargains, each with its number of deals, as far as it is known; not to empty lists."""
    shown = [{"name": name, "address": link("/deals", **listing.query_of(of))} for name, of in BARGAINS.items()]
    for each, (number, is_all) in zip(shown, counts.numbers if counts else (), strict=False):
        each |= {"count": f"{number}{'' if is_all else '+'}", "spoken": listing.how_many(number, is_all=is_all)}
    return [each for each in shown if each.get("count") != "0"]


@routes.get("/deals")
def latest_deals(request: Request) -> Answer:
    cursor, now = cursor_of(request), request.now
    selection = replace(selection_of(request), brand=None)
    if not selection.is_all or listing.wrong_prices(request):
        return _selected(request, selection)
    if cursor is None:
        (newest,) = cached_pages.read([NEWEST], now, HTML)
        latest = (newest.latest if newest else None) or latest_of(ALL_DEALS, now)
    else:
        latest = older_of(ALL_DEALS, now, cursor)
    return list_page(
        "latest.html",
        request,
        latest=fragments.placed(latest),
        description="All deals by day, newest first.",
        feed=feed_addresses(),
    )


def _selected(request: Request, selection: Selection) -> Answer:
    """A page of the selected deals of all categories."""
    cursor = cursor_of(request)
    most = SELECTED if selection.lowest else listing.READ_SORTED
    found = sorting.of_all(table(), selection, limit=most, now=request.now, cursor=cursor)
    items = found.page.items
    deals = items[: views.first_groups(items, SELECTED, under=None)]
    # If not everything found is shown, the next page begins with the rest.
    more = sorting.cursor_in_all(selection, deals[-1]) if len(deals) < len(items) else found.page.next
    shown = sorting.opened_in_settings(selection)
    said = listing.sentence(shown)
    asked = listing.query_of(shown)
    of = "60-day lows" if shown.lowest else "deals"
    which = "next" if cursor and shown.sort is Sort.NEWEST else "newest"
    remark = f"From the {which} {found.looked} {of} only." if found.looked else ""
    return selected_page(
        request,
        name=_named(selection),
        count=listing.how_many(len(items), is_all=found.page.next is None) if cursor is None and items else "",
        remark=remark,
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
        more=listing.MORE[shown.sort],
        all=link("/deals"),
        chips=listing.chips("/deals", selection, currency=shown.currency),
        feed=feed_addresses(),
        description=f"Deals of all categories. {said}.",
    )


def _named(selection: Selection) -> str:
    if selection.lowest:
        return listing.LOWEST
    return "Half price or less" if selection.discount == HALF else "All deals"


@routes.get("/ending")
def ending(request: Request) -> Answer:
    cursor, now = cursor_of(request), request.now
    found = feeds.upcoming(table(), now, days=ENDING_DAYS, most=MOST_ENDING, cursor=cursor)
    days: dict[date, list[Deal]] = {}
    for each in found.items:
        days.setdefault((each.ends_at or now).date(), []).append(each)
    return list_page(
        "ending.html",
        request,
        days=[
            {"name": views.long_day(day), "remark": "today" if day == now.date() else "", "cards": views.cards(of, now)}
            for day, of in days.items()
        ],
        more=found.next,
        description=f"Deals that end within {ENDING_DAYS} days, by their last day.",
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
    return _for_machines(json.dumps(document), "application/manifest+json")


@routes.get("/opensearch.xml")
def opensearch(_request: Request) -> Answer:
    return _for_machines(render("opensearch.xml"), "application/opensearchdescription+xml")


@routes.get("/assets/<name>")
def asset(_request: Request, name: str) -> Answer:
    found = links.asset(name)
    if found is None:
        raise NotFound("There is no such file.")
    content, media_type = found
    # Text is sent as text: without Accept, the gateway would send bytes in base64.
    body = content if media_type.startswith("font/") else content.decode()
    return Answer(body, media_type=media_type, cache=pages.IMMUTABLE)


def _for_machines(text: str, media_type: str) -> Answer:
    """A slowly changing text for machines."""
    return Answer(text, media_type=media_type, cache=pages.FOR_A_DAY)


def _add(shown: hooks.DealList) -> None:
    """Add the page of a feature's list of deals."""

    @routes.get(shown.path)
    def deals_of_feature(request: Request) -> Answer:
        cursor, now = cursor_of(request), request.now
        found = shown.read(table(), now, limit=shown.size, cursor=cursor)
        return list_page(
            shown.template,
            request,
            cards=views.cards_of_list(found.items, now),
            more=found.next,
            description=shown.description,
        )


for of in features.roles(hooks.Lists):
    for each in of.LISTS:
        _add(each)

handler = serve(routes, deal.routes, listing.routes, *pages.routes_of(features.roles(hooks.Site)), public=True)
