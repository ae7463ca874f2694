"""The desk's pages of drafts: save, schedule, post and discard them.

A draft's form has its version: of two windows, the later one gets an error. Drafts are filed under their editor, so no
editor sees another's.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from http import HTTPStatus
from typing import Any

from features.desk import deal_form
from features.desk.deal_form import A_TIME, Field
from features.desk.frame import desk_page, editor_of
from features.desk.posting import REFUSED, DealForm, Target, form_page, previewed, refused_form
from features.drafts import data as drafts
from features.drafts.bodies import NewDraft
from features.drafts.data import Draft, DraftChanged, NoSuchDraft, TooManyDrafts
from shared.errors import IdempotencyKeyReused
from shared.html import forms, pages, views
from shared.html.forms import Fields, InvalidFields, check
from shared.html.links import link
from shared.html.pages import Answer, Request, Routes
from shared.models.catalog import Deal
from shared.models.members import Session
from shared.runtime import metrics
from shared.runtime.environment import table
from shared.runtime.metrics import report
from shared.values import identifiers

_POSTED_LATER = "In UTC. If you save the deal for later, we post it at this time."
STARTS_AT = Field("startsAt", "Post at", "starts_at", needs=A_TIME, hint=_POSTED_LATER, type="datetime-local")
"""Below an unposted deal's fields: when to post it."""

MOST_TODAY = 5
"""Drafts on the desk's first page."""

routes = Routes()


def _target(draft: Draft) -> Target:
    place = f"/desk/drafts/{draft.draft_id}"
    version = {"version": str(draft.deal.version)}
    return Target("Draft", place, f"{place}/post", here="/desk/drafts", hidden=version, own=draft)


def in_form(deal: Deal | None, _request: Request, typed: Mapping[str, str], draft: Draft | None) -> dict[str, Any]:
    """The time of posting in the form of a deal that isn't posted, and the button that saves it for later."""
    if deal is not None:
        return {"later": None, "draft": None}
    starts_at = typed.get(STARTS_AT.name, "")
    save = link(_target(draft).place if draft else "/desk/drafts")
    confirm = {"confirm_at": save, "confirm_as": "Schedule"} if starts_at else {}
    return {"later": STARTS_AT, "starts_at": starts_at, "save": save, "draft": draft, **confirm}


def today(session: Session) -> list[Draft]:
    """What the desk's first page reads."""
    return drafts.of(table(), session.username)


def on_today(found: list[Draft], now: datetime) -> dict[str, Any]:
    """What the desk's first page shows of it."""
    return {"drafts": draft_rows(found, now)[:MOST_TODAY]}


def before_posting(typed: Mapping[str, str]) -> None:
    """Refuse to post at once a deal that is scheduled. Raises InvalidFields."""
    if typed.get(STARTS_AT.name, "").strip():
        raise InvalidFields({STARTS_AT.name: "To post it now, clear this field. Otherwise, save it for later."})


def drafted(typed: Mapping[str, str], old: Draft, now: datetime) -> Draft:
    """The draft that a form makes from ``old``, which may be empty. Raises InvalidFields."""
    starts_at = deal_form.in_utc(typed.get(STARTS_AT.name, "").strip())
    deal_form.ask_for_currency(typed)
    body = check(
        NewDraft,
        deal_form.filled(typed) | ({STARTS_AT.name: starts_at} if starts_at else {}),
        deal_form.WORDS | {STARTS_AT.name: STARTS_AT.needs},
    )
    deal = replace(body.to_deal(old.draft_id, now), brand_name=typed.get("brand", "").strip(), version=old.deal.version)
    return replace(old, deal=deal, starts_at=body.starts_at)


def typed_of_draft(draft: Draft) -> Fields:
    return {**deal_form.typed_of(draft.deal), STARTS_AT.name: deal_form.as_typed(draft.starts_at)}


DRAFTS = "/desk/drafts"


@routes.get(DRAFTS)
def own_drafts(request: Request) -> Answer:
    session = editor_of(request)
    return desk_page(
        "drafts/templates/drafts.html", request, drafts=draft_rows(drafts.of(table(), session.username), request.now)
    )


