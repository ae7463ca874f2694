"""The routes with which a program uploads a deal's picture, in the editors' function."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Router

from shared.api import documents
from shared.api.app import calling, of_editors
from shared.api.fields import Answer, Body, Count, DealId, Picture
from shared.data.catalog import deals, uploads
from shared.http.answers import json_answer
from shared.runtime.environment import bucket, table
from shared.values import times
from shared.values.pictures import ANY_TYPE, BUCKET, MAX_UPLOAD


class NewPicture(Body):
    """Ask for a form that sends a picture for a deal."""

    deal_id: DealId


class PictureForm(Answer):
    """A form that sends one picture to S3 (multipart/form-data): all ``fields`` first, then the file as ``file``."""

    url: str
    fields: dict[str, str]
    expires_at: datetime
    max_bytes: Count


class PictureState(Answer):
    """A deal's picture, and the outcome of the last file that was sent for it (the ``key`` of its form)."""

    picture: Picture | None
    key: str | None
    refused: str | None


ANSWERS: Mapping[str, type[Answer]] = {"PictureForm": PictureForm, "PictureState": PictureState}
"""The answers' models, by the names that routes use."""

router = Router()  # type: ignore[no-untyped-call]  # Powertools leaves it untyped


@router.post(
    "/pictures", **of_editors("Get a form that sends a deal's picture", "PictureForm", status=201, errors=[404])
)
def form_of_picture(wanted: NewPicture) -> Response[Any]:
    now = times.now()
    deal = deals.get(table(), wanted.deal_id, consistent=True)
    own = calling(router)
    sender = own.username, own.account_id
    entropy = secrets.token_bytes(16)
    form = uploads.upload_form(bucket(BUCKET), deal.deal_id, *sender, now, entropy, **{"Content-Type": ANY_TYPE})
    ends = now + timedelta(seconds=uploads.UPLOAD_SECONDS)
    document = {
        "url": form.url,
        "fields": dict(form.fields),
        "expiresAt": times.to_iso(ends),
        "maxBytes": MAX_UPLOAD,
    }
    return json_answer(document, HTTPStatus.CREATED)


@router.get(
    "/deals/<deal_id>/picture", **of_editors("What became of a picture that was sent", "PictureState", errors=[404])
)
def state_of_picture(deal_id: str) -> Response[Any]:
    deal = deals.find(table(), deal_id, consistent=True)
    outcome = uploads.outcome_of(deal)
    document = {
        "picture": documents.picture(deal.picture),
        "key": outcome and outcome.upload,
        "refused": (outcome and outcome.refused) or None,
    }
    return json_answer(document)
