"""The editor's desk: posting deals, editing them, telling everybody, and ordering what readers see first.

A form for a new deal carries an idempotency key, so that sending it again by reloading posts nothing twice; a form for
a deal that exists carries the values it was read with, so that it takes back nothing that another editor wrote.
"""

from __future__ import annotations

import difflib
import json
import math
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from http import HTTPStatus
from typing import Any

from functions.pages.desk_forms import deal_form, lists
from shared.api.bodies import NewBrand
from shared.data.catalog import brands, clicks, deals, endings, feed_counts, feeds, offers
from shared.data.members import fanout, users
from shared.errors import (
    BrandExists,
    Busy,
    DealTooLarge,
    EditedMeanwhile,
    IdempotencyKeyReused,
    NoSuchDeal,
    NoSuchDeals,
    NoSuchTopic,
    WrongFeaturedCount,
)
from shared.html import cookies, forms, pages, views
from shared.html.app import Routes, serve
from shared.html.checking import check
from shared.html.forms import InvalidFields
from shared.html.links import absolute, origin
from shared.html.pages import Answer
from shared.html.request import Request
from shared.models.catalog import ALL_DEALS, Deal, Period, Status
from shared.models.members import Session
from shared.runtime import metrics
from shared.runtime.environment import table
from shared.runtime.reporting import report
from shared.values import links, slugs
from shared.values.counts import counted

SHOWN = 25
NEWEST = 6
"""Deals that the desk itself shows; all of them, ``SHOWN`` at a time, have a page of their own."""

ENDING_DAYS = 2
MOST_ENDING = 4
HOT_FOR = timedelta(days=1)
"""How long the desk shows how far the telling of a hot deal has got."""

MOST_COUNTED = 1_000
"""Readers that the hot page counts: one page of their index. Of more it says that there are more."""

LOOKS_AGAIN = 10
"""Seconds after which the page of a hot deal's progress looks again without script. With it, desk.js does."""

WRITES_PER_MESSAGE = 2
DOLLARS_PER_MILLION_WRITES = 0.625
"""A message is written to the table and to GSI1: https://aws.amazon.com/dynamodb/pricing/on-demand (docs/cost.md)."""

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

_REFUSED = (InvalidFields, NoSuchTopic, DealTooLarge)
"""Errors of a deal's form that its page names at a field."""

routes = Routes()


@routes.get("/desk")
def desk(request: Request) -> Answer:
    """Today: how far hot deals have got, what ends, what was posted, with clicks; and the front page's order."""
    _editor(request)
    now, today = request.now, Period.DAY.start_of(request.now)
    asked: list[Callable[[], Any]] = [
        partial(feeds.read, table(), ALL_DEALS, limit=SHOWN, now=now),
        partial(endings.upcoming, table(), now, days=ENDING_DAYS, most=MOST_ENDING),
        partial(lists.FRONT.read, table(), now),
        partial(feed_counts.counts, table(), ALL_DEALS, most=1, until=today),
    ]
    newest, ending, picked, counts = table().gather(asked)
    shown = newest.items[:NEWEST]
    ids = list(dict.fromkeys(deal.deal_id for deal in (*shown, *ending, *picked)))
    known = {deal.deal_id: deal for deal in (*newest.items, *ending, *picked)}
    told = [deal for deal in known.values() if deal.hot_at is not None and now - deal.hot_at < HOT_FOR]
    asked = [partial(clicks.of, table(), ids), *(partial(fanout.progress, table(), deal.deal_id) for deal in told)]
    followed, *progress = table().gather(asked)
    readers = 0 if all(each.finished for each in progress) else _readers()
    return _page(
        "desk/today.html",
        request,
        posted=[_line(deal, now, followed) for deal in shown],
        posted_today=counted(counts.get(today, 0), "deal"),
        more=newest.next is not None or len(newest.items) > NEWEST,
        newest=SHOWN,
        ending=[_line(deal, now, followed) for deal in ending],
        told=[
            {"deal": views.card(deal, now), **_told(deal, each, readers)}
            for deal, each in zip(told, progress, strict=True)
        ],
        # On a shop's page, an address without an origin would be the shop's.
        bookmarklet=BOOKMARKLET.format(desk=absolute("/desk/deals/new")) if origin() else "",
        ordered=_order(lists.FRONT, picked, now, followed),
        typed={"add": ""},
        errors={},
    )


