"""Public pages: the front page, lists of all deals, feeds and the site's own files.

Other modules here have the pages of a deal, a category, a brand and a search. All are the same for everyone: this
function reads no cookie and can't write.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from http import HTTPStatus
from typing import Any

from functions.pages.site import deal, listing
from functions.pages.site.deal import summary
from functions.pages.site.listing import (
    brand_named,
    cursor_of,
    feed_addresses,
    latest_of,
    list_page,
    matching,
    moved,
    older_of,
    public_page,
    selected_page,
    selection_of,
)
from shared import features, hooks
from shared.data.catalog import feeds, page_cache, picks, sorting
from shared.data.catalog.bargains import BARGAINS, Counts
from shared.data.catalog.page_cache import EDITORS_CHOICE_PICKS, FRONT_PAGE_PICKS, HTML, NEWEST
from shared.errors import NoSuchTopic, NotFound
from shared.html import fragments, links, pages, views
from shared.html.links import absolute, base, link
from shared.html.pages import Answer, Request, Routes, serve
from shared.html.views import render, xml_text
from shared.http import answers, cached_pages
from shared.models.catalog import (
    ALL_DEALS,
    CATEGORIES,
    CATEGORY,
    EDITORS_CHOICE,
    FRONT_PAGE,
    Deal,
    Selection,
    Sort,
    Topic,
    feed_of,
)
from shared.runtime.environment import table
from shared.values import identifiers
from shared.values.directions import isolated
from shared.values.times import to_http, to_iso

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
        feed=feed_addresses("/feed"),
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
        feed=feed_addresses("/feed"),
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
        feed=feed_addresses("/feed"),
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


ATOM = "application/atom+xml; charset=utf-8"
JSON_FEED = "application/feed+json; charset=utf-8"

ENTRIES = 50
"""Deals in a feed."""


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
    """The feed of an existing brand or category; another spelling redirects to its slug."""
    path = fragments.path_of(feed_of(topic))
    if typed != topic.slug:
        return moved(f"{path}/{request.path.rpartition('/')[2]}")
    latest = feeds.read(table(), feed_of(topic), limit=ENTRIES, now=request.now, held=held)
    return _feed(request, f"{name} · Big Time Deals", path, latest.items)


def _no_feed(request: Request, error: NotFound) -> Answer:
    """The machine-readable answer for an unknown feed: https://www.rfc-editor.org/rfc/rfc9457, also in XML (appendix
    B)."""
    status = HTTPStatus.NOT_FOUND
    if request.path.endswith(".json"):
        text, media_type = json.dumps(answers.document(status, str(error))), answers.MEDIA_TYPE
    else:
        text = render("problem.xml", **answers.document(status, xml_text(str(error))))
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
        text = render("feed.xml", title=xml_text(title), home=home, own=own, updated=to_iso(updated), entries=entries)
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
        "summary": xml_text(summary(deal)),
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
                "content_text": summary(deal),
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
