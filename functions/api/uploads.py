"""The routes that take a deal's picture from an editor's program; the editors' function answers them."""

from __future__ import annotations

from datetime import timedelta
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response

from shared.api import documents
from shared.api.app import calling
from shared.api.fields import Body, DealId
from shared.api.paths import of_editors
from shared.data.catalog import deals, uploads
from shared.http.answers import json_answer
from shared.http.requests import segment
from shared.runtime.bucket import UPLOAD_SECONDS, upload_form
from shared.runtime.environment import table
from shared.values import times
from shared.values.pictures import ANY_TYPE, MAX_UPLOAD


class NewPicture(Body):
    """Ask for a form that sends a picture for a deal."""

    deal_id: DealId


def add(app: APIGatewayRestResolver) -> None:
    """Give an app the routes."""

    @app.post(
        "/pictures", **of_editors("Get a form that sends a deal's picture", "PictureForm", status=201, errors=[404])
    )
    def form_of_picture(wanted: NewPicture) -> Response[Any]:
        now = times.now()
        deal = deals.get(table(), wanted.deal_id, consistent=True)
        own = calling(app)
        form = upload_form(deal.deal_id, own.username, own.account_id, now, **{"Content-Type": ANY_TYPE})
        ends = now + timedelta(seconds=UPLOAD_SECONDS)
        document = {
            "url": form.url,
            "fields": dict(form.fields),
            "expiresAt": times.to_iso(ends),
            "maxBytes": MAX_UPLOAD,
        }
        return json_answer(document, HTTPStatus.CREATED)

    @app.get(
        "/deals/<deal_id>/picture", **of_editors("What became of a picture that was sent", "PictureState", errors=[404])
    )
    def state_of_picture(deal_id: str) -> Response[Any]:
        deal = deals.find(table(), segment(deal_id), consistent=True)
        outcome = uploads.outcome_of(deal)
        document = {
            "picture": documents.picture(deal.picture),
            "key": outcome.upload if outcome else None,
            "refused": (outcome.refused or None) if outcome else None,
        }
        return json_answer(document)
