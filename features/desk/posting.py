"""Deals: post, edit, withdraw and end them.

A new deal's form has an idempotency key, so reloading posts nothing twice. An existing deal's form has the values it
was read with, so it overwrites no other editor's changes. Warnings are shown, and must be confirmed.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache, partial
from http import HTTPStatus
from typing import Any

from features.desk import deal_form, deal_log, frame, picked
from features.desk.frame import brand_names, changed, deal_of, desk_page, edit, editor_of
from features.desk.picked import near_names
from shared import features, hooks, settings
from shared.api import documents
from shared.data.catalog import deals, editing, offers
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
from shared.html import forms, pages, views
from shared.html.pages import Answer, Request, Routes
from shared.models.catalog import Deal, Status
from shared.runtime import metrics
from shared.runtime.environment import table
from shared.runtime.metrics import report
from shared.values import links

REFUSED = (InvalidInput, NoSuchTopic, DealTooLarge, DealIsOdd)
"""Errors that the deal form shows, with its values."""

POSSIBLE = {"withdraw": (Status.ACTIVE, Status.EXPIRED), "end": (Status.ACTIVE,)}
"""The statuses in which a deal can be withdrawn or ended."""


@cache
def of_features() -> list[hooks.Editing]:
    """Features' own modules of desk pages, which also add parts to a deal's form. They import this one."""
    return features.roles(hooks.Editing)


@dataclass(frozen=True, slots=True)
class Target:
    """Where a deal's form is sent: the page's title and ``place``, the ``action`` of its button, and hidden fields.

    ``own`` is what a feature's form edits instead of a deal.
    """

    title: str
    place: str
    action: str
    here: str | None = None
    hidden: Mapping[str, str] = field(default_factory=dict)
    own: Any = None


def target_of(deal: Deal | None, typed: Mapping[str, str]) -> Target:
    """The target of a new deal's form, or of an existing one's."""
    if deal is None:
        key = {"key": typed.get("key", "")}
        return Target("Post a deal", "/desk/deals", "/desk/deals", here="/desk/deals/new", hidden=key)
    place = f"/desk/deals/{deal.page_id}"
    return Target(f"Deal {deal.page_id}", place, place, hidden=deal_form.read_values(typed, deal))


routes = Routes()


@routes.get("/desk/deals/new")
def new_deal(request: Request) -> Answer:
    """First the shop's address; then the form, filled in with what is known of the product and the shop."""
    editor_of(request)
    names = {"link": "link", "title": "title", "price": "price", "image": "image", "listPrice": "list"}
    typed = {name: text for name, given in names.items() if (text := request.query.get(given, "").strip())}
    link = typed.get("link", "")
    if not links.host(link):
        errors = {"link": deal_form.WORDS["link"]} if link else None
        return desk_page("desk/templates/link.html", request, typed=typed, errors=errors)
    of_product = offers.offers(table(), link)
    last = deal_form.last_offer(of_product)
    known = deal_form.typed_of_product(last) if last else deal_form.known_of_shop(table(), link, request.now)
    form = DealForm(
        {**known, **typed, "key": forms.new_key()},
        of_product=of_product,
        guessed=bool(known),
        priced_by=last if "price" in known and "price" not in typed else None,
    )
    return form_page(request, form)


@routes.post("/desk/deals/preview", form_page="/desk/deals/new")
def preview(request: Request) -> Answer:
    """Preview a new deal's card and page, with the form below. Nothing is written."""
    editor_of(request)
    return previewed(request)


@routes.post("/desk/deals")
def post_deal(request: Request) -> Answer:
    session = editor_of(request)
    typed = forms.read(request.event)
    try:
        for each in of_features():
            each.before_posting(typed)
        new = deal_form.new(typed).to_deal(request.now, secrets.token_bytes(16))
        deal = replace(new, correlation_id=request.correlation_id).signed(request.username)
        once = forms.idempotency(typed, session.account_id, deal_form.filled(typed))
        deal = editing.create(table(), deal, request.now, deal_form.seen(typed), idempotency=once)
    except REFUSED as error:
        return refused_form(request, typed, error)
    except IdempotencyKeyReused:
        again = {"link": "This form already posted a deal and has changed since. Post again to create another deal."}
        return form_page(request, DealForm({**typed, "key": forms.new_key()}, again))
    if deal.correlation_id == request.correlation_id:  # otherwise an earlier sending of this form posted it
        report(metrics.DEALS_POSTED)
    then = typed.get("then", "")
    fragment = then if then in {each.THEN for each in of_features()} - {""} else ""
    return pages.redirect(f"/desk/deals/{deal.page_id}", fragment=fragment, notice=_posted(deal, request.now))


