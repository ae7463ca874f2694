"""Deals and drafts: post, edit, withdraw and end deals; save and schedule drafts.

A new deal's form has an idempotency key, so reloading posts nothing twice. An existing deal's form has the values it
was read with, so it overwrites no other editor's changes. A draft's form has its version: of two windows, the later one
gets an error. Warnings are shown, and must be confirmed.

Drafts are filed under their editor, so no editor sees another's.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from http import HTTPStatus
from typing import Any

from functions.pages.desk import deal_form, lists
from functions.pages.desk.deal_form import brand_names, changed, deal_of, desk_page, edit
from functions.pages.desk.lists import near_names
from shared import features, settings
from shared.api import documents
from shared.data.catalog import clicks, deals, drafts, editing, offers
from shared.data.catalog.drafts import Draft
from shared.errors import (
    Busy,
    DamagedDeal,
    DealIsOdd,
    DealIsOver,
    DealTooLarge,
    DraftChanged,
    EditedMeanwhile,
    IdempotencyKeyReused,
    InvalidInput,
    NoSuchDraft,
    NoSuchTopic,
    TooManyDrafts,
)
from shared.html import cookies, forms, pages, views
from shared.html.forms import Fields
from shared.html.pages import Answer, Request, Routes
from shared.models.catalog import CATEGORIES, Deal, Status
from shared.runtime import metrics
from shared.runtime.environment import table
from shared.runtime.metrics import report
from shared.values import identifiers, links

REFUSED = (InvalidInput, NoSuchTopic, DealTooLarge, DealIsOdd)
"""Errors that the deal form shows, with its values."""

POSSIBLE = {"withdraw": (Status.ACTIVE, Status.EXPIRED), "end": (Status.ACTIVE,)}
"""The statuses in which a deal can be withdrawn or ended."""

OF_FEATURES = tuple(features.joining("desk"))
"""Features' own modules of desk pages, which also add parts to a deal's form."""

routes = Routes()


@routes.get("/desk/deals/new")
def new_deal(request: Request) -> Answer:
    """First the shop's address; then the form, filled in with what is known of the product and the shop."""
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
    """Preview a new deal's card and page, with the form below. Nothing is written."""
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
    if deal.correlation_id == request.correlation_id:  # otherwise an earlier sending of this form posted it
        report(metrics.DEALS_POSTED)
    then = typed.get("then", "")
    fragment = then if then in {each.THEN for each in OF_FEATURES} else ""
    return pages.redirect(f"/desk/deals/{deal.page_id}", fragment=fragment, notice="posted")


@routes.get("/desk/deals/<number>")
def one_deal(request: Request, number: str) -> Answer:
    """A deal's form. For a damaged deal it has the readable fields and names the others."""
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
    """Put a deal first on the front page; from a full list, the last one is dropped."""
    deal = deal_of(request, number)
    if deal.status(request.now) is not Status.ACTIVE:
        raise DealIsOver(deal.deal_id)
    lists.FRONT.lead(table(), [deal.deal_id], request.now)
    return pages.redirect(f"/desk/deals/{number}", notice="leads")


def previewed(request: Request, deal: Deal | None = None, draft: Draft | None = None) -> Answer:
    """The preview of a deal that a form would make, or change ``deal`` to, with the form below."""
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
    """The form of a new deal, an existing one (``deal``) or a ``draft``, with what is known of its product.

    If the price comes from another deal (``priced_by``), the form says so: shops change prices. Other editors'
    ``merged`` changes, and warnings (``odd``), are shown above the form.
    """
    now = request.now
    link = typed.get("link", "")
    if of_product is None:
        of_product = offers.offers(table(), link) if links.host(link) else []
    others = [offer for offer in of_product if deal is None or offer.deal_id != deal.deal_id]
    number = str(deal.page_id) if deal else ""
    currency = typed.get("currency") or settings.CURRENCIES[0]
    of_form = () if damaged else OF_FEATURES  # their ``sends_to`` is a host that the browser sends a file to
    parts = {name: value for each in of_form for name, value in each.in_form(deal, request).items()}
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
        of_features=documents.of_features(deal) if deal else {},
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