@routes.get("/desk/deals")
def all_deals(request: Request) -> Answer:
    """All listed deals with their clicks, newest first, a page at a time."""
    _editor(request)
    found = feeds.read(table(), ALL_DEALS, limit=SHOWN, now=request.now, cursor=request.query.get("cursor"))
    followed = clicks.of(table(), [deal.deal_id for deal in found.items])
    return _page(
        "desk/deals.html",
        request,
        rows=[_line(deal, request.now, followed) for deal in found.items],
        first="cursor" not in request.query,
        older=found.next,
    )


@routes.get("/desk/deals/new")
def new_deal(request: Request) -> Answer:
    """One field first, the shop's address; the rest unfolds filled in with what we know of the product and the shop."""
    _editor(request)
    asked = request.query
    link = asked.get("link", "").strip()
    given = {
        "link": link,
        "title": asked.get("title", ""),
        "price": asked.get("price", ""),
        "image": asked.get("image", ""),
    }
    given["listPrice"] = asked.get("list", "")
    typed = {name: value.strip() for name, value in given.items() if value.strip()}
    if not link:
        return _page("desk/link.html", request, typed=typed, errors={})
    if not links.host(link):
        return _page(
            "desk/link.html",
            request,
            HTTPStatus.UNPROCESSABLE_ENTITY,
            typed=typed,
            errors={"link": deal_form.WORDS["link"]},
        )
    of_product = offers.offers(table(), link)
    last = deal_form.last_offer(link, of_product)
    known = deal_form.typed_of_product(last) if last else deal_form.known_of_shop(table(), link, request.now)
    return _form_page(
        request,
        {**known, **typed},
        of_product=of_product,
        key=forms.new_key(),
        guessed=bool(known),
        priced_by=last if "price" in known and "price" not in typed else None,
    )


@routes.get("/desk/deals/preview")
def new_deal_again(request: Request) -> Answer:
    """A preview is made of what was typed, so its address alone leads to an empty form."""
    _editor(request)
    return pages.redirect("/desk/deals/new")


@routes.post("/desk/deals/preview")
def preview(request: Request) -> Answer:
    """The card and the page of a new deal as they will be, and the form below. Nothing is written."""
    _editor(request)
    return _previewed(request)


