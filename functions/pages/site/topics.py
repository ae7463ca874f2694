"""The pages of brands and categories, the list of all brands, and search, a page of matches at a time."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from http import HTTPStatus
from typing import Any

from functions.pages.site import listing
from functions.pages.site.listing import (
    cursor_of,
    feed_addresses,
    latest_of,
    moved,
    older_of,
    public_page,
    selection_of,
)
from shared import settings
from shared.data.catalog import feeds, offers, picks, search, selecting, sorting, topics, words
from shared.data.catalog.page_cache import HTML
from shared.data.catalog.search import Match
from shared.dynamodb import cursors
from shared.errors import InvalidName, NotFound
from shared.html import fragments, pages, views
from shared.html.app import Routes
from shared.html.links import link
from shared.html.pages import Answer, Request
from shared.http import cached_pages
from shared.models.catalog import BRAND, CATEGORIES, CATEGORY, CountedTopic, Deal, Selection, Status, Topic, feed_of
from shared.runtime.environment import table
from shared.values import naming
from shared.values.naming import counted

MOST_ENDED = 24

SORTED, READ_SORTED = 24, 36
"""Cards of a page in another order, whole rows of six, four, three or two; and the deals that are read for them."""

routes = Routes()


@routes.get("/categories/<category>")
def category_page(request: Request, category: str) -> Answer:
    topic, now = Topic(CATEGORY, category.lower()), request.now
    if topic.slug not in CATEGORIES:
        return pages.problem_page(HTTPStatus.NOT_FOUND, "There is no such category. These are all eight.", public=True)
    if category != topic.slug:
        return moved(f"/categories/{topic.slug}")
    selection, cursor = selection_of(request), cursor_of(request)
    if not selection.is_all:
        return _selected(request, topic, selection, listing.brands_in)
    if cursor is not None:
        return _older_of_topic(request, topic, cursor)
    found, copy = cached_pages.read_category(topic, now, HTML)
    if copy is not None:
        featured, latest = copy.picks, copy.latest
    else:
        found = topics.get(table(), topic)
        featured = fragments.picks(picks.read(table(), topic, now), now)
        latest = latest_of(feed_of(topic), now)
    return _of_topic(request, found, latest or "", featured or "")


@routes.get("/brands")
def all_brands(request: Request) -> Answer:
    names = topics.brand_names(table())
    letters: dict[str, list[tuple[str, str]]] = {}
    for slug, name in sorted(names.items()):
        letters.setdefault(slug[0].upper() if slug[0].isalpha() else "0-9", []).append((slug, name))
    groups = [{"letter": letter, "id": "l-" + letter[0].lower(), "names": of} for letter, of in letters.items()]
    description = f"All {len(names):,} brands from A to Z, each with its deals." if names else "All brands."
    return public_page("brands.html", request, groups=groups, count=len(names), description=description)


@routes.get("/brands/<brand>")
def brand_page(request: Request, brand: str) -> Answer:
    cursor = cursor_of(request)
    selection = replace(selection_of(request), brand=None)
    try:
        topic = brand_named(brand)
        if brand != topic.slug:
            topics.get(table(), topic)
            return moved(f"/brands/{topic.slug}")
        if not selection.is_all:
            return _selected(request, topic, selection, listing.categories_of)
        if cursor is not None:
            return _older_of_topic(request, topic, cursor)
        found, held = feeds.open_feed(table(), topic)
    except NotFound:
        detail = f"There is no brand “{brand[:100]}”."
        return pages.problem_page(HTTPStatus.NOT_FOUND, detail, public=True, names=brands_like(brand))
    latest = latest_of(feed_of(topic), request.now, held)
    return _of_topic(request, found, latest, deals=sum(held[0].values()))


def brand_named(name: str) -> Topic:
    try:
        return Topic(BRAND, naming.slug(name))
    except InvalidName as error:
        raise NotFound("There is no such brand.") from error


def brands_like(name: str) -> list[tuple[str, str]]:
    """Brands whose slug begins with a name, or is nearly that."""
    known = topics.brand_names(table())
    wanted = "-".join(words.in_text(name))
    begin = [slug for slug in known if wanted and slug.startswith(wanted)]
    near = difflib.get_close_matches(wanted, known, n=6, cutoff=0.7) if wanted else []
    return [(slug, known[slug]) for slug in dict.fromkeys([*begin[:6], *near])][:8]


def _older_of_topic(request: Request, topic: Topic, cursor: str) -> Answer:
    """A page of a topic's deals further back, asked for together with its name. Raises NoSuchTopic, InvalidCursor."""
    asked: list[Callable[[], Any]] = [
        partial(topics.get, table(), topic),
        partial(older_of, feed_of(topic), request.now, cursor),
    ]
    return _of_topic(request, *table().gather(asked), first=False)


