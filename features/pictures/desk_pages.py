"""A deal's picture: the form that uploads one to the bucket, and the page that waits for it."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from features.desk import frame
from features.pictures.data import uploads
from features.pictures.environment import bucket
from features.pictures.fields import FETCHED
from features.pictures.models import ANY_TYPE, LOOKS, MAX_UPLOAD, MEDIA_TYPES_SENT, UPLOADS, Picture
from shared.html import pages, views
from shared.html.links import absolute, link, origin
from shared.html.pages import Answer, Request, Routes
from shared.models.catalog import Deal
from shared.values import identifiers

routes = Routes()

THEN = "picture"
"""The value of the form's button for browsers without script."""


def before_posting(_typed: Mapping[str, str]) -> None:
    """A deal without a picture may be posted."""


def in_form(deal: Deal | None, request: Request, _typed: Mapping[str, str], _own: Any) -> dict[str, Any]:
    """The picture in a deal's form, with its upload form; a new deal gets one after posting."""
    outcome = uploads.outcome_of(deal) if deal else None
    # Only a stage whose address isn't known before deployment has no origin; S3's answer is then empty.
    back = absolute(f"/desk/deals/{deal.page_id}/picture") if deal and origin() else ""
    more = {"success_action_redirect": back} if back else {}
    more["Content-Type"] = ANY_TYPE
    by, account_id = request.username or "", request.account_id or ""
    entropy = secrets.token_bytes(16)
    form = uploads.upload_form(bucket(), deal.deal_id if deal else "", by, account_id, request.now, entropy, **more)
    picture = {
        "form": form if deal else None,
        "types": ",".join(MEDIA_TYPES_SENT),
        "most": MAX_UPLOAD,
        "refused": outcome.refused if outcome else "",
        "fetched": bool(outcome and outcome.upload == f"{UPLOADS}{FETCHED}"),
        "there": deal is not None and deal.own(Picture) is not None,
    }
    shown = views.card(deal, request.now) if deal else None
    return {"picture": picture, "now_shown": shown, "sends_to": "{0.scheme}://{0.netloc}".format(urlsplit(form.url))}


@routes.get("/desk/deals/<number>/picture")
def wait_for_picture(request: Request, number: str) -> Answer:
    """The page that S3 redirects to after an upload (``key``): it reloads each second until the picture is ready."""
    deal = frame.deal_of(request, number)
    upload, outcome = request.query.get("key", ""), uploads.outcome_of(deal)
    made = bool(outcome and outcome.upload == upload)
    if made or not identifiers.is_ksuid(upload.removeprefix(UPLOADS)):
        notice = "picture" if made and outcome and not outcome.refused else None
        return pages.redirect(f"/desk/deals/{number}", fragment="picture", notice=notice)
    looked = request.query.get("looked", "")
    times = int(looked) + 1 if looked.isdecimal() else 1
    late = times > LOOKS
    answer = frame.desk_page("pictures/templates/wait.html", request, number=number, title=deal.title, late=late)
    if times <= LOOKS:
        answer.headers["Refresh"] = f"1; url={link(request.path, key=upload, looked=times)}"
    return answer


@routes.post("/desk/deals/<number>/picture/remove")
def remove_picture(request: Request, number: str) -> Answer:
    return frame.changed(request, number, "picture-removed", more={Picture: None})
