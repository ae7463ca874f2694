"""The routes with which a program uploads a deal's picture, in the editors' function."""

from __future__ import annotations

import secrets
from datetime import timedelta
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Router

from features.pictures.bodies import NewPicture
from features.pictures.data import uploads
from features.pictures.environment import bucket
from features.pictures.fields import in_answer
from features.pictures.models import ANY_TYPE, MAX_UPLOAD
from shared.api.app import calling, of_editors
from shared.data.catalog import deals
from shared.http.answers import json_answer
from shared.runtime.environment import table
from shared.values import times

router = Router()  # type: ignore[no-untyped-call]  # Powertools leaves it untyped


@router.post(
    "/pictures", **of_editors("Get a form that uploads a deal's picture", "PictureForm", status=201, errors=[404])
)
def form_of_picture(wanted: NewPicture) -> Response[Any]:
    now = times.now()
    deal = deals.get(table(), wanted.deal_id, consistent=True)
    own = calling(router)
    sender = own.username, own.account_id
    entropy = secrets.token_bytes(16)
    form = uploads.upload_form(bucket(), deal.deal_id, *sender, now, entropy, **{"Content-Type": ANY_TYPE})
    ends = now + timedelta(seconds=uploads.UPLOAD_SECONDS)
    document = {
        "url": form.url,
        "fields": dict(form.fields),
        "expiresAt": times.to_iso(ends),
        "maxBytes": MAX_UPLOAD,
    }
    return json_answer(document, HTTPStatus.CREATED)


@router.get(
    "/deals/<deal_id>/picture", **of_editors("Get the state of an uploaded picture", "PictureState", errors=[404])
)
def state_of_picture(deal_id: str) -> Response[Any]:
    deal = deals.find(table(), deal_id, consistent=True)
    outcome = uploads.outcome_of(deal)
    document = {
        "picture": in_answer(deal),
        "key": outcome and outcome.upload,
        "refused": (outcome and outcome.refused) or None,
    }
    return json_answer(document)