def _selected(request: Request, topic: Topic, selection: Selection, among: Callable[..., listing.Choices]) -> Answer:
    """A page of a topic's deals in another order, or of some of them, and what else there is ``among`` them.

    One round trip, mostly; of the newest deals two. Raises NoSuchTopic, InvalidCursor, BadRequest.
    """
    cursor, path = cursor_of(request), fragments.path_of(feed_of(topic))
    found = sorting.read(
        table(), topic, selection, limit=READ_SORTED, now=request.now, cursor=cursor, leads_on=cursor is None
    )
    page, shown = found.page, found.selection
    deals = page.items[: views.first_groups(page.items, SORTED, under=None)]
    # Where not all that was found is shown, the next page begins with the rest.
    more = sorting.cursor_after(topic, shown, deals[-1]) if len(deals) < len(page.items) else page.next
    bar = listing.above(
        path,
        selection,
        among=among(topic, selection, found.brand, page.items),
        currencies=found.currencies,
        opened=shown,
    )
    said = listing.sentence(shown, found.brand)
    return public_page(
        "selected.html",
        request,
        name=found.topic.name,
        chips=listing.chips(path, selection),
        alert=None,
        partly=[],
        topic=topic,
        remark="",
        order=said,
        narrowing=bar,
        cards=views.cards(deals, request.now),
        next=link(path, **listing.query_of(shown), cursor=more) if more else None,
        more=listing.MORE[selection.sort],
        all=link(path),
        first=cursor is None,
        feed=feed_addresses(f"{path}/feed"),
        robots="noindex, follow",
        description=f"Deals of {found.topic.name}. {said}.",
    )


def _of_topic(
    request: Request, found: CountedTopic, latest: str, picks: str = "", *, deals: int = 0, first: bool = True
) -> Answer:
    """The page of a brand or a category; ``deals`` is how many it has now, where that is known.

    Where it has none, it shows the last ones that ended.
    """
    something = "<li" in latest or not first
    over = [] if something else offers.ended(table(), found.topic, MOST_ENDED)
    path = fragments.path_of(feed_of(found.topic))
    latest = fragments.without(latest, picks, leads_on=True) if picks else latest
    counts = [
        *([f"{counted(deals, 'deal')} now"] if deals else []),
        *([f"{found.likes:,} {'likes' if found.likes == 1 else 'like'} it"] if found.likes else []),
        *([f"{found.watchers:,} {'watches' if found.watchers == 1 else 'watch'} it"] if found.watchers else []),
    ]
    return public_page(
        "topic.html",
        request,
        name=found.name,
        kind=found.topic.kind.label,
        slug=found.topic.slug,
        counts=counts,
        picks=fragments.placed(picks),
        latest=fragments.placed(latest),
        any=something,
        ended=views.cards((deal for deal in over if deal.status(request.now) is Status.EXPIRED), request.now),
        first=first,
        narrowing=listing.above(path, Selection()),
        feed=feed_addresses(f"{path}/feed"),
        robots=None if first else "noindex, follow",
        description=f"Deals of {found.name}, newest first.",
    )


