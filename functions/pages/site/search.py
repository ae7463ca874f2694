"""Search, a page of matches at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from functions.pages.site import listing
from functions.pages.site.listing import cursor_of, feed_addresses, public_page, selection_of
from functions.pages.site.topics import brands_like
from shared import settings
from shared.data.catalog import search, selecting, words
from shared.data.catalog.search import Match
from shared.dynamodb import cursors
from shared.html import views
from shared.html.app import Routes
from shared.html.links import link
from shared.html.pages import Answer, Request
from shared.models.catalog import CATEGORIES, Deal, Selection
from shared.runtime.environment import table
from shared.values.naming import counted

routes = Routes()


@routes.get("/search")
def search_page(request: Request) -> Answer:
    typed, cursor = request.query.get("q", "").strip(), cursor_of(request)
    limits = selecting.read_phrases(typed)
    wanted, query = words.asked(limits.rest), typed[: words.MOST_CHARACTERS]
    if not limits.within(selection_of(request)).is_all and wanted.terms:
        return _selected(request, wanted, query, limits)
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


def _selected(request: Request, wanted: words.Search, query: str, limits: selecting.Phrases) -> Answer:
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
