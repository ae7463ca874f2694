"""An editor's drafts: saving a deal's form for later, planning when it is posted, posting and discarding it.

Drafts are filed under their editor's name, so no editor sees another's. The form of a draft carries the version that it
was read with: of two windows, the later one gets an error.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from http import HTTPStatus
from typing import Any

from functions.pages.desk import deal_form
from functions.pages.desk.deal_form import desk_page
from functions.pages.desk.deals import REFUSED, form_page, previewed, refused_form
from shared.data.catalog import drafts
from shared.data.catalog.drafts import Draft
from shared.errors import DraftChanged, IdempotencyKeyReused, NoSuchDraft, TooManyDrafts
from shared.html import cookies, forms, pages, views
from shared.html.app import Routes
from shared.html.forms import Fields
from shared.html.pages import Answer, Request
from shared.models.catalog import Deal
from shared.runtime import metrics
from shared.runtime.environment import table
from shared.runtime.metrics import report
from shared.values import identifiers

LIST = "/desk/drafts"

routes = Routes()


@routes.get(LIST)
def own(request: Request) -> Answer:
    session = cookies.editor_of(request)
    return desk_page("desk/drafts.html", request, drafts=rows(drafts.of(table(), session.username), request.now))


@routes.post(LIST)
def save_new(request: Request) -> Answer:
    """Keep the form of a new deal as a draft; with a time, it is planned."""
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
    """A page of one of the editor's drafts with the values entered, or the draft's form with the errors.

    Of one that was posted meanwhile, by its plan or in another window, it is the deal.
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
            said = "This draft was saved in another window meanwhile. To replace it with this version, save again."
            return form_page(request, typed, {"link": said}, draft=draft, status=HTTPStatus.CONFLICT)

    return found


@routes.get("/desk/drafts/<draft_id>")
@_with_draft
def one_draft(request: Request, draft: Draft, _typed: Fields) -> Answer:
    return form_page(request, deal_form.typed_of_draft(draft), draft=draft)


@routes.post("/desk/drafts/<draft_id>")
@_with_draft
def save(request: Request, draft: Draft, typed: Fields) -> Answer:
    """Keep a draft as its form says; its time plans it, and without one nothing is planned any more."""
    new = deal_form.drafted(typed, draft, request.now)
    try:
        return _kept(drafts.save(table(), _as_read(draft, typed), new, request.now, deal_form.seen(typed)))
    except DraftChanged:
        if deal_form.typed_of_draft(new) == deal_form.typed_of_draft(draft):  # it was sent twice
            return _kept(draft)
        raise


@routes.post("/desk/drafts/<draft_id>/post", form_page="/desk/drafts/<draft_id>")
@_with_draft
def post(request: Request, draft: Draft, typed: Fields) -> Answer:
    deal_form.to_post(typed)
    draft = deal_form.drafted(typed, _as_read(draft, typed), request.now)
    seen, correlation_id = deal_form.seen(typed), request.correlation_id
    deal = drafts.post(table(), draft, request.now, seen, correlation_id=correlation_id)
    if deal.correlation_id == correlation_id:  # else an earlier sending of this form posted it
        report(metrics.DEALS_POSTED)
    return pages.redirect(f"/desk/deals/{views.number(deal)}", notice="posted")


@routes.post("/desk/drafts/<draft_id>/preview", form_page="/desk/drafts/<draft_id>")
@_with_draft
def preview(request: Request, draft: Draft, _typed: Fields) -> Answer:
    """The card and the page of a draft as they will be, and the form below. Nothing is written."""
    return previewed(request, draft=draft)


@routes.get("/desk/drafts/<draft_id>/discard")
@_with_draft
def discard_page(request: Request, draft: Draft, _typed: Fields) -> Answer:
    """The page that says what discarding a draft does, before it is done."""
    return desk_page("desk/discard.html", request, draft=rows([draft], request.now)[0])


@routes.post("/desk/drafts/<draft_id>/discard")
def discard(request: Request, draft_id: str) -> Answer:
    try:
        return _discarded(request, draft_id)
    except NoSuchDraft:  # it was sent twice
        return pages.redirect(LIST, notice="discarded")


@_with_draft
def _discarded(_request: Request, draft: Draft, _typed: Fields) -> Answer:
    drafts.discard(table(), draft)
    return pages.redirect(LIST, notice="discarded")


def rows(found: list[Draft], now: datetime) -> list[dict[str, Any]]:
    """Drafts as their list shows them: those that could not be posted first, then the planned ones by their times."""
    order = sorted(found, key=lambda draft: (not draft.refused, draft.starts_at is None, draft.starts_at or now))
    return [_row(draft, now) for draft in order]


def _row(draft: Draft, now: datetime) -> dict[str, Any]:
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
    return pages.redirect(LIST, notice="planned" if draft.starts_at else "drafted")
