"""A deal's picture: the form on the deal's page that sends one to the bucket, and the page that waits for it."""

from __future__ import annotations

import secrets
from typing import Any
from urllib.parse import urlsplit

from functions.pages.desk import deal_form
from shared.data.catalog import uploads
from shared.html import pages, views
from shared.html.links import absolute, link, origin
from shared.html.pages import Answer, Request, Routes
from shared.models.catalog import Deal
from shared.runtime.environment import bucket
from shared.values import identifiers
from shared.values.pictures import ANY_TYPE, BUCKET, MAX_UPLOAD, MEDIA_TYPES_SENT, UPLOADS

routes = Routes()

THEN = "picture"
"""Where a form leads to that was sent by its button for those without script."""

LOOKS = 60
"""How often a page looks by itself, a second apart; a picture is made in a second or two."""


def in_form(deal: Deal | None, request: Request) -> dict[str, Any]:
    """The picture in a deal's form, with the form that sends one; that of a new deal gets it once posted."""
    outcome = uploads.outcome_of(deal) if deal else None
    # Without an origin, which only a stage whose name is not known before it is deployed lacks, S3's answer is empty.
    back = absolute(f"/desk/deals/{deal.page_id}/picture") if deal and origin() else ""
    more = {"success_action_redirect": back} if back else {}
    more["Content-Type"] = ANY_TYPE
    by, account_id = request.username or "", request.account_id or ""
    entropy = secrets.token_bytes(16)
    form = uploads.upload_form(
        bucket(BUCKET), deal.deal_id if deal else "", by, account_id, request.now, entropy, **more
    )
    picture = {
        "form": form if deal else None,
        "types": ",".join(MEDIA_TYPES_SENT),
        "most": MAX_UPLOAD,
        "refused": outcome.refused if outcome else "",
    }
    shown = views.card(deal, request.now) if deal else None
    return {"picture": picture, "now_shown": shown, "sends_to": "{0.scheme}://{0.netloc}".format(urlsplit(form.url))}


@routes.get("/desk/deals/<number>/picture")
def wait_for_picture(request: Request, number: str) -> Answer:
    """Where S3 leads to once it has the file (``key``): it looks again each second until the picture is there."""
    deal = deal_form.deal_of(request, number)
    upload, outcome = request.query.get("key", ""), uploads.outcome_of(deal)
    made = bool(outcome and outcome.upload == upload)
    if made or not identifiers.is_ksuid(upload.removeprefix(UPLOADS)):
        notice = "picture" if made and outcome and not outcome.refused else None
        return pages.redirect(f"/desk/deals/{number}", fragment="picture", notice=notice)
    looked = request.query.get("looked", "")
    times = int(looked) + 1 if looked.isdecimal() else 1
    answer = deal_form.desk_page("desk/picture.html", request, number=number, title=deal.title, late=times > LOOKS)
    if times <= LOOKS:
        answer.headers["Refresh"] = f"1; url={link(request.path, key=upload, looked=times)}"
    return answer


@routes.post("/desk/deals/<number>/picture/remove")
def remove_picture(request: Request, number: str) -> Answer:
    return deal_form.changed(request, number, "picture-removed", picture=None)
