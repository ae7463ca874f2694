"""The editors' desk: today's overview, the list of all deals, bulk changes, and notifying all members of a deal.

Other modules here have posting and editing, and the lists of picks. Before members are notified, a page shows
their number and the cost; afterwards, the progress.

Ticked deals are previewed, then ended, moved or put on a page: each by its own conditional write, so a refused one
doesn't stop the others. A deal that already has the requested state is left alone, so sending a form twice is harmless.
The result's address has numbers and codes. As on all pages after a form, a cookie of one minute must match it:
otherwise the page says that nothing was done, and shows the deals as they are.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

from functions.pages.desk import deal_form, lists, posting
from functions.pages.desk.deal_form import brand_names, counts_of, deal_of, desk_page, edit, line_of
from functions.pages.desk.lists import CHOICE, FRONT, List, order_of
from shared.data.catalog import deals, feed_counts, feeds, picks
from shared.data.members import cohorts, users
from shared.dynamodb.capacity import WRITE_DOLLARS
from shared.errors import (
    BadRequest,
    Damaged,
    DealTooLarge,
    EditedMeanwhile,
    Impossible,
    NoSuchDeal,
    NoSuchTopic,
    Unavailable,
)
from shared.html import cookies, forms, pages, views
from shared.html.forms import InvalidFields
from shared.html.links import absolute, origin
from shared.html.pages import Answer, Request, Routes, serve
from shared.http import requests
from shared.models.catalog import ALL_DEALS, CATEGORIES, Deal, Period, Status
from shared.runtime.environment import table
from shared.values.naming import counted

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
    session = cookies.editor_of(request)
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
    own = [each.on_today(found, now) for each, found in zip(of_today, more, strict=True)]
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
        "desk/today.html",
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
        **{name: value for each in own for name, value in each.items()},
    )


@routes.get("/desk/deals")
def all_deals(request: Request) -> Answer:
    """All listed deals, newest first, page by page."""
    cookies.editor_of(request)
    cursor, now = request.query.get("cursor"), request.now
    found = feeds.read(table(), ALL_DEALS, limit=SHOWN, now=now, cursor=cursor)
    counts = counts_of(found.items)
    rows = [line_of(deal, now, counts) for deal in found.items]
    return desk_page("desk/deals.html", request, rows=rows, first=cursor is None, older=found.next)


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
    """The progress of a hot deal's fan-out, as a page and, for its script, as JSON."""
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


MOST_TOGETHER = 25
"""Deals at once: a page of the list. One after the other, they take one or two of the function's ten seconds."""

TOGETHER = "/desk/deals/together"
TICKED = "deal-"
"""The prefix of the boxes' names; the deal's number follows."""

ASKED = {"end": "End {}?", "move": "Move {}", "page": "Put {} on a page"}
DONE = {"end": "ended", "move": "moved", "page": "put on the page"}
PAGES = {"front": FRONT, "choice": CHOICE}

WHY = {
    "gone": "There is no such deal.",
    "over": "It has ended or was withdrawn.",
    "changed": "Another editor changed it at the same time. Check it again.",
    "large": "With that brand it would be too large.",
    "busy": "The table was busy. Try again.",
    "damaged": "Its item in the table is damaged. Open it to repair it.",
}
"""Why a deal was left as it was, by the code in the result's address."""


@routes.get(TOGETHER)
def together_page(request: Request) -> Answer:
    """The preview of what will happen to the ticked deals."""
    return _together_page(request, request.query, {})


@routes.post(TOGETHER)
def do_together(request: Request) -> Answer:
    """Change each ticked deal, and redirect to the page with the results."""
    cookies.editor_of(request)
    typed = forms.read(request.event)
    numbers, action = _ticked(typed), _action(typed)
    if not numbers:
        return pages.redirect("/desk/deals", notice="unticked")
    try:
        changes = _move(typed) if action == "move" else {"ends_at": request.now}
    except InvalidFields as error:
        return _together_page(request, typed, error.errors)
    result = dict(zip(numbers, _found(numbers), strict=True))
    if action == "page":
        page = PAGES.get(typed.get("page", ""))
        if page is None:
            raise BadRequest(f"The page must be one of {', '.join(PAGES)}.", "page")
        _put_on_page(result, page, request)
    else:
        for number, deal in result.items():
            if isinstance(deal, Deal):
                result[number] = _edited(deal, changes, request, ends=action == "end")
    counts = {code: ".".join(n for n, each in result.items() if each == code) for code in ("done", *WHY)}
    query: dict[str, Any] = {"do": action} | {code: said for code, said in counts.items() if said}
    return pages.redirect(f"{TOGETHER}/done", cookies=(requests.done(_digest(query)),), **query)


@routes.get(f"{TOGETHER}/done")
def together_done(request: Request) -> Answer:
    """The results for each deal. Raises NoSuchDeal if the link names only unknown ones."""
    cookies.editor_of(request)
    done = DONE[_action(request.query)]
    codes = {n: code for code in ("done", *WHY) for n in _numbers(request.query.get(code, ""))}
    numbers = list(codes)[:MOST_TOGETHER]
    found = _found(numbers)
    did = request.has_done(_digest(request.query))
    if not did and not any(isinstance(each, Deal) for each in found):
        raise NoSuchDeal(", ".join(numbers))
    states = dict(zip(numbers, (each if isinstance(each, str) else "done" for each in found), strict=True))
    rows = [
        {**_row(n, each, request), "why": WHY.get(codes[n] if did and codes[n] != "done" else states[n])}
        for n, each in zip(numbers, found, strict=True)
    ]
    refused = [row for row in rows if did and codes[row["number"]] != "done"]
    shown = [row for row in rows if row not in refused]
    heading = f"{counted(len(shown), 'deal')} {done}" if did else f"{counted(len(shown), 'deal')}, as of now"
    return desk_page("desk/together-done.html", request, heading=heading, did=did, done=shown, refused=refused)


