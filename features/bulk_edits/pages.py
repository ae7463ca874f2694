"""Changes of several deals at once, on the desk.

Deals are ticked, or all that fit the list's filter are chosen. A page names them and what will happen; its form posts
the numbers or the filter. The edit's own page shows how far it is, what was left and why, and undoes it for ten
minutes.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

from features.bulk_edits import data
from features.bulk_edits.data import CHANGED, FINISHED, RESTORED, BulkEdit, Planned
from features.desk import deal_form, matching
from features.desk.frame import brand_names, desk_page, editor_of
from features.desk.picked import CHOICE, FRONT, List
from shared.data.catalog import deals, picks
from shared.errors import BadRequest, Damaged, NoSuchDeal, NoSuchTopic, TooLateToUndo, Unavailable
from shared.html import forms, pages, views
from shared.html.forms import InvalidFields
from shared.html.pages import Answer, Request, Routes
from shared.models.catalog import CATEGORIES, Deal, Status
from shared.models.members import Session
from shared.runtime.environment import table
from shared.values import identifiers
from shared.values.naming import counted
from shared.values.times import from_iso, to_iso

routes = Routes()

MOST_TICKED = 25
"""Deals that can be ticked: a page of the list."""

NAMED = 10
"""Deals that the page before an edit of all that fit names, and that the edit's own page lists first."""

LOOKS_AGAIN = 10
"""Seconds after which the page of an unfinished edit reloads without script."""

TOGETHER = "/desk/deals/together"
TICKED = "deal-"
"""The prefix of the boxes' names; the deal's number follows."""

ASKED = {"end": "End {}?", "move": "Move {}", "page": "Put {} on a page"}
DONE = {"end": "ended", "move": "moved", "page": "put on the page"}
DOING = {"end": "Ending", "move": "Moving", "page": "Placing"}

PAGES = {"front": FRONT, "choice": CHOICE}

WHY = {
    "gone": "There is no such deal.",
    "over": "It has ended or was withdrawn.",
    "changed": "Someone else has changed it since.",
    "large": "With that brand it would be too large.",
    "damaged": "Its item in the table is damaged. Open it to repair it.",
}
"""Why a deal was left as it was, by the outcome's code."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The deals that a form chooses by numbers or, if ``is_all``, by a filter, and the ``fields`` that chose them.

    ``more`` says that more would fit the filter, ``unread`` that some ticked deals can't be read.
    """

    found: list[Deal]
    fields: Mapping[str, str]
    is_all: bool
    more: bool = False
    unread: bool = False

    @property
    def words(self) -> str:
        return f"the newest {len(self.found)} deals" if self.more else counted(len(self.found), "deal")


@routes.get(TOGETHER)
def together_page(request: Request) -> Answer:
    """The page that names the chosen deals and says what will happen to them; the list if nothing is chosen."""
    if "do" not in request.query:
        return pages.redirect("/desk/deals")
    return _together_page(request, request.query, {})


@routes.post(TOGETHER)
def do_together(request: Request) -> Answer:
    """Begin an edit of the chosen deals, take its first step, and redirect to its page."""
    editor_of(request)
    typed = forms.read(request.event)
    action = _action(typed)
    chosen = _for(action, _chosen(typed, request))
    if not chosen.found:
        return pages.redirect("/desk/deals", notice="unticked")
    try:
        changes = _move(typed) if action == "move" else {}
    except InvalidFields as error:
        return _together_page(request, typed, error.errors)
    edit = BulkEdit(
        identifiers.random(request.now, secrets.token_bytes(16)),
        str(request.username),
        str(request.account_id),
        request.now,
        action,
        tuple(map(Planned.of, chosen.found)),
        changes,
    )
    if action == "page":
        edit = _put_on_page(edit, chosen.found, typed.get("page", ""), request.now)
    edit = _first_step(data.begin(table(), edit), request)
    return pages.redirect(f"{TOGETHER}/{edit.edit_id}", notice="unread" if chosen.unread else None)


def _first_step(edit: BulkEdit, request: Request) -> BulkEdit:
    """Take an edit's first step. If the table is busy or the clock was faster, the clock goes on."""
    try:
        return data.walk(table(), edit, request.now, correlation_id=request.correlation_id)
    except (Unavailable, data.WalkedMeanwhile):
        return edit


