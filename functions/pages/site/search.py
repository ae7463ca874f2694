"""Search, a page of matches at a time."""

from __future__ import annotations

from datetime import datetime

from functions.pages.site.public import READ, cursor_of, feed_addresses, public_page
from functions.pages.site.topics import brands_like
from shared.data.catalog import deals, search
from shared.dynamodb import cursors
from shared.html import views
from shared.html.app import Routes
from shared.html.pages import Answer
from shared.html.request import Request
from shared.models.catalog import Deal, Status
from shared.runtime.environment import table

MATCHES = 24
"""Cards of a page of a search, each for deals of one product at one price: whole rows of six, four, three or two."""

routes = Routes()


@routes.get("/search")
def search_page(request: Request) -> Answer:
    typed, cursor = request.query.get("q", "").strip(), cursor_of(request)
    wanted, query = search.asked(typed), typed[: search.MOST_CHARACTERS]
    found, active = searched(wanted, cursor, request.now)
    shown = active[: views.first_groups(active, MATCHES, under_days=False)]
    # Where not all that was found is shown, the next page begins with the rest.
    more = cursors.encode(wanted.scope, shown[-1].deal_id) if len(shown) < len(active) else found.next
    near_brands = [] if shown or not wanted.words else brands_like(wanted.words[0])
    return public_page(
        "search.html",
        request,
        query=query,
        asked=bool(wanted.words),
        cut=wanted.cut,
        cards=views.cards(shown, request.now),
        near=found.near,
        near_brands=near_brands,
        next=more,
        first=cursor is None,
        feed=feed_addresses("/feed", q=query) if wanted.words else None,
        description="Search all deals by the words of their titles and brands.",
        robots="noindex, follow",
    )


def searched(wanted: search.Search, cursor: str | None, now: datetime) -> tuple[search.Found, list[Deal]]:
    """A page of matches, and those deals among them that are active."""
    found = search.find(table(), wanted, limit=READ, cursor=cursor)
    active = [deal for deal in deals.get_many(table(), found.deal_ids) if deal.status(now) is Status.ACTIVE]
    return found, active