def _together_page(request: Request, fields: Mapping[str, str], errors: Mapping[str, str]) -> Answer:
    cookies.editor_of(request)
    numbers, action = _ticked(fields), _action(fields)
    if not numbers:
        return pages.redirect("/desk/deals", notice="unticked")
    return desk_page(
        "desk/together.html",
        request,
        do=action,
        heading=ASKED[action].format(counted(len(numbers), "deal")),
        ticked=[f"{TICKED}{number}" for number in numbers],
        deals=[views.card(deal, request.now, width=128) for deal in _found(numbers) if isinstance(deal, Deal)],
        typed={name: fields.get(name, "") for name in ("category", "brand", "page")},
        errors=errors,
        choices={
            "category": {"": "As they are", **CATEGORIES},
            "page": {name: each.name for name, each in PAGES.items()},
        },
        most=picks.MAX_FEATURED,
        brand_names=brand_names() if action == "move" else [],
    )


def _ticked(fields: Mapping[str, str]) -> list[str]:
    """The numbers of the ticked deals. Raises BadRequest for more than ``MOST_TOGETHER``."""
    numbers = _numbers(".".join(name.removeprefix(TICKED) for name in fields if name.startswith(TICKED)))
    if len(numbers) > MOST_TOGETHER:
        raise BadRequest(f"At most {MOST_TOGETHER} deals can be changed at once.")
    return numbers


def _numbers(text: str) -> list[str]:
    return [each for each in dict.fromkeys(text.split(".")) if each.isascii() and each.isalnum()]


def _digest(query: Mapping[str, str]) -> str:
    """A result's code, by which it is matched to the browser that sent the form."""
    result = " ".join(f"{name}={query[name]}" for name in ("do", "done", *WHY) if name in query)
    return hashlib.sha256(result.encode()).hexdigest()[:16]


def _action(fields: Mapping[str, str]) -> str:
    action = fields.get("do", "")
    if action not in ASKED:
        raise BadRequest("Choose what to do: end, move or page.", "do")
    return action


def _move(typed: Mapping[str, str]) -> dict[str, Any]:
    """The fields that a move changes. Raises InvalidFields."""
    category, brand = typed.get("category", ""), deal_form.slug_of(typed.get("brand", "").strip())
    if not category and not brand:
        raise InvalidFields({"category": "Choose a category, or name a brand."})
    if category and category not in CATEGORIES:
        raise InvalidFields({"category": "Choose one of the categories."})
    try:
        if brand:
            deals.brand_name(table(), brand)
    except NoSuchTopic as error:
        absent = "There is no brand with this name yet. Create it on the Brands page first."
        raise InvalidFields({"brand": absent}) from error
    return {name: value for name, value in (("category", category), ("brand", brand)) if value}


def _found(numbers: Sequence[str]) -> list[Deal | str]:
    """Deals as they are now, or codes of why they can't be read. All are read at once."""
    return table().gather([partial(_read, number) for number in numbers])


def _read(number: str) -> Deal | str:
    try:
        return deals.find(table(), number, consistent=True)
    except NoSuchDeal:
        return "gone"
    except Damaged:
        return "damaged"


def _edited(deal: Deal, changes: Mapping[str, Any], request: Request, *, ends: bool) -> str:
    """Change one deal, if it hasn't changed since it was read; returns the outcome's code."""
    if ends and deal.status(request.now) is not Status.ACTIVE:
        return "done" if deal.status(request.now) is Status.EXPIRED else "over"
    if all(getattr(deal, name) == value for name, value in changes.items()):
        return "done"
    try:
        edit(request, deal, changes, deal.version)
    except NoSuchDeal:
        return "gone"
    except EditedMeanwhile:
        return "changed"
    except DealTooLarge:
        return "large"
    except Unavailable:
        return "busy"
    except Impossible:
        return "damaged"
    return "done"


def _put_on_page(result: dict[str, Deal | str], page: List, request: Request) -> None:
    """Put the active deals first on a page, which is one item: one write for all."""
    active = []
    for number, deal in result.items():
        if isinstance(deal, Deal):
            is_active = deal.status(request.now) is Status.ACTIVE
            active += [deal.deal_id] * is_active
            result[number] = "done" if is_active else "over"
    if active:
        page.lead(table(), active, request.now)


def _row(number: str, found: Deal | str, request: Request) -> dict[str, Any]:
    """A row of the result; for an unreadable deal, only its number."""
    card = views.card(found, request.now, width=128) if isinstance(found, Deal) else {"title": f"Deal {number}"}
    return {**card, "number": number}


handler = serve(
    routes,
    *(each.routes for each in (posting, deal_form, lists)),
    *pages.routes_of(posting.of_features()),
    guards=[forms.ours_only],
)