@routes.get(f"{TOGETHER}/<edit_id>")
def edit_page(request: Request, edit_id: str) -> Answer:
    """How far an edit or its undoing is, and the results. Its script asks for JSON."""
    editor_of(request)
    edit = data.get(table(), str(request.username), edit_id)
    shown = _progress(edit)
    if request.wants_json:
        return pages.json_answer(shown)
    rows = dict(zip((each.deal_id for each in edit.planned), edit.walked, strict=False))
    refused = [each for each, code in rows.items() if code in WHY]
    done = [each for each, code in rows.items() if code not in WHY]
    found = {each.deal_id: each for each in deals.get_many(table(), [*done[:MOST_TICKED], *refused[:MOST_TICKED]])}
    until = edit.undo_until(request.now)
    return desk_page(
        "bulk_edits/templates/edit.html",
        request,
        edit_id=edit_id,
        done=[_row(found.get(each), request) for each in done[:MOST_TICKED]],
        refused=[_row(found.get(each), request) | {"why": WHY[rows[each]]} for each in refused[:MOST_TICKED]],
        more_done=max(0, len(done) - MOST_TICKED),
        more_refused=max(0, len(refused) - MOST_TICKED),
        undo=_undo_words(edit) if until else "",
        until=views.clock(until) if until else "",
        looks_again=LOOKS_AGAIN,
        restored=edit.state == RESTORED,
        **shown,
    )


@routes.post(f"{TOGETHER}/<edit_id>/undo", form_page=f"{TOGETHER}/<edit_id>")
def undo_edit(request: Request, edit_id: str) -> Answer:
    """Undo an edit: each deal that nobody has changed since, or a page's order that is still the edit's."""
    editor_of(request)
    edit = data.get(table(), str(request.username), edit_id)
    if edit.does == "page":
        _restore_page(edit, request.now)
    if edit.state == CHANGED:
        _first_step(data.undo(table(), edit, request.now), request)
    return pages.redirect(f"{TOGETHER}/{edit_id}")


def on_deals(session: Session, now: datetime) -> Mapping[str, Any]:
    """The latest edit, above the list of deals: while it is unfinished, and while it can be undone."""
    edit = data.latest(table(), session.username)
    if edit is None or (edit.state in FINISHED and edit.undo_until(now) is None):
        return {"bulk_edit": None}
    until = edit.undo_until(now)
    words = {"at": views.clock(edit.finished_at or edit.started_at), "until": views.clock(until) if until else ""}
    return {"bulk_edit": {**_progress(edit), **words, "edit_id": edit.edit_id, "undo": _undo_words(edit)}}


def _undo_words(edit: BulkEdit) -> str:
    number = edit.outcomes.count("done")
    return "Undo" if number == 1 or edit.does == "page" else f"Undo all {number}"


