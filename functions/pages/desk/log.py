"""The log of a deal, in words: the newest lines beside its form, and all of them on a page of their own."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from functions.pages.desk import deal_form
from functions.pages.desk.editing import deal_of, desk_page
from shared.data.catalog import deal_log
from shared.html import views
from shared.html.app import Routes
from shared.html.pages import Answer, Request
from shared.models.catalog import CATEGORIES, Changed, Deal, LogLine
from shared.runtime.environment import table
from shared.values.times import to_iso

SHOWN = 5
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
    page = deal_log.read(table(), deal.deal_id, limit=_PAGE, now=request.now, cursor=cursor)
    lines, first = [_shown(line, request.now) for line in page.items], cursor is None
    return desk_page(
        "desk/log.html", request, number=number, title=deal.title, lines=lines, first=first, older=page.next
    )


def newest(deal: Deal, now: datetime) -> list[dict[str, Any]]:
    return [_shown(line, now) for line in deal_log.read(table(), deal.deal_id, limit=SHOWN, now=now).items]


def _shown(line: LogLine, now: datetime) -> dict[str, Any]:
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
