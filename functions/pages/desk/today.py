"""Today: posted, with clicks; ending; hot deals under way; and the list of all deals."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

from functions.pages.desk.deal_parts import desk_page, line_of
from functions.pages.desk.drafts import rows as draft_rows
from functions.pages.desk.hot import count_readers, told_so_far
from functions.pages.desk.lists import FRONT, order_of
from shared.data.catalog import clicks, drafts, endings, feed_counts, feeds
from shared.data.members import cohorts
from shared.html import cookies, views
from shared.html.app import Routes
from shared.html.links import absolute, origin
from shared.html.pages import Answer, Request
from shared.models.catalog import ALL_DEALS, Period
from shared.runtime.environment import table
from shared.values.naming import counted

SHOWN = 25
NEWEST = 6
"""Deals that the desk itself shows; all of them, ``SHOWN`` at a time, have a page of their own."""

ENDING_DAYS = 2
MOST_ENDING = 4
HOT_FOR = timedelta(days=1)
"""How long the desk shows how far the telling of a hot deal has got."""

BOOKMARKLET = (
    "javascript:(()=>{{"
    "const of=each=>encodeURIComponent(each||''),"
    "says=name=>(document.querySelector('meta[property$=\":'+name+'\"]')||{{}}).content;"
    "location='{desk}?link='+of(location.href)"
    "+'&title='+of((document.querySelector('h1')||{{}}).innerText||document.title)"
    "+'&image='+of(says('image'))"
    "+'&price='+of(says('sale_price:amount')||says('price:amount'))"
    "+'&list='+of(says('original_price:amount')||says('price:standard_amount'))"
    "}})()"
)
"""Dragged to a browser's bookmarks and pressed on a shop's page, it opens our form with what that page says.

Shops name their prices with and without a sale: ``og:price:amount`` and ``og:price:standard_amount``,
``product:sale_price:amount``, ``product:price:amount`` and ``product:original_price:amount``.
"""

routes = Routes()


@routes.get("/desk")
def desk(request: Request) -> Answer:
    """Today: progress of hot deals, endings, new deals with clicks, and the front page's order."""
    session = cookies.editor_of(request)
    now, today = request.now, Period.DAY.start_of(request.now)
    asked: list[Callable[[], Any]] = [
        partial(feeds.read, table(), ALL_DEALS, limit=SHOWN, now=now),
        partial(endings.upcoming, table(), now, days=ENDING_DAYS, most=MOST_ENDING),
        partial(FRONT.read, table(), now),
        partial(feed_counts.counts, table(), ALL_DEALS, most=1, until=today),
        partial(drafts.of, table(), session.username),
    ]
    newest, ending_soon, picked, counts, drafted = table().gather(asked)
    ending = ending_soon.items
    shown = newest.items[:NEWEST]
    ids = list(dict.fromkeys(deal.deal_id for deal in (*shown, *ending, *picked)))
    known = {deal.deal_id: deal for deal in (*newest.items, *ending, *picked)}
    told = [deal for deal in known.values() if deal.hot_at is not None and now - deal.hot_at < HOT_FOR]
    asked = [partial(clicks.of, table(), ids), *(partial(cohorts.progress_of, table(), deal.deal_id) for deal in told)]
    followed, *progress = table().gather(asked)
    readers = 0 if all(each.finished for each in progress) else count_readers()
    return desk_page(
        "desk/today.html",
        request,
        posted=[line_of(deal, now, followed) for deal in shown],
        posted_today=counted(counts.get(today, 0), "deal"),
        more=newest.next is not None or len(newest.items) > NEWEST,
        newest=SHOWN,
        ending=[line_of(deal, now, followed) for deal in ending],
        drafts=draft_rows(drafted, now)[:NEWEST],
        told=[
            {"deal": views.card(deal, now), **told_so_far(deal, each, readers)}
            for deal, each in zip(told, progress, strict=True)
        ],
        # On a shop's page, an address without an origin would be the shop's.
        bookmarklet=BOOKMARKLET.format(desk=absolute("/desk/deals/new")) if origin() else "",
        ordered=order_of(FRONT, picked, now, followed),
        typed={"add": "", "place": ""},
    )


@routes.get("/desk/deals")
def all_deals(request: Request) -> Answer:
    """All listed deals with their clicks, newest first, a page at a time."""
    cookies.editor_of(request)
    cursor, now = request.query.get("cursor"), request.now
    found = feeds.read(table(), ALL_DEALS, limit=SHOWN, now=now, cursor=cursor)
    followed = clicks.of(table(), [deal.deal_id for deal in found.items])
    rows = [line_of(deal, now, followed) for deal in found.items]
    return desk_page("desk/deals.html", request, rows=rows, first=cursor is None, older=found.next)
