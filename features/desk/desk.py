"""The desk: today's overview, the list of all deals, and notifying all members of a deal.

Other modules here have posting and editing, and the lists of picks. Before members are notified, a page shows
their number and the cost; afterwards, the progress.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

from features.desk import deal_log, matching, picked, posting
from features.desk.frame import counts_of, deal_of, desk_page, editor_of, line_of
from features.desk.picked import FRONT, order_of
from shared import features
from shared.data.catalog import deals, feed_counts, feeds
from shared.data.members import cohorts, users
from shared.html import forms, pages, views
from shared.html.links import absolute, link, origin
from shared.html.pages import Answer, Request, Routes, serve
from shared.models.catalog import ALL_DEALS, CATEGORIES, Deal, Period, Status
from shared.runtime.environment import table
from shared.values.naming import counted
from shared.values.prices import WRITE

SHOWN = 25
NEWEST = 6
"""Deals on the desk's overview; all deals have a page of their own, ``SHOWN`` at a time."""

ENDING_DAYS = 2
MOST_ENDING = 4
HOT_FOR = timedelta(days=1)
"""For how long the desk shows the progress of a hot deal's fan-out."""

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
"""A bookmarklet: on a shop's page, it opens our form with that page's data.

Shops use various names for regular and sale prices: ``og:price:amount`` and ``og:price:standard_amount``,
``product:sale_price:amount``, ``product:price:amount`` and ``product:original_price:amount``.
"""

routes = Routes()


@routes.get("/desk")
def desk(request: Request) -> Answer:
    """Today: progress of hot deals, endings, new deals, and the front page's order."""
    session = editor_of(request)
    of_today = posting.of_features()
    now, today = request.now, Period.DAY.start_of(request.now)
    asked: list[Callable[[], Any]] = [
        partial(feeds.read, table(), ALL_DEALS, limit=SHOWN, now=now),
        partial(feeds.upcoming, table(), now, days=ENDING_DAYS, most=MOST_ENDING),
        partial(FRONT.read, table(), now),
        partial(feed_counts.counts, table(), ALL_DEALS, most=1, until=today),
        *(partial(each.today, session) for each in of_today),
    ]
    newest, ending_soon, picked, counts, *more = table().gather(asked)
    own = [(each.file, each.on_today(found, now)) for each, found in zip(of_today, more, strict=True)]
    ending = ending_soon.items
    shown = newest.items[:NEWEST]
    known = {deal.deal_id: deal for deal in (*newest.items, *ending, *picked)}
    hot = [deal for deal in known.values() if deal.hot_at is not None and now - deal.hot_at < HOT_FOR]
    asked = [
        partial(counts_of, (*shown, *ending, *picked)),
        *(partial(cohorts.progress_of, table(), deal.deal_id) for deal in hot),
    ]
    counted_of, *progress = table().gather(asked)
    readers = 0 if all(each.finished for each in progress) else count_readers()
    return desk_page(
        "desk/templates/today.html",
        request,
        posted=[line_of(deal, now, counted_of) for deal in shown],
        posted_today=counted(counts.get(today, 0), "deal"),
        more=newest.next is not None or len(newest.items) > NEWEST,
        newest=SHOWN,
        ending=[line_of(deal, now, counted_of) for deal in ending],
        hot=[
            {"deal": views.card(deal, now), **bar_of(deal, each, readers)}
            for deal, each in zip(hot, progress, strict=True)
        ],
        # On a shop's page, an address without an origin would be the shop's.
        bookmarklet=BOOKMARKLET.format(desk=absolute("/desk/deals/new")) if origin() else "",
        ordered=order_of(FRONT, picked, now, counted_of),
        typed={"add": "", "place": ""},
        **features.joined(own),
    )