@routes.post("/desk/deals")
def post_deal(request: Request) -> Answer:
    session = _editor(request)
    typed = forms.read(request.event)
    try:
        new = deal_form.new(typed)
        deal = replace(new.to_deal(request.now, secrets.token_bytes(16)), correlation_id=request.correlation_id)
        once = forms.idempotency(typed, session.username, deal_form.filled(typed))
        deal = deals.create(table(), deal, request.now, idempotency=once)
    except _REFUSED as error:
        return _refused_form(request, typed, error)
    except IdempotencyKeyReused:
        again = {"link": "This form has posted a deal already, and was changed since. Post again if you mean another."}
        fresh = {**typed, "key": forms.new_key()}
        return _form_page(request, fresh, again, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    if deal.correlation_id == request.correlation_id:  # else an earlier sending of this form posted it
        report(metrics.DEALS_POSTED)
    return pages.redirect(f"/desk/deals/{views.number(deal)}", said="posted")


@routes.get("/desk/deals/<number>")
def one_deal(request: Request, number: str) -> Answer:
    _editor(request)
    deal = _find(number)
    return _form_page(request, deal_form.typed_of(deal), deal=deal)


@routes.post("/desk/deals/<number>")
def edit_deal(request: Request, number: str) -> Answer:
    _editor(request)
    typed = forms.read(request.event)

    def attempt() -> Answer:
        deal = _find(number)
        try:
            changes = deal_form.changes(typed, request.now)
            merged = deal_form.merged(typed, changes, deal)
            if merged.asks:
                return _form_page(request, merged.typed, deal=deal, status=HTTPStatus.CONFLICT, merged=merged)
            correlation_id, version = request.correlation_id, deal.version
            deals.edit(table(), deal.deal_id, changes, request.now, correlation_id=correlation_id, version=version)
        except _REFUSED as error:
            return _refused_form(request, typed, error, deal)
        return pages.redirect(f"/desk/deals/{number}", said="edited")

    # Who edits the deal between the reading and the writing here is another editor like any other: it is read again.
    return table().retry(attempt, when=EditedMeanwhile, gave_up=Busy("Many are editing this deal at once; try again."))


@routes.get("/desk/deals/<number>/preview")
def one_deal_again(request: Request, number: str) -> Answer:
    """A preview is made of what was typed, so its address alone leads to the deal's form."""
    _editor(request)
    return pages.redirect(f"/desk/deals/{number}")


@routes.post("/desk/deals/<number>/preview")
def preview_change(request: Request, number: str) -> Answer:
    """The card and the page of a deal as they would be, and the form below. Nothing is written."""
    _editor(request)
    return _previewed(request, _find(number))


@routes.get("/desk/deals/<number>/withdraw")
def withdraw_page(request: Request, number: str) -> Answer:
    """What withdrawing a deal does, before it is done."""
    return _asking_page(request, number, "desk/withdraw.html", (Status.ACTIVE, Status.EXPIRED))


@routes.post("/desk/deals/<number>/withdraw")
def withdraw(request: Request, number: str) -> Answer:
    return _changed(request, number, "withdrawn", withdrawn_at=request.now)


@routes.post("/desk/deals/<number>/restore")
def restore(request: Request, number: str) -> Answer:
    return _changed(request, number, "restored", withdrawn_at=None)


@routes.get("/desk/deals/<number>/end")
def end_page(request: Request, number: str) -> Answer:
    """What ending a deal does, before it is done."""
    return _asking_page(request, number, "desk/end.html", (Status.ACTIVE,))


@routes.post("/desk/deals/<number>/end")
def end(request: Request, number: str) -> Answer:
    return _changed(request, number, "ended", ends_at=request.now)


@routes.get("/desk/deals/<number>/hot")
def hot_page(request: Request, number: str) -> Answer:
    """How many will be told and what it costs, before; how far it has got, afterwards."""
    _editor(request)
    deal = _find(number)
    if deal.hot_at is not None:
        return pages.redirect(f"/desk/deals/{number}/hot/progress")
    readers = _readers()
    reached = min(readers, MOST_COUNTED)
    more = readers > MOST_COUNTED
    units = reached * WRITES_PER_MESSAGE
    dollars = _dollars(units * DOLLARS_PER_MILLION_WRITES / 1_000_000)
    return _page(
        "desk/hot.html",
        request,
        d=views.card(deal, request.now),
        number=number,
        over=deal.status(request.now) is not Status.ACTIVE,
        readers=f"{'More than ' if more else ''}{counted(reached, 'reader')}",
        messages=f"{'more than ' if more else ''}{reached:,}",
        units=f"{'more than ' if more else ''}{units:,}",
        dollars=f"{'more than ' if more else ''}{dollars}",
    )


@routes.post("/desk/deals/<number>/hot")
def make_hot(request: Request, number: str) -> Answer:
    _editor(request)
    deal = _find(number)
    deals.make_hot(table(), deal.deal_id, request.now, correlation_id=request.correlation_id)
    return pages.redirect(f"/desk/deals/{number}/hot/progress", said="hot")


@routes.get("/desk/deals/<number>/hot/progress")
def hot_progress(request: Request, number: str) -> Answer:
    """How far the telling of a hot deal has got: a page, and for the script of that page the same as JSON."""
    _editor(request)
    deal = _find(number)
    if deal.hot_at is None:
        return pages.redirect(f"/desk/deals/{number}/hot")
    progress = fanout.progress(table(), deal.deal_id)
    told = _told(deal, progress, 0 if progress.finished else _readers())
    if request.wants_json:
        return Answer(json.dumps(told), media_type="application/json")
    return _page(
        "desk/progress.html",
        request,
        # "Everybody is being told" is over then, and the heading says so.
        said=None if progress.finished else request.query.get("said"),
        d=views.card(deal, request.now),
        number=number,
        since=views.moment(deal.hot_at),
        looks_again=LOOKS_AGAIN,
        **told,
    )


@routes.get("/desk/front-page")
def front_page(request: Request) -> Answer:
    return _order_page(request, lists.FRONT)


@routes.post("/desk/front-page")
def order_front_page(request: Request) -> Answer:
    return _ordered(request, lists.FRONT)


@routes.get("/desk/editors-choice")
def editors_choice(request: Request) -> Answer:
    return _order_page(request, lists.CHOICE)


@routes.post("/desk/editors-choice")
def order_editors_choice(request: Request) -> Answer:
    return _ordered(request, lists.CHOICE)


@routes.get("/desk/categories/<slug>")
def category(request: Request, slug: str) -> Answer:
    return _order_page(request, lists.of_category(slug))


@routes.post("/desk/categories/<slug>")
def order_category(request: Request, slug: str) -> Answer:
    return _ordered(request, lists.of_category(slug))


@routes.get("/desk/brands")
def brand_form(request: Request) -> Answer:
    _editor(request)
    return _brands_page(request, {"name": request.query.get("name", "")})


@routes.post("/desk/brands")
def new_brand(request: Request) -> Answer:
    """A brand under a new name. Similar names are shown first, and a similar name must be confirmed."""
    _editor(request)
    typed = forms.read(request.event)
    try:
        name = check(NewBrand, {"name": typed.get("name", "")}).name.strip()
        near = [] if typed.get("sure") == "1" else _near(name)
        if near:
            return _brands_page(request, typed, near=near, status=HTTPStatus.CONFLICT)
        slug = slugs.slug(name)
        brands.create(table(), slug, name, request.now)
    except InvalidFields as error:
        return _brands_page(request, typed, error.errors, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    except BrandExists:
        return _brands_page(request, typed, {"name": "This brand exists already."}, status=HTTPStatus.CONFLICT)
    return pages.redirect("/desk/brands", said="brand")


def _editor(request: Request) -> Session:
    """Who asks, if that is an editor. Raises NotSignedIn, Forbidden."""
    return cookies.editor_of(table(), request, "The desk is for editors.")


def _find(number: str) -> Deal:
    """A deal by its number, as it is at this moment. Raises NoSuchDeal."""
    return deals.find(table(), number, consistent=True)


def _readers() -> int:
    """How many users there are, or one more than ``MOST_COUNTED`` where there are more than that."""
    return users.count(table(), MOST_COUNTED + 1)


def _dollars(amount: float) -> str:
    """A small amount, rounded down: where it is the least that something costs, it must not be more than that."""
    hundredths_of_cents = math.floor(amount * 10_000)
    return f"${hundredths_of_cents / 10_000:.4f}" if hundredths_of_cents else "less than $0.0001"


def _page(
    template: str, request: Request, status: int = HTTPStatus.OK, *, here: str | None = None, **values: Any
) -> Answer:
    said = request.query.get("said")
    return pages.page(template, status=status, here=here or request.path, **({"said": said} | values))


def _previewed(request: Request, deal: Deal | None = None) -> Answer:
    """A deal as a form would make it, or would make of ``deal``, with the form below."""
    typed = forms.read(request.event)
    try:
        shown = deal_form.deal_of(table(), typed, request.now, deal)
    except _REFUSED as error:
        return _refused_form(request, typed, error, deal)
    return _form_page(request, typed, deal=deal, shown=shown)


def _form_page(
    request: Request,
    typed: Mapping[str, str],
    errors: Mapping[str, str] | None = None,
    *,
    deal: Deal | None = None,
    of_product: Sequence[Deal] | None = None,
    status: int = HTTPStatus.OK,
    key: str | None = None,
    shown: Deal | None = None,
    guessed: bool = False,
    priced_by: Deal | None = None,
    merged: deal_form.Merged | None = None,
) -> Answer:
    """The form of a new deal or, with ``deal``, of one that exists; beside it what we know of the product.

    Where its price is another deal's (``priced_by``), the form says so: shops change theirs. Above a form that another
    editor's changes are ``merged`` into stand these changes.
    """
    now = request.now
    link = typed.get("link", "")
    if of_product is None:
        of_product = offers.offers(table(), link) if links.host(link) else []
    others = [offer for offer in of_product if deal is None or offer.deal_id != deal.deal_id]
    number = str(views.number(deal)) if deal else ""
    return _page(
        "desk/deal.html",
        request,
        status,
        here=None if deal else "/desk/deals/new",
        typed={name: typed.get(name, "") for name in deal_form.FIELDS},
        errors=dict(errors or {}),
        number=number,
        key=key or typed.get("key", ""),
        read_values={f"{deal_form.READ}{name}": value for name, value in deal_form.read_values(typed, deal).items()}
        if deal
        else {},
        status_name=deal.status(now).value if deal else "",
        hot=bool(deal and deal.hot_at),
        title=deal.title if deal else "",
        stock=deal.stock.value.replace("-", " ") if deal and deal.stock else "",
        clicks=clicks.of(table(), [deal.deal_id])[deal.deal_id] if deal else 0,
        duplicates=[views.card(offer, now) for offer in others if offer.status(now) is Status.ACTIVE],
        earlier=[views.card(offer, now) for offer in others][:10],
        guessed=guessed,
        price_hint=deal_form.price_hint(priced_by, now) if priced_by else "",
        theirs=merged.theirs if merged else [],
        conflicts=merged.conflicts if merged else [],
        shown=_shown(shown, now) if shown else None,
        brand_names=_brand_names(),
        currencies={code: code for code in dict.fromkeys((typed.get("currency") or "USD", *deal_form.CURRENCIES))},
    )


def _shown(deal: Deal, now: datetime) -> dict[str, Any]:
    """A deal as its preview shows it: the card, and the head of its page."""
    return {
        "card": views.card(deal, now),
        "d": views.card(deal, now, width=720),
        "link": deal.link,
        "shop": links.host(deal.link),
        "status_name": deal.status(now).value,
        "posted": views.moment(deal.created_at),
        "ends_at": views.moment(deal.ends_at) if deal.ends_at else "",
        "stock": deal.stock.value if deal.stock else "",
        "coupon": deal.coupon_code or "",
        "text": deal.description or "",
    }


def _refused_form(
    request: Request,
    typed: Mapping[str, str],
    error: InvalidFields | NoSuchTopic | DealTooLarge,
    deal: Deal | None = None,
) -> Answer:
    """A deal's form again, with what was typed, and at each field that cannot be used what it needs."""
    match error:
        case InvalidFields(errors=errors):
            pass
        case NoSuchTopic():
            near = _near(typed.get("brand", ""))
            also = f" Near: {', '.join(near)}." if near else ""
            errors = {"brand": f"There is no brand of this name yet.{also} Create it on the page of brands first."}
        case DealTooLarge():
            errors = {"description": str(error)}
    return _form_page(request, typed, errors, deal=deal, status=HTTPStatus.UNPROCESSABLE_ENTITY)


def _brand_names() -> list[str]:
    """Names to complete a brand from; none if there are very many, which would fill the page."""
    names = list(brands.names(table(), consistent=True).values())
    return names if len(names) <= 500 else []


def _near(name: str) -> list[str]:
    """Names of brands that are written almost like this one, without the one itself."""
    known = brands.names(table(), consistent=True)
    asked = deal_form.slug_of(name)
    near = difflib.get_close_matches(asked, known, n=5, cutoff=0.75)
    begins = [slug for slug in known if asked and (slug.startswith(f"{asked}-") or asked.startswith(f"{slug}-"))]
    return [known[slug] for slug in dict.fromkeys((*near, *begins)) if slug != asked][:5]


def _brands_page(
    request: Request,
    typed: Mapping[str, str],
    errors: Mapping[str, str] | None = None,
    *,
    near: Sequence[str] = (),
    status: int = HTTPStatus.OK,
) -> Answer:
    known = brands.names(table(), consistent=True)
    return _page(
        "desk/brands.html",
        request,
        status,
        typed={"name": typed.get("name", "")},
        errors=dict(errors or {}),
        near=list(near),
        names=[{"slug": slug, "name": name} for slug, name in known.items()],
    )


def _changed(request: Request, number: str, said: str, **changes: Any) -> Answer:
    _editor(request)
    deal = _find(number)
    deals.edit(table(), deal.deal_id, changes, request.now, correlation_id=request.correlation_id)
    return pages.redirect(f"/desk/deals/{number}", said=said)


def _asking_page(request: Request, number: str, template: str, possible: Sequence[Status]) -> Answer:
    """A page that says what will happen to a deal and asks; the deal's form where its status rules that out."""
    _editor(request)
    deal = _find(number)
    if deal.status(request.now) not in possible:
        return pages.redirect(f"/desk/deals/{number}")
    return _page(template, request, d=views.card(deal, request.now), number=number)


def _order_page(
    request: Request,
    ordered: lists.List,
    picked: Sequence[Deal] | None = None,
    errors: Mapping[str, str] | None = None,
    typed: str = "",
    status: int = HTTPStatus.UNPROCESSABLE_ENTITY,
) -> Answer:
    """A list's page: as it is, or with ``errors`` what was tried with it (``picked``) and a status that says so."""
    _editor(request)
    now = request.now
    kept = ordered.read(table(), now)
    shown = kept if picked is None else picked
    followed = clicks.of(table(), [deal.deal_id for deal in shown])
    return _page(
        "desk/order.html",
        request,
        status if errors else HTTPStatus.OK,
        ordered=_order(ordered, shown, now, followed, kept),
        errors=dict(errors or {}),
        typed={"add": typed},
        lists=[{"path": each.path, "name": each.name} for each in lists.EVERY],
    )


def _order(
    ordered: lists.List,
    picked: Sequence[Deal],
    now: datetime,
    followed: Mapping[str, int],
    kept: Sequence[Deal] | None = None,
) -> dict[str, Any]:
    """A list as its table shows it, on its own page and on the desk. ``kept`` is the stored list, if not ``picked``."""
    return {
        "path": ordered.path,
        "name": ordered.name,
        "public": ordered.public,
        "hint": ordered.hint,
        "rows": [_line(deal, now, followed) for deal in picked],
        "before": _numbers(picked),
        "kept": _numbers(picked if kept is None else kept),
    }


def _numbers(picked: Sequence[Deal]) -> str:
    return ",".join(str(views.number(deal)) for deal in picked)


def _ordered(request: Request, ordered: lists.List) -> Answer:
    """Do what a button says to a list: ``up:12``, ``down:12``, ``out:12``, ``add``, or ``keep`` for a dragged order.

    The form carries the whole order. So editors can add deals one by one to a list that is still too short for its
    category, which is not stored until it is long enough.
    It also carries the stored list that it was made from. Where another editor has changed that since, the new list is
    shown and nothing is written; of two forms sent at the same instant the last one wins. A form that is sent twice
    finds the list as it wants it, and is answered as the first time.
    The answer leads back to the form's page, and there to the deal that was moved: Tab goes on to its buttons.
    """
    _editor(request)
    typed = forms.read(request.event)
    numbers = [each for each in typed.get("order", "").split(",") if each]
    action, _, which = typed.get("do", "keep").partition(":")
    if action == "add":
        which = re.sub(r"[^0-9A-Za-z]", "", typed.get("add", ""))
        numbers = [*numbers, which] if which else numbers
    numbers = lists.moved(numbers, action, which)
    now_is = _numbers(ordered.read(table(), request.now))
    if "kept" in typed and typed["kept"] != now_is and now_is != ",".join(numbers):
        errors = {"add": "This list was changed meanwhile. This is how it is now; please do it again."}
        return _order_page(request, ordered, errors=errors, typed=typed.get("add", ""), status=HTTPStatus.CONFLICT)
    try:
        picked = [deals.find(table(), number, consistent=True) for number in numbers]
    except NoSuchDeal:
        errors = {"add": f"There is no deal with the number {which}."}
        return _order_page(request, ordered, _those_there(numbers), errors, which)
    over = [deal for deal in picked if deal.status(request.now) is not Status.ACTIVE]
    if action == "add" and over:
        errors = {"add": "This deal has ended or was withdrawn."}
        return _order_page(request, ordered, [deal for deal in picked if deal not in over], errors, which)
    try:
        ordered.keep(table(), [deal.deal_id for deal in picked], request.now)
    except (WrongFeaturedCount, NoSuchDeals) as error:
        return _order_page(request, ordered, _once(picked), {"add": str(error)}, which if action == "add" else "")
    back = "/desk" if typed.get("back") == "/desk" else ordered.path
    moved = dict(zip(numbers, picked, strict=True)).get(which)
    return pages.redirect(back, said="ordered", fragment=f"deal-{views.number(moved)}" if moved else "order")


def _those_there(numbers: Sequence[str]) -> list[Deal]:
    found = []
    for number in numbers:
        try:
            found.append(deals.find(table(), number, consistent=True))
        except NoSuchDeal:
            continue
    return _once(found)


def _once(picked: Sequence[Deal]) -> list[Deal]:
    return list({deal.deal_id: deal for deal in picked}.values())


def _line(deal: Deal, now: datetime, followed: Mapping[str, int]) -> dict[str, Any]:
    return {**views.card(deal, now, width=128), "clicks": followed.get(deal.deal_id, 0)}


def _told(deal: Deal, progress: fanout.Progress, readers: int) -> dict[str, Any]:
    """How far the telling of a hot deal has got, of about how many readers, and how fast: in words, and as a bar.

    ``readers`` is what ``_readers`` counts. Where there are more than ``MOST_COUNTED``, nobody knows how many, and the
    bar shows how many of the parts are finished in which all users are read. ``most`` is the bar's end, 0 where that
    is not known yet.
    """
    told, finished = progress.told, progress.finished
    seconds = (progress.at - deal.hot_at).total_seconds() if progress.at and deal.hot_at else 0
    of, parts = "", ""
    if finished:
        reached, most = 1, 1
    elif readers <= MOST_COUNTED:
        reached, most = told, max(told, readers)
        of = f"of about {most:,}"
    else:
        reached, most = progress.segments_finished, progress.segments if progress.segments_finished else 0
        of = f"of more than {MOST_COUNTED:,}" if told <= MOST_COUNTED else ""
        parts = f"{reached} of {most} parts of the list finished" if most else ""
    rate = f"{told / seconds:,.0f} a second" if seconds >= 1 and told >= seconds else ""
    so_far = f" so far{', ' if of else ''}{of}"
    return {
        "title": "Everybody is told" if finished else f"{told:,} told",
        "heading": "Everybody is told" if finished else "Being told",
        "sentence": f"{counted(told, 'reader')} told{'' if finished else so_far}.{parts and f' {parts}.'}",
        "told": f"{told:,}",
        "of": of,
        "parts": parts,
        "finished": finished,
        "reached": reached,
        "most": most,
        "rate": rate,
        "messages": f"{told:,}{rate and f', {rate}'}",
    }


handler = serve(routes, guards=[forms.ours_only])
