"""Posting a deal, editing it, withdrawing and ending it.

The form of a new deal carries an idempotency key, so that sending it again by reloading posts nothing twice. The form
of a deal that exists carries the values it was read with, so that it takes back nothing that another editor wrote.
A deal that is odd is shown with what is odd about it, and written once its editor means it.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from http import HTTPStatus
from typing import Any

from functions.pages.desk import deal_form, lists
from functions.pages.desk.deal_form import brand_names, changed, deal_of, desk_page, edit
from functions.pages.desk.lists import near_names
from shared import features, settings
from shared.data.catalog import clicks, deals, editing, offers
from shared.data.catalog.drafts import Draft
from shared.errors import (
    Busy,
    DamagedDeal,
    DealIsOdd,
    DealIsOver,
    DealTooLarge,
    EditedMeanwhile,
    IdempotencyKeyReused,
    InvalidInput,
    NoSuchTopic,
)
from shared.html import cookies, forms, pages, views
from shared.html.app import Routes
from shared.html.pages import Answer, Request
from shared.models.catalog import CATEGORIES, Deal, Status
from shared.runtime import metrics
from shared.runtime.environment import table
from shared.runtime.metrics import report
from shared.values import links

REFUSED = (InvalidInput, NoSuchTopic, DealTooLarge, DealIsOdd)
"""Errors that the deal form shows, with its values."""

POSSIBLE = {"withdraw": (Status.ACTIVE, Status.EXPIRED), "end": (Status.ACTIVE,)}
"""The statuses of deals that can be withdrawn or ended."""

OF_FEATURES = tuple(features.joining("desk"))
"""The modules of features' own pages of the desk, which also have parts of a deal's form."""

routes = Routes()


@routes.get("/desk/deals/new")
def new_deal(request: Request) -> Answer:
    """One field first, the shop's address; the rest unfolds filled in with what we know of the product and the shop."""
    cookies.editor_of(request)
    names = {"link": "link", "title": "title", "price": "price", "image": "image", "listPrice": "list"}
    typed = {name: text for name, given in names.items() if (text := request.query.get(given, "").strip())}
    link = typed.get("link", "")
    if not links.host(link):
        errors = {"link": deal_form.WORDS["link"]} if link else None
        return desk_page("desk/link.html", request, typed=typed, errors=errors)
    of_product = offers.offers(table(), link)
    last = deal_form.last_offer(of_product)
    known = deal_form.typed_of_product(last) if last else deal_form.known_of_shop(table(), link, request.now)
    return form_page(
        request,
        {**known, **typed, "key": forms.new_key()},
        of_product=of_product,
        guessed=bool(known),
        priced_by=last if "price" in known and "price" not in typed else None,
    )


@routes.post("/desk/deals/preview", form_page="/desk/deals/new")
def preview(request: Request) -> Answer:
    """The card and the page of a new deal as they will be, and the form below. Nothing is written."""
    cookies.editor_of(request)
    return previewed(request)


@routes.post("/desk/deals")
def post_deal(request: Request) -> Answer:
    session = cookies.editor_of(request)
    typed = forms.read(request.event)
    try:
        new = deal_form.to_post(typed).to_deal(request.now, secrets.token_bytes(16))
        deal = replace(new, correlation_id=request.correlation_id).signed(request.username)
        once = forms.idempotency(typed, session.account_id, deal_form.filled(typed))
        deal = editing.create(table(), deal, request.now, deal_form.seen(typed), idempotency=once)
    except REFUSED as error:
        return refused_form(request, typed, error)
    except IdempotencyKeyReused:
        again = {"link": "This form already posted a deal and has changed since. Post again to create another deal."}
        return form_page(request, {**typed, "key": forms.new_key()}, again)
    if deal.correlation_id == request.correlation_id:  # else an earlier sending of this form posted it
        report(metrics.DEALS_POSTED)
    then = typed.get("then", "")
    fragment = then if then in {each.THEN for each in OF_FEATURES} else ""
    return pages.redirect(f"/desk/deals/{views.number(deal)}", fragment=fragment, notice="posted")


@routes.get("/desk/deals/<number>")
def one_deal(request: Request, number: str) -> Answer:
    """The form of a deal. Of a damaged deal it holds the readable fields and names the others."""
    try:
        deal = deal_of(request, number)
    except DamagedDeal as damaged:
        left, lost = editing.salvage(table(), damaged.name)
        return form_page(
            request, deal_form.typed_of(left), deal_form.lost(lost), deal=left, damaged=True, status=HTTPStatus.OK
        )
    return form_page(request, deal_form.typed_of(deal), deal=deal)


