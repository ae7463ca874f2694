"""The page of the deals that can be bought here, which the site's function answers."""

from __future__ import annotations

from functions.pages.site import SELECTED
from functions.pages.site.listing import cursor_of, public_page
from shared.data.orders import sold_here
from shared.html import views
from shared.html.pages import Answer, Request, Routes
from shared.runtime.environment import table

routes = Routes()


@routes.get("/sold-here")
def deals_here(request: Request) -> Answer:
    cursor, now = cursor_of(request), request.now
    found = sold_here.page(table(), now, limit=SELECTED, cursor=cursor)
    return public_page(
        "shop/sold-here.html",
        request,
        cards=views.cards_of_each(found.items, now),
        first=cursor is None,
        more=found.next,
        description="The deals that you can buy on this site, newest first.",
        robots=None if cursor is None else "noindex, follow",
    )