@routes.get("/search")
def search_page(request: Request) -> Answer:
    typed, cursor = request.query.get("q", "").strip(), cursor_of(request)
    limits = selecting.read_phrases(typed)
    wanted, query = words.asked(limits.rest), typed[: words.MOST_CHARACTERS]
    if not limits.within(selection_of(request)).is_all and wanted.terms:
        return _selected_matches(request, wanted, query, limits)
    found = search.find(table(), wanted, limit=settings.READ_FOR_CARDS, cursor=cursor)
    ran, searched = (found.instead, found.instead.text) if found.instead else (wanted, query)
    shown = search.first_cards(found.matches, settings.CARDS_OF_A_SEARCH)
    # Where not all that was found is shown, the next page begins with the rest.
    more = cursors.encode(ran.scope, shown[-1].deal_id) if len(shown) < len(found.matches) else found.next
    most = search.partly(table(), found, settings.CARDS_OF_A_SEARCH - len(shown))
    active, some, alike = _active(shown, most, request.now)
    near_brands = [] if active or not wanted.words else brands_like(wanted.words[0])
    return public_page(
        "search.html",
        request,
        query=searched,
        asked=bool(wanted.words),
        instead_of=query if found.instead else None,
        cut=wanted.cut,
        completed=(ran.words[-1], found.completed) if found.completed else None,
        digit=ran.words[-1] if ran.words and ran.words[-1].isdigit() and len(ran.words[-1]) == 1 else None,
        narrowing=listing.above("/search", Selection(), query=searched),
        cards=views.cards(active, request.now, alike=alike),
        partly=views.cards(some, request.now, alike=alike),
        named=_named(ran, active) if cursor is None else [],
        near=found.near,
        near_brands=near_brands,
        next=more,
        first=cursor is None,
        feed=feed_addresses("/feed", q=searched) if wanted.words else None,
        description="Search all deals by the words of their titles, brands and categories.",
        robots="noindex, follow",
    )


def _selected_matches(request: Request, wanted: words.Search, query: str, limits: selecting.Phrases) -> Answer:
    """A page of a search in another order, or of some of its deals."""
    cursor, selection = cursor_of(request), selection_of(request)
    found = selecting.find(table(), wanted, limits.within(selection), now=request.now, cursor=cursor)
    searched = query if found.ran is wanted else limits.around(found.ran.text)
    shown = search.first_cards(found.matches, settings.CARDS_OF_A_SEARCH)
    more = selecting.cursor_after(found.ran, found.selection, shown[-1]) if len(shown) < len(found.matches) else None
    room = settings.CARDS_OF_A_SEARCH - len(shown)
    most = selecting.partly(table(), found, room, request.now)
    active, some, alike = _active(shown, most, request.now)
    onward = replace(selection, currency=found.selection.currency)
    among = listing.brands_among("/search", selection, active, query=searched)
    return public_page(
        "selected.html",
        request,
        query=searched,
        name=f"Search: {searched}",
        topic=None,
        remark="" if found.looked is None else f"Only of the newest {counted(found.looked, 'deal')} with these words.",
        order=listing.sentence(found.selection),
        narrowing=listing.above(
            "/search", selection, query=searched, among=among, currencies=found.currencies, opened=found.selection
        ),
        chips=[
            (phrase, link("/search", q=limits.around(found.ran.text, but=phrase), **listing.query_of(selection)))
            for phrase in limits.typed
        ]
        + listing.chips("/search", selection, searched),
        alert={"words": found.ran.text, "ceiling": found.selection.most, "currency": found.selection.currency},
        cards=views.cards(active, request.now, alike=alike),
        partly=views.cards(some, request.now, alike=alike),
        next=link("/search", q=searched, **listing.query_of(onward), cursor=more) if more else None,
        more=listing.MORE[selection.sort],
        all=link("/search", q=searched),
        first=cursor is None,
        feed=feed_addresses("/feed", q=searched),
        description="Search all deals by the words of their titles, brands and categories.",
        robots="noindex, follow",
    )


def matching(typed: str, now: datetime) -> Sequence[Deal]:
    """The newest active deals that a typed text finds, as many for a feed as a page of a search has cards."""
    found = selecting.page(table(), typed, Selection(), limit=settings.CARDS_OF_A_SEARCH, now=now, all_words=True)
    return found.page.items


def _active(
    whole: Sequence[Match], partly: Sequence[Match], now: datetime
) -> tuple[list[Deal], list[Deal], dict[str, int]]:
    """The deals that head the cards of some matches, and of those with most words; and the cards' deals, by head."""
    (heads, alike), (others, alike_others) = search.heads(whole, now), search.heads(partly, now)
    active, some = search.active_of_both(table(), heads, others, now)
    return active, some, alike | alike_others


def _named(ran: words.Search, shown: Sequence[Deal]) -> list[tuple[str, str]]:
    """The pages of the brands and categories that a search names, brands as far as its deals show them."""
    names = {deal.brand: deal.brand_name for deal in shown}
    brands = words.brands_in(ran, names)
    categories = words.categories_in(ran, besides=[word for slug in brands for word in words.in_text(names[slug])])
    return [
        *((f"/brands/{slug}", names[slug]) for slug in brands),
        *((f"/categories/{slug}", CATEGORIES[slug]) for slug in categories),
    ]