def _progress(edit: BulkEdit) -> dict[str, Any]:
    """How far an edit is, in words and as a bar; the names are those that the desk's script writes."""
    walked, total = len(edit.walked), len(edit.planned)
    changed = sum(code not in WHY for code in edit.outcomes)
    if edit.state == RESTORED:
        restored = sum(code == "done" for code in edit.restored)
        heading = "The order is as before" if edit.does == "page" else f"{counted(restored, 'deal')} restored"
    elif edit.state == CHANGED:
        heading = f"{counted(changed, 'deal')} {DONE[edit.does]}"
    elif edit.state == data.STOPPED:
        heading = f"Stopped after {walked} of {counted(total, 'deal')}, because you were no longer an editor"
    else:
        heading = f"{DOING[edit.does] if edit.state == data.CHANGING else 'Restoring'} {counted(total, 'deal')}"
    minutes = counted(-(-(total - walked) // data.EACH_MINUTE), "minute")
    return {
        "title": heading,
        "heading": heading,
        "sentence": f"{walked:,} of {total:,} looked at, up to {data.EACH_MINUTE} a minute. "
        f"About {minutes} left; you can close this page.",
        "finished": edit.state in FINISHED,
        "reached": walked,
        "most": total,
    }


def _together_page(request: Request, fields: Mapping[str, str], errors: Mapping[str, str]) -> Answer:
    editor_of(request)
    action = _action(fields)
    chosen = _for(action, _chosen(fields, request))
    if not chosen.found:
        return pages.redirect("/desk/deals", notice="unticked")
    return desk_page(
        "bulk_edits/templates/together.html",
        request,
        do=action,
        heading=ASKED[action].format(chosen.words),
        fields=chosen.fields,
        deals=[views.card(deal, request.now, width=128) for deal in chosen.found[: NAMED if chosen.is_all else None]],
        number=len(chosen.found),
        more=chosen.more,
        typed={name: fields.get(f"to_{name}", "") for name in ("category", "brand")} | {"page": fields.get("page", "")},
        errors={f"to_{name}" if name != "page" else name: error for name, error in errors.items()},
        choices={
            "category": {"": "As they are", **CATEGORIES},
            "page": {name: each.name for name, each in PAGES.items()},
        },
        most=picks.MAX_FEATURED,
        step=data.STEP,
        brand_names=brand_names() if action == "move" else [],
    )


def _for(action: str, chosen: Chosen) -> Chosen:
    """The chosen deals that an action takes: a page has room for some only."""
    return replace(chosen, found=chosen.found[: picks.MAX_FEATURED], more=False) if action == "page" else chosen


def _chosen(fields: Mapping[str, str], request: Request) -> Chosen:
    """The deals that a form chooses, as they are now.

    Of all that fit a filter, those stay out that were changed since the page that named them (``seen``). Raises
    BadRequest for more ticked ones than ``MOST_TICKED``, and for a filter that chooses every deal.
    """
    if fields.get("all") != "1":
        return _ticked(fields)
    wanted = matching.chosen(fields)
    if wanted.is_all:
        raise BadRequest("Choose a filter, or tick deals.")
    try:
        seen = from_iso(fields.get("seen") or to_iso(request.now))
    except ValueError as error:
        raise BadRequest("The form cannot be read.") from error
    found, are_all = matching.read_all(table(), wanted, most=data.MOST, now=request.now)
    as_now = deals.get_many(table(), [deal.deal_id for deal in found], consistent=True)
    chosen = [deal for deal in as_now if deal.changed_at < seen]
    return Chosen(chosen, {"all": "1", "seen": to_iso(seen), **wanted.fields}, is_all=True, more=not are_all)


def _ticked(fields: Mapping[str, str]) -> Chosen:
    names = [name.removeprefix(TICKED) for name in fields if name.startswith(TICKED)]
    numbers = [name for name in dict.fromkeys(names) if name.isascii() and name.isalnum()]
    if len(numbers) > MOST_TICKED:
        raise BadRequest(f"At most {MOST_TICKED} deals can be ticked.")
    read = table().gather([partial(_read, number) for number in numbers])
    found = [deal for deal in read if deal is not None]
    fields = {f"{TICKED}{number}": "1" for number in numbers}
    return Chosen(found, fields, is_all=False, unread=len(found) < len(read))


def _read(number: str) -> Deal | None:
    """A deal as it is now; None if there is none, or if it is damaged."""
    try:
        return deals.find(table(), number, consistent=True)
    except (NoSuchDeal, Damaged):
        return None


def _action(fields: Mapping[str, str]) -> str:
    action = fields.get("do", "")
    if action not in ASKED:
        raise BadRequest("Choose what to do: end, move or page.", "do")
    return action


def _move(typed: Mapping[str, str]) -> dict[str, str]:
    """The fields that a move changes. Raises InvalidFields."""
    category, brand = typed.get("to_category", ""), deal_form.slug_of(typed.get("to_brand", "").strip())
    if not category and not brand:
        raise InvalidFields({"category": "Choose a category, or name a brand."})
    if category and category not in CATEGORIES:
        raise InvalidFields({"category": "Choose one of the categories."})
    try:
        if brand:
            brand = deals.stored_brand(table(), brand)["brand"]
    except NoSuchTopic as error:
        absent = "There is no brand with this name yet. Create it on the Brands page first."
        raise InvalidFields({"brand": absent}) from error
    return {name: value for name, value in (("category", category), ("brand", brand)) if value}


def _put_on_page(edit: BulkEdit, chosen: Sequence[Deal], name: str, now: datetime) -> BulkEdit:
    """Put the first active deals on a page, which is one item: one write for all. Returns the finished edit."""
    page = PAGES.get(name)
    if page is None:
        raise BadRequest(f"The page must be one of {', '.join(PAGES)}.", "page")
    before = _order(page, now)
    active = [deal.deal_id for deal in chosen if deal.status(now) is Status.ACTIVE]
    if active:
        page.lead(table(), active, now)
    return replace(
        edit,
        outcomes=tuple("done" if each.deal_id in active else "over" for each in edit.planned),
        state=CHANGED,
        finished_at=now,
        page={"name": name, "before": before, "after": _order(page, now)},
    )


def _order(page: List, now: datetime) -> list[str]:
    return [deal.deal_id for deal in page.read(table(), now)]


def _restore_page(edit: BulkEdit, now: datetime) -> None:
    """Give a page the order from before an edit. Raises TooLateToUndo if its picks have been changed since."""
    its = edit.page or {}
    page, current = PAGES[its["name"]], _order(PAGES[its["name"]], now)
    # Picks that have ended are in no order.
    after = deals.get_many(table(), its["after"], consistent=True)
    if edit.undo_until(now) is None or current != [each.deal_id for each in picks.active(after, now)]:
        raise TooLateToUndo("ten minutes, as long as nobody changes the page")
    page.keep(table(), its["before"], now)


def _row(deal: Deal | None, request: Request) -> dict[str, Any]:
    """A row of the results."""
    return dict(views.card(deal, request.now, width=128)) if deal else {"title": "A deal", "number": ""}