@routes.get("/desk/deals")
def all_deals(request: Request) -> Answer:
    """Listed deals, newest first, page by page: all, or those that fit a filter."""
    session = editor_of(request)
    wanted, cursor, now = matching.chosen(request.query), request.query.get("cursor"), request.now
    skip = int(number) if (number := request.query.get("skip", "")).isdecimal() and len(number) <= 3 else 0
    most = SHOWN if wanted.is_all else matching.BLOCK
    found = matching.read(table(), wanted, most=most, now=now, cursor=cursor)
    shown, left = found.deals[skip : skip + SHOWN], len(found.deals) - skip - SHOWN
    counts, fitting = counts_of(shown), replace(wanted, q=found.searched or wanted.q)
    here = {"cursor": cursor, "skip": str(skip + SHOWN)}
    older = here if left > 0 else {"cursor": found.next} if found.next else {}
    return desk_page(
        "desk/templates/deals.html",
        request,
        rows=[line_of(deal, now, counts) for deal in shown],
        first=cursor is None and not skip,
        older=link("/desk/deals", **fitting.fields, **older) if older else None,
        filter=fitting,
        options={"category": {"": "All", **CATEGORIES}, "state": matching.STATES, "age": matching.AGES},
        searched=found.searched,
        typed_words=wanted.q,
        fit=len(found.deals),
        looked=matching.BLOCK if found.next or cursor else None,
        **features.joined((each.file, each.on_deals(session, now)) for each in posting.of_features()),
    )


MOST_COUNTED = 1_000
"""Readers that the hot page counts, one page of their index; beyond, it says that there are more."""

LOOKS_AGAIN = 10
"""Seconds after which the progress page reloads without script. With script, desk.js does it."""

WRITES_PER_MESSAGE = 2
"""A message is written to the table and to GSI1 (docs/cost.md)."""


@routes.get("/desk/deals/<number>/hot")
def hot_page(request: Request, number: str) -> Answer:
    """Before: how many members will be notified, and the cost. Afterwards: the progress."""
    deal = deal_of(request, number)
    if deal.hot_at is not None:
        return pages.redirect(f"/desk/deals/{number}/hot/progress")
    readers = count_readers()
    reached = min(readers, MOST_COUNTED)
    more = "more than " if readers > MOST_COUNTED else ""
    units = reached * WRITES_PER_MESSAGE
    return desk_page(
        "desk/templates/hot.html",
        request,
        d=views.card(deal, request.now),
        number=number,
        over=deal.status(request.now) is not Status.ACTIVE,
        readers=f"{more.capitalize()}{counted(reached, 'reader')}",
        messages=f"{more}{reached:,}",
        units=f"{more}{units:,}",
        dollars=f"{more}{_dollars(units * WRITE.each)}",
    )


@routes.post("/desk/deals/<number>/hot")
def make_hot(request: Request, number: str) -> Answer:
    deal = deal_of(request, number)
    deals.make_hot(table(), deal.deal_id, request.now, by=request.username, correlation_id=request.correlation_id)
    return pages.redirect(f"/desk/deals/{number}/hot/progress", notice="hot")


@routes.get("/desk/deals/<number>/hot/progress")
def hot_progress(request: Request, number: str) -> Answer:
    """The progress of a hot deal's fan-out, as a page and, for its script, as JSON."""
    deal = deal_of(request, number)
    if deal.hot_at is None:
        return pages.redirect(f"/desk/deals/{number}/hot")
    progress = cohorts.progress_of(table(), deal.deal_id)
    shown = bar_of(deal, progress, 0 if progress.finished else count_readers())
    if request.wants_json:
        return pages.json_answer(shown)
    return desk_page(
        "desk/templates/progress.html",
        request,
        # "All members are being notified" is outdated then, and the heading says that it is done.
        notice=None if progress.finished else request.notice,
        d=views.card(deal, request.now),
        number=number,
        since=views.moment(deal.hot_at),
        looks_again=LOOKS_AGAIN,
        **shown,
    )


def count_readers() -> int:
    """The number of users, at most one more than ``MOST_COUNTED``."""
    return users.count(table(), MOST_COUNTED + 1)


def _dollars(amount: float) -> str:
    """A small amount, rounded down, for a minimum cost, which must not be overstated."""
    hundredths_of_cents = math.floor(amount * 10_000)
    return f"${hundredths_of_cents / 10_000:.4f}" if hundredths_of_cents else "less than $0.0001"


def bar_of(deal: Deal, progress: cohorts.Progress, readers: int) -> dict[str, Any]:
    """The progress of a hot deal's fan-out, its speed and approximate total, in words and as a bar.

    ``readers`` comes from ``count_readers``. Beyond ``MOST_COUNTED`` it is unknown, so the bar shows finished segments
    of all users. ``most`` is the bar's end, 0 if unknown.
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


handler = serve(
    routes,
    *(each.routes for each in (posting, deal_log, picked)),
    *pages.routes_of(posting.of_features()),
    guards=[forms.ours_only],
)
