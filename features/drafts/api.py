"""Editors' routes for drafts."""

from __future__ import annotations

import secrets
from dataclasses import replace
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Router

from features.drafts import data as drafts
from features.drafts import documents
from features.drafts.bodies import NewDraft
from features.drafts.data import Draft, NoSuchDraft
from shared.api.app import calling, of_editors
from shared.api.documents import all_of
from shared.api.fields import idempotency
from shared.api.posting import ONCE, confirmed, posted, sent_as
from shared.data.catalog import deals
from shared.http.answers import json_answer, nothing
from shared.runtime.environment import table
from shared.values import identifiers, times

router = Router()  # type: ignore[no-untyped-call]  # Powertools leaves it untyped


@router.get("/me/drafts", **of_editors("List your drafts", "DraftList"))
def own_drafts() -> Response[Any]:
    own = calling(router)
    return json_answer(all_of(map(documents.draft, drafts.of(table(), own.username))))


@router.post(
    "/me/drafts", **of_editors("Save a draft, or schedule it", "Draft", status=201, errors=[404, 409], query=ONCE)
)
def keep_draft(new: NewDraft) -> Response[Any]:
    now, own = times.now(), calling(router)
    draft_id = identifiers.random(now, secrets.token_bytes(16))
    draft = Draft(new.to_deal(draft_id, now), own.username, own.account_id, new.starts_at)
    once = idempotency(router, new.model_dump(mode="json"))
    draft = drafts.save_new(table(), draft, now, confirmed(router), idempotency=once)
    return json_answer(documents.draft(draft), HTTPStatus.CREATED)


@router.get("/me/drafts/<draft_id>", **of_editors("Get a draft", "Draft", errors=[404]))
def own_draft(draft_id: str) -> Response[Any]:
    return json_answer(documents.draft(_draft(draft_id)))


@router.put(
    "/me/drafts/<draft_id>",
    **of_editors("Replace a draft and its schedule", "Draft", errors=[404, 409], query=["confirm"]),
)
def replace_draft(draft_id: str, new: NewDraft) -> Response[Any]:
    now, old = times.now(), _draft(draft_id)
    deal = replace(new.to_deal(old.draft_id, old.deal.created_at), version=old.deal.version)
    changed = replace(old, deal=deal, starts_at=new.starts_at)
    return json_answer(documents.draft(drafts.save(table(), old, changed, now, confirmed(router))))


@router.post(
    "/me/drafts/<draft_id>",
    **of_editors("Post a draft now", "Deal", status=201, errors=[404, 409, 413, 422], query=["confirm"]),
)
def post_draft(draft_id: str) -> Response[Any]:
    """Post a draft. Repeating it within 24 hours gives the same deal."""
    now = times.now()
    try:
        deal = drafts.post(table(), _draft(draft_id), now, confirmed(router), correlation_id=sent_as(router))
    except NoSuchDraft:
        earlier = drafts.posted_as(table(), calling(router).account_id, draft_id, now)
        deal = deals.get(table(), earlier, consistent=True)
    return posted(router, deal, now)


@router.delete("/me/drafts/<draft_id>", **of_editors("Discard a draft", None, status=204, errors=[404, 409]))
def discard_draft(draft_id: str) -> Response[Any]:
    drafts.discard(table(), _draft(draft_id))
    return nothing()


def _draft(draft_id: str) -> Draft:
    """One of the caller's drafts. Raises NoSuchDraft."""
    return drafts.get(table(), calling(router).username, draft_id)
