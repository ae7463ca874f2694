"""Today (posted, with clicks; ending; hot deals under way), the list of all deals, and notifying all members of one.

Before all members are notified, the page says how many that are and what it costs; afterwards, how far it has got.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

from functions.pages.desk.deal_form import deal_of, desk_page, line_of
from functions.pages.desk.deals import draft_rows
from functions.pages.desk.lists import FRONT, order_of
from shared.data.catalog import clicks, deals, drafts, endings, feed_counts, feeds
from shared.data.members import cohorts, users
from shared.dynamodb.capacity import WRITE_DOLLARS
from shared.html import cookies, pages, views
from shared.html.app import Routes
from shared.html.links import absolute, origin
from shared.html.pages import Answer, Request
from shared.models.catalog import ALL_DEALS, Deal, Period, Status
from shared.runtime.environment import table
from shared.values.naming import counted

SHOWN = 25
NEWEST = 6
"""Deals that the desk itself shows; all of them, ``SHOWN`` at a time, have a page of their own."""

ENDING_DAYS = 2
MOST_ENDING = 4
HOT_FOR = timedelta(days=1)
"""How long the desk shows the progress of a hot deal's fan-out."""

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
    hot = [deal for deal in known.values() if deal.hot_at is not None and now - deal.hot_at < HOT_FOR]
    asked = [partial(clicks.of, table(), ids), *(partial(cohorts.progress_of, table(), deal.deal_id) for deal in hot)]
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
        hot=[
            {"deal": views.card(deal, now), **bar_of(deal, each, readers)}
            for deal, each in zip(hot, progress, strict=True)
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


MOST_COUNTED = 1_000
"""Readers that the hot page counts: one page of their index. Beyond, it says that there are more."""

LOOKS_AGAIN = 10
"""Seconds after which the page of a hot deal's progress looks again without script. With it, desk.js does."""

WRITES_PER_MESSAGE = 2
"""A message is written to the table and to GSI1 (docs/cost.md)."""


@routes.get("/desk/deals/<number>/hot")
def hot_page(request: Request, number: str) -> Answer:
    """How many will be notified and what it costs, before; how far it has got, afterwards."""
    deal = deal_of(request, number)
    if deal.hot_at is not None:
        return pages.redirect(f"/desk/deals/{number}/hot/progress")
    readers = count_readers()
    reached = min(readers, MOST_COUNTED)
    more = "more than " if readers > MOST_COUNTED else ""
    units = reached * WRITES_PER_MESSAGE
    return desk_page(
        "desk/hot.html",
        request,
        d=views.card(deal, request.now),
        number=number,
        over=deal.status(request.now) is not Status.ACTIVE,
        readers=f"{more.capitalize()}{counted(reached, 'reader')}",
        messages=f"{more}{reached:,}",
        units=f"{more}{units:,}",
        dollars=f"{more}{_dollars(units * WRITE_DOLLARS / 1_000_000)}",
    )


@routes.post("/desk/deals/<number>/hot")
def make_hot(request: Request, number: str) -> Answer:
    deal = deal_of(request, number)
    deals.make_hot(table(), deal.deal_id, request.now, by=request.username, correlation_id=request.correlation_id)
    return pages.redirect(f"/desk/deals/{number}/hot/progress", notice="hot")


@routes.get("/desk/deals/<number>/hot/progress")
def hot_progress(request: Request, number: str) -> Answer:
    """How far the fan-out of a hot deal has got: a page, and for the script of that page the same as JSON."""
    deal = deal_of(request, number)
    if deal.hot_at is None:
        return pages.redirect(f"/desk/deals/{number}/hot")
    progress = cohorts.progress_of(table(), deal.deal_id)
    shown = bar_of(deal, progress, 0 if progress.finished else count_readers())
    if request.wants_json:
        return Answer(json.dumps(shown), media_type="application/json")
    return desk_page(
        "desk/progress.html",
        request,
        # "All members are being notified" is over then, and the heading says so.
        notice=None if progress.finished else request.notice,
        d=views.card(deal, request.now),
        number=number,
        since=views.moment(deal.hot_at),
        looks_again=LOOKS_AGAIN,
        **shown,
    )


def count_readers() -> int:
    """How many users there are, or one more than ``MOST_COUNTED`` where there are more than that."""
    return users.count(table(), MOST_COUNTED + 1)


def _dollars(amount: float) -> str:
    """A small amount, rounded down: where it is the least that something costs, it must not be more than that."""
    hundredths_of_cents = math.floor(amount * 10_000)
    return f"${hundredths_of_cents / 10_000:.4f}" if hundredths_of_cents else "less than $0.0001"


def bar_of(deal: Deal, progress: cohorts.Progress, readers: int) -> dict[str, Any]:
    """How far the fan-out of a hot deal has got, of about how many readers, and how fast: in words, and as a bar.

    ``readers`` comes from ``count_readers``. Where there are more than ``MOST_COUNTED``, their number is unknown: the
    bar shows how many of the parts are finished in which all users are read. ``most`` is its end, 0 if not known yet.
    """
    notified, finished = progress.notified, progress.finished
    seconds = (progress.at - deal.hot_at).total_seconds() if progress.at and deal.hot_at else 0
    of, parts = "", ""
    if finished:
        reached, most = 1, 1
    elif readers <= MOST_COUNTED:
        reached, most = notified, max(notified, readers)
        of = f"of about {most:,}"
    else:
        reached, most = progress.segments_finished, progress.segments if progress.segments_finished else 0
        of = f"of more than {MOST_COUNTED:,}" if notified <= MOST_COUNTED else ""
        parts = f"{reached} of {most} parts of the list finished" if most else ""
    rate = f"{notified / seconds:,.0f} a second" if seconds >= 1 and notified >= seconds else ""
    so_far = f" so far{', ' if of else ''}{of}"
    return {
        "title": "All members are notified" if finished else f"{notified:,} notified",
        "heading": "All members are notified" if finished else "Notifying all members",
        "sentence": f"{counted(notified, 'member')} notified{'' if finished else so_far}.{parts and f' {parts}.'}",
        "messages": f"{notified:,}{rate and f', {rate}'}",
        "notified": f"{notified:,}",
        "of": of,
        "parts": parts,
        "finished": finished,
        "reached": reached,
        "most": most,
        "rate": rate,
    }
