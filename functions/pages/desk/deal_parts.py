"""What the desk's pages share, and a deal's log of changes and its picture."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from functions.pages.desk import deal_form
from shared.data.catalog import changes, deals, editing, topics
from shared.html import cookies, pages, views
from shared.html.app import Routes
from shared.html.links import absolute, link, origin
from shared.html.pages import Answer, Request
from shared.models.catalog import CATEGORIES, Changed, Deal, LogLine
from shared.runtime import clients
from shared.runtime.environment import table
from shared.values import identifiers
from shared.values.pictures import ANY_TYPE, MAX_UPLOAD, MEDIA_TYPES_SENT, UPLOADS
from shared.values.times import to_iso


def deal_of(request: Request, number: str) -> Deal:
    """The deal that an editor asks for, as it is at this moment. Raises NotSignedIn, Forbidden, NoSuchDeal."""
    cookies.editor_of(request)
    return deals.find(table(), number, consistent=True)


def edit(request: Request, deal: Deal, changes: Mapping[str, Any], version: int | None = None) -> None:
    """Change a deal as the editor who asks. Raises what ``deals.edit`` does."""
    by, correlation_id = request.username, request.correlation_id
    deals.edit(table(), deal.deal_id, changes, request.now, by=by, correlation_id=correlation_id, version=version)


def changed(request: Request, number: str, said: str, **changes: Any) -> Answer:
    """Change some fields of a deal, and lead to its form."""
    edit(request, deal_of(request, number), changes)
    return pages.redirect(f"/desk/deals/{number}", said=said)


def desk_page(
    template: str, request: Request, status: int | None = None, *, here: str | None = None, **values: Any
) -> Answer:
    """A page of the desk, at the request's own path unless told otherwise."""
    said = request.said
    return pages.page(template, status=status, here=here or request.path, **({"said": said} | values))


def brand_names() -> list[str]:
    """Names to complete a brand from; none if there are very many, which would fill the page."""
    names = list(topics.brand_names(table(), consistent=True).values())
    return names if len(names) <= 500 else []


def line_of(deal: Deal, now: datetime, followed: Mapping[str, int]) -> dict[str, Any]:
    """A deal as a row of a list, with how often it was followed to its shop."""
    return {**views.card(deal, now, width=128), "clicks": followed.get(deal.deal_id, 0)}


SHOWN_CHANGES = 5
"""Lines beside a deal's form."""

_PAGE = 25

_DONE: Mapping[str, tuple[str, str, str]] = {
    "picture": ("A picture", "Another picture", "No picture"),
    "withdrawnAt": ("Withdrawn", "Withdrawn", "Restored"),
    "hotAt": ("Made hot", "Made hot", "Hot no longer"),
}
"""Verbs for fields whose values are not shown: added, changed, removed."""

routes = Routes()


@routes.get("/desk/deals/<number>/log")
def log(request: Request, number: str) -> Answer:
    """All that is logged of a deal, newest first, a page at a time."""
    deal, cursor = deal_of(request, number), request.query.get("cursor")
    page = changes.log_of(table(), deal.deal_id, limit=_PAGE, now=request.now, cursor=cursor)
    lines, first = [_line(line, request.now) for line in page.items], cursor is None
    return desk_page(
        "desk/log.html", request, number=number, title=deal.title, lines=lines, first=first, older=page.next
    )


def newest_changes(deal: Deal, now: datetime) -> list[dict[str, Any]]:
    return [_line(line, now) for line in changes.log_of(table(), deal.deal_id, limit=SHOWN_CHANGES, now=now).items]


def _line(line: LogLine, now: datetime) -> dict[str, Any]:
    return {
        "by": line.by or "Unknown",
        "at": to_iso(line.at),
        "when": views.short_moment(line.at, now),
        "changes": [_in_words(each) for each in line.changes] or [{"did": "Posted"}],
    }


def _in_words(change: Changed) -> dict[str, str]:
    """A change for the page: an action, or a field with its old and new value."""
    if change.field in _DONE:
        there, another, gone = _DONE[change.field]
        return {"did": gone if change.now is None else there if change.was is None else another}
    each = deal_form.FIELDS[change.field]
    was, now = (deal_form.in_words(change.field, text or "") for text in (change.was, change.now))
    if change.field == "category":
        was, now = (CATEGORIES.get(slug, slug) for slug in (was, now))
    return {"name": each.label, "was": was, "now": now}


LOOKS = 60
"""How often a page looks by itself, a second apart; a picture is made in a second or two."""


def picture_section(deal: Deal | None, request: Request) -> dict[str, Any]:
    """The picture in a deal's form, with the form that sends one; that of a new deal gets it once posted."""
    outcome = editing.outcome_of(deal) if deal else None
    # Without an origin, which only a stage with CloudFront's own name is without, S3's answer is an empty page.
    back = absolute(f"/desk/deals/{views.number(deal)}/picture") if deal and origin() else ""
    more = {"success_action_redirect": back} if back else {}
    more["Content-Type"] = ANY_TYPE
    by, account_id = request.username or "", request.account_id or ""
    form = clients.upload_form(deal.deal_id if deal else "", by, account_id, request.now, **more)
    return {
        "form": form if deal else None,
        "host": "{0.scheme}://{0.netloc}".format(urlsplit(form.url)),
        "types": ",".join(MEDIA_TYPES_SENT),
        "most": MAX_UPLOAD,
        "refused": outcome.refused if outcome else "",
    }


@routes.get("/desk/deals/<number>/picture")
def wait_for_picture(request: Request, number: str) -> Answer:
    """Where S3 leads to once it has the file (``key``): it looks again each second until the picture is there."""
    deal = deal_of(request, number)
    upload, outcome = request.query.get("key", ""), editing.outcome_of(deal)
    made = bool(outcome and outcome.upload == upload)
    if made or not identifiers.is_ksuid(upload.removeprefix(UPLOADS)):
        said = "picture" if made and outcome and not outcome.refused else None
        return pages.redirect(f"/desk/deals/{number}", fragment="picture", said=said)
    looked = request.query.get("looked", "")
    times = int(looked) + 1 if looked.isdecimal() else 1
    answer = desk_page("desk/picture.html", request, number=number, title=deal.title, late=times > LOOKS)
    if times <= LOOKS:
        answer.headers["Refresh"] = f"1; url={link(request.path, key=upload, looked=times)}"
    return answer


@routes.post("/desk/deals/<number>/picture/remove")
def remove_picture(request: Request, number: str) -> Answer:
    return changed(request, number, "picture-removed", picture=None)
