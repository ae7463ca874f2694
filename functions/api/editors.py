"""Editors' routes: post and edit deals, make them hot, create brands, pick the pages' deals."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.event_handler import Response

from shared import features
from shared.api import documents
from shared.api.app import PAGED, brand_path, calling, create_app, deal_path, editors_only, of_editors, serve
from shared.api.bodies import CategoryFeatured, DealChange, Featured, NewBrand, NewDeal, NewDraft
from shared.api.fields import idempotency, with_body
from shared.data.catalog import changes, deals, drafts, editing, picks, topics
from shared.data.catalog.drafts import Draft
from shared.data.catalog.editing import FIELDS
from shared.data.members import cohorts
from shared.errors import BadRequest, NoAnswer, NoSuchDraft, NoSuchTopic, PerhapsPosted
from shared.http.answers import json_answer, nothing
from shared.http.requests import correlation_id, paging, topic_named
from shared.models.catalog import CATEGORIES, CATEGORY, EDITORS_CHOICE, FRONT_PAGE, CuratedPage, Deal
from shared.runtime import metrics
from shared.runtime.environment import table
from shared.runtime.metrics import report
from shared.values import identifiers, naming, times

CONFIRM = rf"^({'|'.join(FIELDS)})(,({'|'.join(FIELDS)}))*$"
"""The query parameter ``confirm``: the fields whose warnings an editor has seen and confirms."""

ONCE = ("Idempotency-Key", "confirm")
"""The header and query of routes that create a deal: an idempotency key, and the confirmed warnings."""

app = create_app(with_body)


@app.post("/deals", **of_editors("Post a deal", "Deal", status=201, errors=[404, 409], query=ONCE))
def post_deal(new: NewDeal) -> Response[Any]:
    now = times.now()
    deal = replace(new.to_deal(now, secrets.token_bytes(16)), correlation_id=_correlation_id()).signed(
        calling(app).username
    )
    once = idempotency(app, new.model_dump(mode="json"))
    try:
        deal = editing.create(table(), deal, now, _confirmed(), idempotency=once)
    except NoAnswer as error:
        if once is None:
            raise PerhapsPosted from error
        raise
    return _posted(deal, now)


@app.patch("/deals/<deal_id>", **of_editors("Edit a deal", "Deal", errors=[404, 409], query=["confirm"]))
def edit_deal(deal_id: str, change: DealChange) -> Response[Any]:
    now = times.now()
    changes, confirmed = change.changes(now), _confirmed()
    changed = editing.edit(
        table(), deal_id, changes, now, confirmed, by=calling(app).username, correlation_id=_correlation_id()
    )
    return json_answer(documents.deal(changed, now))


@app.put("/deals/<deal_id>/hot", **of_editors("Notify every user once", "Deal", status=202, errors=[404, 409]))
def make_hot(deal_id: str) -> Response[Any]:
    now = times.now()
    found = deals.place_of(table(), deal_id, consistent=True).deal_id
    hot = deals.make_hot(table(), found, now, by=calling(app).username, correlation_id=_correlation_id())
    return json_answer(documents.deal(hot, now), HTTPStatus.ACCEPTED)


@app.get("/deals/<deal_id>/hot", **of_editors("How far a hot deal has got", "Progress", errors=[404]))
def hot_progress(deal_id: str) -> Response[Any]:
    deal = deals.find(table(), deal_id, consistent=True)
    progress = cohorts.progress_of(table(), deal.deal_id)
    return json_answer(documents.progress(deal, notified=progress.notified, finished=progress.finished))


@app.get("/deals/<deal_id>/log", **of_editors("Who changed what of a deal", "Log", errors=[404], query=PAGED))
def log(deal_id: str) -> Response[Any]:
    deal = deals.find(table(), deal_id, consistent=True)
    page = changes.log_of(table(), deal.deal_id, now=times.now(), **paging(app))
    return json_answer(documents.page(page, documents.log_line))


@app.get("/me/drafts", **of_editors("One's drafts", "DraftList"))
def own_drafts() -> Response[Any]:
    own = calling(app)
    return json_answer(documents.all_of(map(documents.draft, drafts.of(table(), own.username))))


@app.post(
    "/me/drafts", **of_editors("Keep a deal as a draft, or plan it", "Draft", status=201, errors=[404, 409], query=ONCE)
)
def keep_draft(new: NewDraft) -> Response[Any]:
    now, own = times.now(), calling(app)
    draft_id = identifiers.random(now, secrets.token_bytes(16))
    draft = Draft(new.to_deal(draft_id, now), own.username, own.account_id, new.starts_at)
    once = idempotency(app, new.model_dump(mode="json"))
    draft = drafts.save_new(table(), draft, now, _confirmed(), idempotency=once)
    return json_answer(documents.draft(draft), HTTPStatus.CREATED)


@app.get("/me/drafts/<draft_id>", **of_editors("One draft", "Draft", errors=[404]))
def own_draft(draft_id: str) -> Response[Any]:
    return json_answer(documents.draft(_draft(draft_id)))


@app.put(
    "/me/drafts/<draft_id>", **of_editors("Replace a draft and its plan", "Draft", errors=[404, 409], query=["confirm"])
)
def replace_draft(draft_id: str, new: NewDraft) -> Response[Any]:
    now, old = times.now(), _draft(draft_id)
    deal = replace(new.to_deal(old.draft_id, old.deal.created_at), version=old.deal.version)
    changed = replace(old, deal=deal, starts_at=new.starts_at)
    return json_answer(documents.draft(drafts.save(table(), old, changed, now, _confirmed())))


@app.post(
    "/me/drafts/<draft_id>",
    **of_editors("Post a draft now", "Deal", status=201, errors=[404, 409, 413, 422], query=["confirm"]),
)
def post_draft(draft_id: str) -> Response[Any]:
    """Post a draft. Repeating it within 24 hours gives the same deal."""
    now = times.now()
    try:
        deal = drafts.post(table(), _draft(draft_id), now, _confirmed(), correlation_id=_correlation_id())
    except NoSuchDraft:
        posted = drafts.posted_as(table(), calling(app).account_id, draft_id, now)
        deal = deals.get(table(), posted, consistent=True)
    return _posted(deal, now)


@app.delete("/me/drafts/<draft_id>", **of_editors("Discard a draft", None, status=204, errors=[404, 409]))
def discard_draft(draft_id: str) -> Response[Any]:
    drafts.discard(table(), _draft(draft_id))
    return nothing()


@app.post("/brands", **of_editors("Create a brand", "Brand", status=201, errors=[409]))
def create_brand(new: NewBrand) -> Response[Any]:
    slug = naming.slug(new.name)
    topics.create_brand(table(), slug, new.name, times.now())
    return json_answer(documents.brand(slug, new.name), HTTPStatus.CREATED, {"Location": brand_path(slug)})


def offer_picks(page: CuratedPage, path: str) -> None:
    """Add the route that replaces the picks of a curated page."""

    @app.put(path, **of_editors(f"Pick the {page.label}'s deals", "Picked", errors=[404]))
    def pick(chosen: Featured) -> Response[Any]:
        now = times.now()
        picked = picks.set_featured(table(), page, chosen.deal_ids, now)
        return json_answer(documents.picked(picked, now))


offer_picks(FRONT_PAGE, "/front-page/featured")
offer_picks(EDITORS_CHOICE, "/editors-choice/featured")


@app.put("/categories/<category>/featured", **of_editors("Pick a category's deals", "Picked", errors=[404]))
def pick_for_category(category: str, chosen: CategoryFeatured) -> Response[Any]:
    now = times.now()
    topic = topic_named(CATEGORY, category)
    if topic.slug not in CATEGORIES:
        raise NoSuchTopic(CATEGORY.label, topic.slug)
    picked = picks.set_category_featured(table(), topic.slug, chosen.deal_ids, now)
    return json_answer(documents.picked(picked, now))


def _posted(deal: Deal, now: datetime) -> Response[Any]:
    """The answer to a posted deal. A repeated request isn't counted again."""
    if deal.correlation_id == _correlation_id():
        report(metrics.DEALS_POSTED)
    return json_answer(documents.deal(deal, now), HTTPStatus.CREATED, {"Location": deal_path(deal.deal_id)})


def _draft(draft_id: str) -> Draft:
    """One of the caller's drafts. Raises NoSuchDraft."""
    return drafts.get(table(), calling(app).username, draft_id)


def _confirmed() -> Sequence[str]:
    """The fields in ``confirm`` (in 1.1.0, ``anyway``) whose warnings are confirmed. Raises BadRequest for other
    names."""
    query = app.current_event.query_string_parameters or {}
    name = next((each for each in ("confirm", "anyway") if each in query), None)
    if name is None:
        return ()
    if not re.fullmatch(CONFIRM, query[name]):
        raise BadRequest(f"{name} must name fields, separated by commas: {', '.join(FIELDS)}.", name)
    return query[name].split(",")


def _correlation_id() -> str:
    return correlation_id(app.current_event.raw_event)


for each in features.joining("editors"):
    app.include_router(each.router)

handler = serve(app, editors_only)
