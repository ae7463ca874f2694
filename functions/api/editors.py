"""Editors' routes: post and edit deals, make them hot, create brands, pick the pages' deals."""

from __future__ import annotations

import secrets
from dataclasses import replace
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.event_handler import Response

from shared import features, hooks
from shared.api import documents
from shared.api.app import PAGED, brand_path, calling, create_app, editors_only, include, of_editors, serve
from shared.api.bodies import CategoryFeatured, DealChange, Featured, NewBrand, NewDeal
from shared.api.fields import idempotency, with_body
from shared.api.posting import ONCE, confirmed, posted, sent_as
from shared.data.catalog import changes, deals, editing, picks, topics
from shared.data.members import cohorts
from shared.errors import NoAnswer, NoSuchTopic, PerhapsPosted
from shared.http.answers import json_answer
from shared.http.requests import paging, topic_named
from shared.models.catalog import CATEGORIES, CATEGORY, EDITORS_CHOICE, FRONT_PAGE, CuratedPage
from shared.runtime.environment import table
from shared.values import naming, times

app = create_app(with_body)


@app.post("/deals", **of_editors("Post a deal", "Deal", status=201, errors=[404, 409], query=ONCE))
def post_deal(new: NewDeal) -> Response[Any]:
    now = times.now()
    deal = replace(new.to_deal(now, secrets.token_bytes(16)), correlation_id=sent_as(app)).signed(calling(app).username)
    once = idempotency(app, new.model_dump(mode="json"))
    try:
        deal = editing.create(table(), deal, now, confirmed(app), idempotency=once)
    except NoAnswer as error:
        if once is None:
            raise PerhapsPosted from error
        raise
    return posted(app, deal, now)


@app.patch("/deals/<deal_id>", **of_editors("Edit a deal", "Deal", errors=[404, 409], query=["confirm"]))
def edit_deal(deal_id: str, change: DealChange) -> Response[Any]:
    now = times.now()
    changes, seen = change.changes(now), confirmed(app)
    changed = editing.edit(table(), deal_id, changes, now, seen, by=calling(app).username, correlation_id=sent_as(app))
    return json_answer(documents.deal(changed, now))


@app.put(
    "/deals/<deal_id>/hot",
    **of_editors("Make a deal hot: notify all users once", "Deal", status=202, errors=[404, 409]),
)
def make_hot(deal_id: str) -> Response[Any]:
    now = times.now()
    found = deals.place_of(table(), deal_id, consistent=True).deal_id
    hot = deals.make_hot(table(), found, now, by=calling(app).username, correlation_id=sent_as(app))
    return json_answer(documents.deal(hot, now), HTTPStatus.ACCEPTED)


@app.get(
    "/deals/<deal_id>/hot", **of_editors("Get the progress of a hot deal's notifications", "Progress", errors=[404])
)
def hot_progress(deal_id: str) -> Response[Any]:
    deal = deals.find(table(), deal_id, consistent=True)
    progress = cohorts.progress_of(table(), deal.deal_id)
    return json_answer(documents.progress(deal, notified=progress.notified, finished=progress.finished))


@app.get("/deals/<deal_id>/log", **of_editors("List a deal's changes", "Log", errors=[404], query=PAGED))
def log(deal_id: str) -> Response[Any]:
    deal = deals.find(table(), deal_id, consistent=True)
    page = changes.log_of(table(), deal.deal_id, now=times.now(), **paging(app))
    return json_answer(documents.page(page, documents.log_line))


@app.post("/brands", **of_editors("Create a brand", "Brand", status=201, errors=[409]))
def create_brand(new: NewBrand) -> Response[Any]:
    slug = naming.slug(new.name)
    topics.create_brand(table(), slug, new.name, times.now())
    return json_answer(documents.brand(slug, new.name), HTTPStatus.CREATED, {"Location": brand_path(slug)})


def offer_picks(page: CuratedPage, path: str) -> None:
    """Add the route that replaces the picks of a curated page."""

    @app.put(path, **of_editors(f"Set the featured deals of the {page.label}", "Picked", errors=[404]))
    def pick(chosen: Featured) -> Response[Any]:
        now = times.now()
        picked = picks.set_featured(table(), page, chosen.deal_ids, now)
        return json_answer(documents.picked(picked, now))


offer_picks(FRONT_PAGE, "/front-page/featured")
offer_picks(EDITORS_CHOICE, "/editors-choice/featured")


@app.put(
    "/categories/<category>/featured", **of_editors("Set the featured deals of a category", "Picked", errors=[404])
)
def pick_for_category(category: str, chosen: CategoryFeatured) -> Response[Any]:
    now = times.now()
    topic = topic_named(CATEGORY, category)
    if topic.slug not in CATEGORIES:
        raise NoSuchTopic(CATEGORY.label, topic.slug)
    picked = picks.set_category_featured(table(), topic.slug, chosen.deal_ids, now)
    return json_answer(documents.picked(picked, now))


include(app, features.roles(hooks.Editors))

handler = serve(app, editors_only)