@routes.post(DRAFTS)
def save_new_draft(request: Request) -> Answer:
    """Save a new deal's form as a draft; with a time, it is scheduled."""
    session = editor_of(request)
    typed = forms.read(request.event)
    empty = Deal(identifiers.random(request.now, secrets.token_bytes(16)), "", "", "", "", "", "", "", request.now)
    planned = {STARTS_AT.name: typed.get(STARTS_AT.name, "")}
    sent = forms.idempotency(typed, session.account_id, deal_form.filled(typed) | planned)
    once = sent._replace(client_key=f"draft {sent.client_key}") if sent else None
    try:
        draft = drafted(typed, Draft(empty, session.username, session.account_id), request.now)
        return _kept(drafts.save_new(table(), draft, request.now, deal_form.seen(typed), idempotency=once))
    except REFUSED as error:
        return refused_form(request, typed, error)
    except TooManyDrafts as error:
        return form_page(request, DealForm(typed, {"link": str(error)}), HTTPStatus.CONFLICT)
    except IdempotencyKeyReused:
        again = {"link": "This form was already saved as a draft, and has changed. Save again to create another."}
        return form_page(request, DealForm({**typed, "key": forms.new_key()}, again))


def _with_draft(page: Callable[[Request, Draft, Fields], Answer]) -> Callable[[Request, str], Answer]:
    """Wrap a page of one of the editor's drafts: invalid values show the draft's form with the errors.

    For a draft that was posted meanwhile, on schedule or in another window, it shows the deal.
    """

    def found(request: Request, draft_id: str) -> Answer:
        session = editor_of(request)
        typed = forms.read(request.event)
        try:
            draft = drafts.get(table(), session.username, draft_id)
        except NoSuchDraft:
            posted = drafts.posted_as(table(), session.account_id, draft_id, request.now)
            return pages.redirect(f"/desk/deals/{posted}", notice="posted")
        try:
            return page(request, draft, typed)
        except REFUSED as error:
            return refused_form(request, typed, error, target=_target(draft))
        except DraftChanged:
            said = "This draft was saved in another window. To replace it with this version, save again."
            return form_page(request, DealForm(typed, {"link": said}, target=_target(draft)), HTTPStatus.CONFLICT)

    return found


@routes.get("/desk/drafts/<draft_id>")
@_with_draft
def one_draft(request: Request, draft: Draft, _typed: Fields) -> Answer:
    return form_page(request, DealForm(typed_of_draft(draft), target=_target(draft)))


@routes.post("/desk/drafts/<draft_id>")
@_with_draft
def save_draft(request: Request, draft: Draft, typed: Fields) -> Answer:
    """Save a draft's form, which schedules it or, without a time, cancels its schedule."""
    new = drafted(typed, draft, request.now)
    try:
        return _kept(drafts.save(table(), _as_read(draft, typed), new, request.now, deal_form.seen(typed)))
    except DraftChanged:
        if typed_of_draft(new) == typed_of_draft(draft):  # it was sent twice
            return _kept(draft)
        raise


@routes.post("/desk/drafts/<draft_id>/post", form_page="/desk/drafts/<draft_id>")
@_with_draft
def post_draft(request: Request, draft: Draft, typed: Fields) -> Answer:
    before_posting(typed)
    deal_form.new(typed)
    draft = drafted(typed, _as_read(draft, typed), request.now)
    seen, correlation_id = deal_form.seen(typed), request.correlation_id
    deal = drafts.post(table(), draft, request.now, seen, correlation_id=correlation_id)
    if deal.correlation_id == correlation_id:  # otherwise an earlier sending of this form posted it
        report(metrics.DEALS_POSTED)
    return pages.redirect(f"/desk/deals/{deal.page_id}", notice="posted")


@routes.post("/desk/drafts/<draft_id>/preview", form_page="/desk/drafts/<draft_id>")
@_with_draft
def preview_draft(request: Request, draft: Draft, _typed: Fields) -> Answer:
    """Preview a draft's card and page, with the form below. Nothing is written."""
    return previewed(request, target=_target(draft))


@routes.get("/desk/drafts/<draft_id>/discard")
@_with_draft
def discard_page(request: Request, draft: Draft, _typed: Fields) -> Answer:
    """The page that explains discarding a draft before it is done."""
    return desk_page("drafts/templates/discard.html", request, draft=draft_rows([draft], request.now)[0])


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