@routes.post("/desk/deals/<number>")
def edit_deal(request: Request, number: str) -> Answer:
    cookies.editor_of(request)
    typed = forms.read(request.event)

    def attempt() -> Answer:
        try:
            deal = deals.find(table(), number, consistent=True)
        except DamagedDeal as damaged:
            return _mended(request, typed, number, damaged.name)
        try:
            changes = deal_form.changes(typed, request.now)
            merged = deal_form.merged(typed, changes, deal)
            if merged.theirs or merged.conflicts:
                return form_page(request, merged.typed, deal=deal, status=HTTPStatus.CONFLICT, merged=merged)
            editing.ask(replace(deal, **changes), request.now, deal_form.seen(typed), deal)
            edit(request, deal, changes, deal.version)
        except REFUSED as error:
            return refused_form(request, typed, error, deal)
        return pages.redirect(f"/desk/deals/{number}", notice="edited")

    # Edited since our read: merge again.
    return table().retry(attempt, when=EditedMeanwhile, gave_up=Busy("Many are editing this deal at once; try again."))


def _mended(request: Request, typed: Mapping[str, str], number: str, deal_id: str) -> Answer:
    """A damaged deal, written anew as its form says; its number is that of its address."""
    numbered = {"number": int(number)} if number.isdecimal() else {}
    who = {"by": request.username, "correlation_id": request.correlation_id}
    try:
        changes = deal_form.changes(typed, request.now) | numbered
        editing.mend(table(), deal_id, changes, request.now, **who, confirmed=deal_form.seen(typed))
    except REFUSED as error:
        left, _ = editing.salvage(table(), deal_id)
        return refused_form(request, typed, error, left, damaged=True)
    return pages.redirect(f"/desk/deals/{number}", notice="edited")


@routes.post("/desk/deals/<number>/preview", form_page="/desk/deals/<number>")
def preview_change(request: Request, number: str) -> Answer:
    """The card and the page of a deal as they would be, and the form below. Nothing is written."""
    return previewed(request, deal_of(request, number))


@routes.get("/desk/deals/<number>/withdraw", "/desk/deals/<number>/end")
def asking_page(request: Request, number: str) -> Answer:
    """The page that says what withdrawing or ending a deal does, before it is done, where it can be done."""
    deal, action = deal_of(request, number), request.path.rpartition("/")[2]
    if deal.status(request.now) not in POSSIBLE[action]:
        return pages.redirect(f"/desk/deals/{number}")
    return desk_page(f"desk/{action}.html", request, d=views.card(deal, request.now), number=number)


@routes.post("/desk/deals/<number>/withdraw")
def withdraw(request: Request, number: str) -> Answer:
    return changed(request, number, "withdrawn", withdrawn_at=request.now)


@routes.post("/desk/deals/<number>/restore")
def restore(request: Request, number: str) -> Answer:
    return changed(request, number, "restored", withdrawn_at=None)


@routes.post("/desk/deals/<number>/end")
def end(request: Request, number: str) -> Answer:
    return changed(request, number, "ended", ends_at=request.now)


@routes.post("/desk/deals/<number>/undo")
def undo(request: Request, number: str) -> Answer:
    deal = deal_of(request, number)
    editing.undo(table(), deal.deal_id, request.now, by=request.username, correlation_id=request.correlation_id)
    return pages.redirect(f"/desk/deals/{number}", notice="as-before")


@routes.post("/desk/deals/<number>/front-page", form_page="/desk/deals/<number>")
def lead_front_page(request: Request, number: str) -> Answer:
    """Put a deal to the first place of the front page; from a list that is full, the last one goes."""
    deal = deal_of(request, number)
    if deal.status(request.now) is not Status.ACTIVE:
        raise DealIsOver(deal.deal_id)
    lists.FRONT.lead(table(), [deal.deal_id], request.now)
    return pages.redirect(f"/desk/deals/{number}", notice="leads")


def previewed(request: Request, deal: Deal | None = None, draft: Draft | None = None) -> Answer:
    """A deal as a form would make it, or would make of ``deal``, with the form below."""
    typed = forms.read(request.event)
    try:
        shown = deal_form.deal_typed(table(), typed, request.now, deal)
    except REFUSED as error:
        return refused_form(request, typed, error, deal, draft)
    odd = editing.warnings_of(shown, request.now, deal)
    return form_page(request, typed, deal=deal, draft=draft, shown=shown, odd=odd)