def _posted(deal: Deal, now: datetime) -> str:
    """The notice of a posted deal: nobody is notified of one that has ended."""
    return "posted" if deal.status(now) is Status.ACTIVE else "posted-over"


@routes.get("/desk/deals/<number>")
def one_deal(request: Request, number: str) -> Answer:
    """A deal's form. For a damaged deal it has the readable fields and names the others."""
    try:
        deal = deal_of(request, number)
    except DamagedDeal as damaged:
        left, lost = editing.salvage(table(), damaged.name)
        form = DealForm(deal_form.typed_of(left), deal_form.lost(lost), deal=left, damaged=True)
        return form_page(request, form, HTTPStatus.OK)
    return form_page(request, DealForm(deal_form.typed_of(deal), deal=deal))


@routes.post("/desk/deals/<number>")
def edit_deal(request: Request, number: str) -> Answer:
    editor_of(request)
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
                return form_page(request, DealForm(merged.typed, deal=deal, merged=merged), HTTPStatus.CONFLICT)
            editing.ask(deal.changed(changes), request.now, deal_form.seen(typed), deal)
            edit(request, deal, changes, deal.version)
        except REFUSED as error:
            return refused_form(request, typed, error, deal)
        return pages.redirect(f"/desk/deals/{number}", notice="edited")

    # Edited since our read: merge again.
    return table().retry(attempt, when=EditedMeanwhile, gave_up=Busy("Many editors are changing this deal. Try again."))


def _mended(request: Request, typed: Mapping[str, str], number: str, deal_id: str) -> Answer:
    """Rewrite a damaged deal from its form; the address gives its number."""
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
    """Preview a deal's changed card and page, with the form below. Nothing is written."""
    return previewed(request, deal_of(request, number))


@routes.get("/desk/deals/<number>/withdraw", "/desk/deals/<number>/end")
def asking_page(request: Request, number: str) -> Answer:
    """The page that explains withdrawing or ending a deal before it is done, if it can be done."""
    deal, action = deal_of(request, number), request.path.rpartition("/")[2]
    if deal.status(request.now) not in POSSIBLE[action]:
        return pages.redirect(f"/desk/deals/{number}")
    return desk_page(f"desk/templates/{action}.html", request, d=views.card(deal, request.now), number=number)


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
    """Put a deal first on the front page; from a full list, the last one is dropped."""
    deal = deal_of(request, number)
    if deal.status(request.now) is not Status.ACTIVE:
        raise DealIsOver(deal.deal_id)
    picked.FRONT.lead(table(), [deal.deal_id], request.now)
    return pages.redirect(f"/desk/deals/{number}", notice="leads")


def previewed(request: Request, deal: Deal | None = None, target: Target | None = None) -> Answer:
    """The preview of a deal that a form would make, or change ``deal`` to, with the form below."""
    typed = forms.read(request.event)
    try:
        shown = deal_form.deal_typed(table(), typed, request.now, deal)
    except REFUSED as error:
        return refused_form(request, typed, error, deal, target)
    odd = editing.warnings_of(shown, request.now, deal)
    return form_page(request, DealForm(typed, deal=deal, target=target, shown=shown, odd=odd))


@dataclass(frozen=True, slots=True)
class DealForm:
    """The form of a new deal, an existing one (``deal``) or a feature's ``target``: its ``typed`` values, and what the
    page shows with them.

    ``errors`` are by field, ``odd`` warnings to confirm, ``merged`` other editors' changes, and ``shown`` is a preview.
    A ``damaged`` deal's fields are what can be read. ``of_product`` are the product's offers, if they are known
    already. ``guessed`` values come from earlier deals, the price from ``priced_by``: shops change prices.
    """

    typed: Mapping[str, str]
    errors: Mapping[str, str] | None = None
    deal: Deal | None = None
    target: Target | None = None
    odd: Mapping[str, str] = field(default_factory=dict)
    merged: deal_form.Merged | None = None
    shown: Deal | None = None
    damaged: bool = False
    of_product: Sequence[Deal] | None = None
    guessed: bool = False
    priced_by: Deal | None = None