def refused_form(
    request: Request,
    typed: Mapping[str, str],
    error: InvalidInput | NoSuchTopic | DealTooLarge | DealIsOdd,
    deal: Deal | None = None,
    draft: Draft | None = None,
    *,
    damaged: bool = False,
) -> Answer:
    """A deal's form again, with its values, and its warnings or an error at each invalid field."""
    again = partial(form_page, request, typed, deal=deal, draft=draft, damaged=damaged)
    match error:
        case DealIsOdd(warnings=odd):
            return again(status=HTTPStatus.CONFLICT, odd=odd)
        case InvalidInput():
            errors = error.errors
        case NoSuchTopic():
            near = near_names(typed.get("brand", ""))
            also = f" Near: {', '.join(near)}." if near else ""
            errors = {"brand": f"There is no brand with this name yet.{also} Create it on the Brands page first."}
        case DealTooLarge():
            errors = {"description": str(error)}
    return again(errors)


DRAFTS = "/desk/drafts"


@routes.get(DRAFTS)
def own_drafts(request: Request) -> Answer:
    session = cookies.editor_of(request)
    return desk_page("desk/drafts.html", request, drafts=draft_rows(drafts.of(table(), session.username), request.now))


@routes.post(DRAFTS)
def save_new_draft(request: Request) -> Answer:
    """Save a new deal's form as a draft; with a time, it is scheduled."""
    session = cookies.editor_of(request)
    typed = forms.read(request.event)
    empty = Deal(identifiers.random(request.now, secrets.token_bytes(16)), "", "", "", "", "", "", "", request.now)
    planned = {deal_form.STARTS_AT.name: typed.get(deal_form.STARTS_AT.name, "")}
    sent = forms.idempotency(typed, session.account_id, deal_form.filled(typed) | planned)
    once = replace(sent, client_key=f"draft {sent.client_key}") if sent else None
    try:
        draft = deal_form.drafted(typed, Draft(empty, session.username, session.account_id), request.now)
        return _kept(drafts.save_new(table(), draft, request.now, deal_form.seen(typed), idempotency=once))
    except REFUSED as error:
        return refused_form(request, typed, error)
    except TooManyDrafts as error:
        return form_page(request, typed, {"link": str(error)}, status=HTTPStatus.CONFLICT)
    except IdempotencyKeyReused:
        again = {"link": "This form was already saved as a draft, and has changed. Save again to create another."}
        return form_page(request, {**typed, "key": forms.new_key()}, again)


def _with_draft(page: Callable[[Request, Draft, Fields], Answer]) -> Callable[[Request, str], Answer]:
    """Wrap a page of one of the editor's drafts: invalid values show the draft's form with the errors.

    For a draft that was posted meanwhile, on schedule or in another window, it shows the deal.
    """

    def found(request: Request, draft_id: str) -> Answer:
        session = cookies.editor_of(request)
        typed = forms.read(request.event)
        try:
            draft = drafts.get(table(), session.username, draft_id)
        except NoSuchDraft:
            posted = drafts.posted_as(table(), session.account_id, draft_id, request.now)
            return pages.redirect(f"/desk/deals/{posted}", notice="posted")
        try:
            return page(request, draft, typed)
        except REFUSED as error:
            return refused_form(request, typed, error, draft=draft)
        except DraftChanged:
            said = "This draft was saved in another window. To replace it with this version, save again."
            return form_page(request, typed, {"link": said}, draft=draft, status=HTTPStatus.CONFLICT)

    return found


@routes.get("/desk/drafts/<draft_id>")
@_with_draft
def one_draft(request: Request, draft: Draft, _typed: Fields) -> Answer:
    return form_page(request, deal_form.typed_of_draft(draft), draft=draft)


