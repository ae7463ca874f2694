"""A deal's log on the desk, in words."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from features.desk.deal_form import FIELDS, in_words
from features.desk.frame import deal_of, desk_page
from shared import features, hooks
from shared.data.catalog.changes import log_of
from shared.html import views
from shared.html.pages import Answer, Request, Routes
from shared.models.catalog import Changed, Deal, LogLine
from shared.runtime.environment import table
from shared.values.times import to_iso

SHOWN_CHANGES = 5
"""Log lines next to a deal's form."""

_PAGE = 25

_DONE: Mapping[str, tuple[str, str, str]] = {
    **{name: words for name, (_, words) in features.merged(hooks.Fields, lambda each: each.LOGGED).items()},
    "withdrawnAt": ("Withdrawn", "Withdrawn", "Restored"),
    "hotAt": ("Made hot", "Made hot", "No longer hot"),
}
"""Verbs for fields whose values aren't shown: added, changed, removed."""

routes = Routes()


@routes.get("/desk/deals/<number>/log")
def log(request: Request, number: str) -> Answer:
    """A deal's whole log, newest first, page by page."""
    deal, cursor = deal_of(request, number), request.query.get("cursor")
    page = log_of(table(), deal.deal_id, limit=_PAGE, now=request.now, cursor=cursor)
    lines, first = [_line(line, request.now) for line in page.items], cursor is None
    return desk_page(
        "desk/templates/log.html", request, number=number, title=deal.title, lines=lines, first=first, older=page.next
    )


def newest_changes(deal: Deal, now: datetime) -> list[dict[str, Any]]:
    return [_line(line, now) for line in log_of(table(), deal.deal_id, limit=SHOWN_CHANGES, now=now).items]


def _line(line: LogLine, now: datetime) -> dict[str, Any]:
    return {
        "by": line.by or "Unknown",
        "at": to_iso(line.at),
        "when": views.short_moment(line.at, now),
        "changes": [_in_words(each) for each in line.changes] or [{"did": "Posted"}],
    }


def _in_words(change: Changed) -> dict[str, str]:
    """A change in words: an action, or a field with its old and new value."""
    if change.field in _DONE:
        there, another, gone = _DONE[change.field]
        return {"did": gone if change.now is None else there if change.was is None else another}
    was, now = (in_words(change.field, text or "") for text in (change.was, change.now))
    return {"name": FIELDS[change.field].label, "was": was, "now": now}