def form_page(request: Request, form: DealForm, status: int | None = None) -> Answer:
    """The page of a deal's form, with data about the deal and its product."""
    now, deal, target = request.now, form.deal, form.target or target_of(form.deal, form.typed)
    known = _of_product(form, now)
    currency = form.typed.get("currency") or settings.CURRENCIES[0]
    of_form = () if form.damaged else of_features()  # their ``sends_to`` is a host that the browser sends a file to
    parts = features.joined((each.file, each.in_form(deal, request, form.typed, target.own)) for each in of_form)
    known |= _of_deal(deal, now)
    answer = desk_page(
        "desk/templates/deal.html",
        request,
        status,
        here=target.here,
        target=target,
        typed={name: form.typed.get(name, "") for name in deal_form.FIELDS} | {"currency": currency},
        errors=form.errors,
        damaged=form.damaged,
        odd=dict(form.odd),
        theirs=form.merged.theirs if form.merged else [],
        conflicts=form.merged.conflicts if form.merged else [],
        shown=views.head(form.shown, now) if form.shown else None,
        card=views.card(form.shown, now) if form.shown else None,
        link_field=deal_form.LINK,
        rows=deal_form.ROWS,
        brand_names=brand_names(),
        choices={"currencies": views.currencies(currency)},
        **known,
        **({"confirm_at": target.action, "confirm_as": "Save" if deal else "Post"} | parts),
    )
    if "sends_to" in parts:
        answer.headers["Content-Security-Policy"] = pages.content_policy(sends_to=parts["sends_to"])
    return answer


def _of_deal(deal: Deal | None, now: datetime) -> dict[str, Any]:
    """The values about an existing deal for its form's page."""
    if deal is None:
        new = {"number": "", "status_name": "", "hot": False, "title": "", "counts": (), "undoes": ""}
        return {**new, "of_features": {}, "log": []}
    done = (deal.withdrawn_at or deal.ends_at) if editing.undone(deal, now) else None
    return {
        "number": str(deal.page_id),
        "status_name": deal.status(now).value,
        "hot": bool(deal.hot_at),
        "title": deal.title,
        "of_features": documents.of_features(deal),
        "counts": frame.counts_of([deal])[deal.deal_id],
        "undoes": views.clock(done + editing.WITHIN) if done else "",
        "log": deal_log.newest_changes(deal, now),
    }


def _of_product(form: DealForm, now: datetime) -> dict[str, Any]:
    """The values about the product's other offers for a form's page."""
    found, link = form.of_product, form.typed.get("link", "")
    if found is None:
        found = offers.offers(table(), link) if links.host(link) else []
    others = [offer for offer in found if form.deal is None or offer.deal_id != form.deal.deal_id]
    since = form.priced_by and views.day(form.priced_by.created_at, now)
    return {
        "duplicates": [views.card(offer, now) for offer in others if offer.status(now) is Status.ACTIVE],
        "earlier": [views.card(offer, now) for offer in others][:10],
        "guessed": form.guessed,
        "price_hint": f"As in the deal of {since}. Compare it with the shop’s." if since else "",  # noqa: RUF001  # as it is printed
    }


def refused_form(
    request: Request,
    typed: Mapping[str, str],
    error: InvalidInput | NoSuchTopic | DealTooLarge | DealIsOdd,
    deal: Deal | None = None,
    target: Target | None = None,
    *,
    damaged: bool = False,
) -> Answer:
    """A deal's form again, with its values, and its warnings or an error at each invalid field."""
    again = partial(DealForm, typed, deal=deal, target=target, damaged=damaged)
    match error:
        case DealIsOdd(warnings=odd):
            return form_page(request, again(odd=odd), HTTPStatus.CONFLICT)
        case InvalidInput():
            errors = error.errors
        case NoSuchTopic():
            near = near_names(typed.get("brand", ""))
            also = f" Near: {', '.join(near)}." if near else ""
            errors = {"brand": f"There is no brand with this name yet.{also} Create it on the Brands page first."}
        case DealTooLarge():
            errors = {"description": str(error)}
    return form_page(request, again(errors))
