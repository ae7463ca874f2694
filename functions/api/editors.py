"""Editors' routes: post and edit deals, make them hot, create brands, pick the pages' deals."""

from __future__ import annotations

import secrets
from dataclasses import replace
from datetime import timedelta
from http import HTTPStatus
from typing import Annotated, Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Body

from functions.api.writing import BODY_ERRORS, idempotency, seen
from shared.api import documents, paths
from shared.api.app import create_app, serve
from shared.api.bodies import CategoryFeatured, DealChange, Featured, NewBrand, NewDeal, NewPicture
from shared.api.callers import caller, editors_only
from shared.api.documentation import PAGED, describe
from shared.data.catalog import brands, deal_log, deal_pictures, deals, oddities, picks
from shared.data.members import fanout_progress
from shared.errors import NoAnswer, NoSuchTopic, PerhapsPosted
from shared.http.answers import json_answer
from shared.http.event import correlation_id
from shared.http.parameters import paging, segment, topic_named
from shared.models.catalog import CATEGORIES, CATEGORY, EDITORS_CHOICE, FRONT_PAGE, CuratedPage
from shared.runtime import metrics, pictures
from shared.runtime.environment import table
from shared.runtime.reporting import report
from shared.values import slugs, times
from shared.values.pictures import ANY_TYPE, MAX_UPLOAD

app = create_app(validates=True)


@app.post(
    "/deals",
    **describe(
        "Post a deal",
        "Deal",
        who="editor",
        status=201,
        errors=[*BODY_ERRORS, 404, 409],
        query=["Idempotency-Key", "anyway"],
    ),
)
def post_deal(new: Annotated[NewDeal, Body()]) -> Response[Any]:
    now = times.now()
    request = _correlation_id()
    deal = replace(new.to_deal(now, secrets.token_bytes(16)), correlation_id=request).signed(_editor())
    once = idempotency(app.current_event.raw_event, new.model_dump(mode="json"))
    try:
        deal = oddities.create(table(), deal, now, seen(app.current_event.raw_event), idempotency=once)
    except NoAnswer as error:
        if once is None:
            raise PerhapsPosted from error
        raise
    if deal.correlation_id == request:  # else an earlier request posted it, and this one repeats that
        report(metrics.DEALS_POSTED)
    return json_answer(documents.deal(deal, now), HTTPStatus.CREATED, {"Location": paths.deal(deal.deal_id)})


@app.patch(
    "/deals/<deal_id>",
    **describe("Edit a deal", "Deal", who="editor", errors=[*BODY_ERRORS, 404, 409], query=["anyway"]),
)
def edit_deal(deal_id: str, change: Annotated[DealChange, Body()]) -> Response[Any]:
    now = times.now()
    changes, confirmed = change.changes(now), seen(app.current_event.raw_event)
    changed = oddities.edit(
        table(), segment(deal_id), changes, now, confirmed, by=_editor(), correlation_id=_correlation_id()
    )
    return json_answer(documents.deal(changed, now))


@app.put(
    "/deals/<deal_id>/hot", **describe("Tell every user, once", "Deal", who="editor", status=202, errors=[404, 409])
)
def make_hot(deal_id: str) -> Response[Any]:
    now = times.now()
    found = deals.find(table(), segment(deal_id), consistent=True)
    hot = deals.make_hot(table(), found.deal_id, now, by=_editor(), correlation_id=_correlation_id())
    return json_answer(documents.deal(hot, now), HTTPStatus.ACCEPTED)


@app.get("/deals/<deal_id>/hot", **describe("How far a hot deal has got", "Progress", who="editor", errors=[404]))
def hot_progress(deal_id: str) -> Response[Any]:
    deal = deals.find(table(), segment(deal_id), consistent=True)
    progress = fanout_progress.read(table(), deal.deal_id)
    return json_answer(documents.progress(deal, told=progress.told, finished=progress.finished))


@app.get(
    "/deals/<deal_id>/log", **describe("Who changed what of a deal", "Log", who="editor", errors=[404], query=PAGED)
)
def log(deal_id: str) -> Response[Any]:
    deal = deals.find(table(), segment(deal_id), consistent=True)
    page = deal_log.read(table(), deal.deal_id, now=times.now(), **paging(app))
    return json_answer(documents.page(page, documents.log_line))


@app.post(
    "/pictures",
    **describe(
        "Get a form that sends a deal's picture", "PictureForm", who="editor", status=201, errors=[*BODY_ERRORS, 404]
    ),
)
def form_of_picture(wanted: Annotated[NewPicture, Body()]) -> Response[Any]:
    now = times.now()
    deal = deals.get(table(), wanted.deal_id, consistent=True)
    form = pictures.form(deal.deal_id, _editor(), now, **{"Content-Type": ANY_TYPE})
    ends = now + timedelta(seconds=pictures.SECONDS)
    document = {"url": form.url, "fields": dict(form.fields), "expiresAt": times.to_iso(ends), "maxBytes": MAX_UPLOAD}
    return json_answer(document, HTTPStatus.CREATED)


@app.get(
    "/deals/<deal_id>/picture",
    **describe("What became of a picture that was sent", "PictureState", who="editor", errors=[404]),
)
def state_of_picture(deal_id: str) -> Response[Any]:
    deal = deals.find(table(), segment(deal_id), consistent=True)
    outcome = deal_pictures.outcome(deal)
    document = {
        "picture": documents.picture(deal.picture),
        "key": outcome.upload if outcome else None,
        "refused": (outcome.refused or None) if outcome else None,
    }
    return json_answer(document)


@app.post("/brands", **describe("Create a brand", "Brand", who="editor", status=201, errors=[*BODY_ERRORS, 409]))
def create_brand(new: Annotated[NewBrand, Body()]) -> Response[Any]:
    slug = slugs.slug(new.name)
    brands.create(table(), slug, new.name, times.now())
    return json_answer(documents.brand(slug, new.name), HTTPStatus.CREATED, {"Location": paths.brand(slug)})


def offer_picks(page: CuratedPage, path: str) -> None:
    """The route by which editors pick the deals of one curated page."""

    @app.put(path, **describe(f"Pick the {page.label}'s deals", "Picked", who="editor", errors=[*BODY_ERRORS, 404]))
    def pick(chosen: Annotated[Featured, Body()]) -> Response[Any]:
        now = times.now()
        picked = picks.set_featured(table(), page, chosen.deal_ids, now)
        return json_answer(documents.picked(picked, now))


offer_picks(FRONT_PAGE, "/front-page/featured")
offer_picks(EDITORS_CHOICE, "/editors-choice/featured")


@app.put(
    "/categories/<category>/featured",
    **describe("Pick a category's deals", "Picked", who="editor", errors=[*BODY_ERRORS, 404]),
)
def pick_for_category(category: str, chosen: Annotated[CategoryFeatured, Body()]) -> Response[Any]:
    now = times.now()
    topic = topic_named(CATEGORY, category)
    if topic.slug not in CATEGORIES:
        raise NoSuchTopic(CATEGORY.label, topic.slug)
    picked = picks.set_category_featured(table(), topic.slug, chosen.deal_ids, now)
    return json_answer(documents.picked(picked, now))


def _editor() -> str:
    return caller(app.current_event.raw_event).username


def _correlation_id() -> str:
    return correlation_id(app.current_event.raw_event)


handler = serve(app, editors_only)
