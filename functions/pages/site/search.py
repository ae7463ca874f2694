"""Search, a page of matches at a time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from functions.pages.site.public import READ, cursor_of, feed_addresses, public_page
from functions.pages.site.topics import brands_like
from shared import settings
from shared.data.catalog import deals, search, words
from shared.data.catalog.search import Match
from shared.dynamodb import cursors
from shared.html import views
from shared.html.app import Routes
from shared.html.pages import Answer
from shared.html.request import Request
from shared.models.catalog import Deal, Status
from shared.runtime.environment import table

routes = Routes()


@routes.get("/search")
def search_page(request: Request) -> Answer:
    typed, cursor = request.query.get("q", "").strip(), cursor_of(request)
    wanted, query = words.asked(typed), typed[: words.MOST_CHARACTERS]
    found = search.find(table(), wanted, limit=READ, cursor=cursor)
    ran, searched = (found.instead, found.instead.text) if found.instead else (wanted, query)
    shown = search.first_cards(found.matches, settings.CARDS_OF_A_SEARCH)
    # Where not all that was found is shown, the next page begins with the rest.
    more = cursors.encode(ran.scope, shown[-1].deal_id) if len(shown) < len(found.matches) else found.next
    active = _active(shown, request.now)
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
        cards=views.cards(active, request.now),
        near=found.near,
        near_brands=near_brands,
        next=more,
        first=cursor is None,
        feed=feed_addresses("/feed", q=searched) if wanted.words else None,
        description="Search all deals by the words of their titles, brands and categories.",
        robots="noindex, follow",
    )


def matching(wanted: words.Search, now: datetime) -> list[Deal]:
    """The newest active deals that a search finds, a page of a feed."""
    return _active(search.find(table(), wanted, limit=READ).matches, now)


def _active(matches: Sequence[Match], now: datetime) -> list[Deal]:
    """The deals of some matches that are active; those that are known to have ended are not read."""
    wanted = [match.deal_id for match in matches if not match.is_over(now)]
    return [deal for deal in deals.get_many(table(), wanted) if deal.status(now) is Status.ACTIVE]