@routes.post("/desk/drafts/<draft_id>")
@_with_draft
def save_draft(request: Request, draft: Draft, typed: Fields) -> Answer:
    """Save a draft's form, which schedules it or, without a time, cancels its schedule."""
    new = deal_form.drafted(typed, draft, request.now)
    try:
        return _kept(drafts.save(table(), _as_read(draft, typed), new, request.now, deal_form.seen(typed)))
    except DraftChanged:
        if deal_form.typed_of_draft(new) == deal_form.typed_of_draft(draft):  # it was sent twice
            return _kept(draft)
        raise


@routes.post("/desk/drafts/<draft_id>/post", form_page="/desk/drafts/<draft_id>")
@_with_draft
def post_draft(request: Request, draft: Draft, typed: Fields) -> Answer:
    deal_form.to_post(typed)
    draft = deal_form.drafted(typed, _as_read(draft, typed), request.now)
    seen, correlation_id = deal_form.seen(typed), request.correlation_id
    deal = drafts.post(table(), draft, request.now, seen, correlation_id=correlation_id)
    if deal.correlation_id == correlation_id:  # otherwise an earlier sending of this form posted it
        report(metrics.DEALS_POSTED)
    return pages.redirect(f"/desk/deals/{deal.page_id}", notice="posted")


@routes.post("/desk/drafts/<draft_id>/preview", form_page="/desk/drafts/<draft_id>")
@_with_draft
def preview_draft(request: Request, draft: Draft, _typed: Fields) -> Answer:
    """Preview a draft's card and page, with the form below. Nothing is written."""
    return previewed(request, draft=draft)


@routes.get("/desk/drafts/<draft_id>/discard")
@_with_draft
def discard_page(request: Request, draft: Draft, _typed: Fields) -> Answer:
    """The page that explains discarding a draft before it is done."""
    return desk_page("desk/discard.html", request, draft=draft_rows([draft], request.now)[0])


@routes.post("/desk/drafts/<draft_id>/discard")
def discard_draft(request: Request, draft_id: str) -> Answer:
    try:
        return _discarded(request, draft_id)
    except NoSuchDraft:  # it was sent twice
        return pages.redirect(DRAFTS, notice="discarded")


@_with_draft
def _discarded(_request: Request, draft: Draft, _typed: Fields) -> Answer:
    drafts.discard(table(), draft)
    return pages.redirect(DRAFTS, notice="discarded")


def draft_rows(found: list[Draft], now: datetime) -> list[dict[str, Any]]:
    """The rows of drafts: those that couldn't be posted first, then the scheduled ones by time."""
    order = sorted(found, key=lambda draft: (not draft.refused, draft.starts_at is None, draft.starts_at or now))
    return [_draft_row(draft, now) for draft in order]


def _draft_row(draft: Draft, now: datetime) -> dict[str, Any]:
    deal = draft.deal
    return {
        "id": draft.draft_id,
        "title": deal.title or deal.link or "Without a title",
        "brand": deal.brand_name,
        "category": deal.category,
        "price": views.money(deal.price, deal.currency) if deal.price and deal.currency else "",
        "saved": views.short_moment(deal.changed_at, now),
        "missing": len(draft.missing),
        "starts_at": draft.starts_at,
        "starts": views.short_moment(draft.starts_at, now) if draft.starts_at else "",
        "late": draft.starts_at is not None and draft.starts_at <= now,
        "refused": draft.refused,
    }


def _as_read(draft: Draft, typed: Mapping[str, str]) -> Draft:
    """A draft with the version that its form was read with."""
    version = typed.get("version", "")
    return replace(draft, deal=replace(draft.deal, version=int(version) if version.isdecimal() else 0))


def _kept(draft: Draft) -> Answer:
    return pages.redirect(DRAFTS, notice="planned" if draft.starts_at else "drafted")