def form_page(
    request: Request,
    typed: Mapping[str, str],
    errors: Mapping[str, str] | None = None,
    *,
    deal: Deal | None = None,
    of_product: Sequence[Deal] | None = None,
    status: int | None = None,
    shown: Deal | None = None,
    guessed: bool = False,
    priced_by: Deal | None = None,
    merged: deal_form.Merged | None = None,
    damaged: bool = False,
    odd: Mapping[str, str] | None = None,
    draft: Draft | None = None,
) -> Answer:
    """The form of a new deal or, with ``deal``, of one that exists; beside it what we know of the product.

    Of a ``draft`` it is the form of what it will be.

    Where its price is another deal's (``priced_by``), the form says so: shops change theirs. Above a form that another
    editor's changes are ``merged`` into stand these changes, and above one of an ``odd`` deal what is odd about it.
    """
    now = request.now
    link = typed.get("link", "")
    if of_product is None:
        of_product = offers.offers(table(), link) if links.host(link) else []
    others = [offer for offer in of_product if deal is None or offer.deal_id != deal.deal_id]
    number = str(views.number(deal)) if deal else ""
    currency = typed.get("currency") or settings.CURRENCIES[0]
    parts = {} if damaged else _parts(deal, request)
    done = (deal.withdrawn_at or deal.ends_at) if deal and editing.undone(deal, now) else None
    answer = desk_page(
        "desk/deal.html",
        request,
        status,
        here=None if deal else "/desk/drafts" if draft else "/desk/deals/new",
        typed={name: typed.get(name, "") for name in deal_form.FIELDS} | {"currency": currency},
        later=None if deal else deal_form.STARTS_AT,
        starts_at="" if deal else typed.get(deal_form.STARTS_AT.name, ""),
        draft=draft,
        errors=errors,
        damaged=damaged,
        odd=dict(odd or {}),
        number=number,
        key=typed.get("key", ""),
        read_values=deal_form.read_values(typed, deal) if deal else {},
        status_name=deal.status(now).value if deal else "",
        hot=bool(deal and deal.hot_at),
        title=deal.title if deal else "",
        stock=deal.stock.value.replace("-", " ") if deal and deal.stock else "",
        clicks=clicks.of(table(), [deal.deal_id])[deal.deal_id] if deal else 0,
        undoes=views.clock(done + editing.WITHIN) if done else "",
        log=deal_form.newest_changes(deal, now) if deal else [],
        duplicates=[views.card(offer, now) for offer in others if offer.status(now) is Status.ACTIVE],
        earlier=[views.card(offer, now) for offer in others][:10],
        guessed=guessed,
        price_hint=f"As in the deal of {views.day(priced_by.created_at, now)}. Compare it with the shop’s."  # noqa: RUF001  # as it is printed
        if priced_by
        else "",
        theirs=merged.theirs if merged else [],
        conflicts=merged.conflicts if merged else [],
        shown=views.head(shown, now) if shown else None,
        card=views.card(shown, now) if shown else None,
        link_field=deal_form.LINK,
        rows=deal_form.ROWS,
        brand_names=brand_names(),
        choices={"currencies": views.currencies(currency), "categories": CATEGORIES},
        **parts,
    )
    if "sends_to" in parts:
        answer.headers["Content-Security-Policy"] = pages.content_policy(sends_to=parts["sends_to"])
    return answer


def _parts(deal: Deal | None, request: Request) -> dict[str, Any]:
    """The features' values for a deal's form; ``sends_to`` is a host that the browser sends a file to."""
    return {name: value for each in OF_FEATURES for name, value in each.in_form(deal, request).items()}


def refused_form(
    request: Request,
    typed: Mapping[str, str],
    error: InvalidInput | NoSuchTopic | DealTooLarge | DealIsOdd,
    deal: Deal | None = None,
    draft: Draft | None = None,
    *,
    damaged: bool = False,
) -> Answer:
    """A deal's form again, with its values and either its warnings or an error at each invalid field."""
    again = partial(form_page, request, typed, deal=deal, draft=draft, damaged=damaged)
    match error:
        case DealIsOdd(warnings=odd):
            return again(status=HTTPStatus.CONFLICT, odd=odd)
        case InvalidInput():
            errors = error.errors
        case NoSuchTopic():
            near = near_names(typed.get("brand", ""))
            also = f" Near: {', '.join(near)}." if near else ""
            errors = {"brand": f"There is no brand of this name yet.{also} Create it on the Brands page first."}
        case DealTooLarge():
            errors = {"description": str(error)}
    return again(errors)
