"""Changes of several deals at once, on the desk.

Ticked deals are previewed, then ended, moved or put on a page: each by its own conditional write, so a refused one
doesn't stop the others. A deal that already has the requested state is left alone, so sending a form twice is harmless.
The result's address has numbers and codes. As on all pages after a form, a cookie of one minute must match it:
otherwise the page says that nothing was done, and shows the deals as they are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

from functions.pages.desk import deal_form
from functions.pages.desk.frame import brand_names, desk_page, edit
from functions.pages.desk.lists import CHOICE, FRONT, List
from shared.data.catalog import deals, editing, picks
from shared.errors import (
    BadRequest,
    Damaged,
    DealTooLarge,
    EditedMeanwhile,
    Impossible,
    NoSuchDeal,
    NoSuchTopic,
    TooLateToUndo,
    Unavailable,
)
from shared.html import cookies, forms, pages, views
from shared.html.forms import InvalidFields
from shared.html.pages import Answer, Request, Routes
from shared.http import requests
from shared.models.catalog import CATEGORIES, Deal, Status
from shared.runtime.environment import table
from shared.values.naming import counted
from shared.values.times import to_iso

routes = Routes()

MOST_TOGETHER = 25
"""Deals at once: a page of the list. One after the other, they take one or two of the function's ten seconds."""

TOGETHER = "/desk/deals/together"
TICKED = "deal-"
"""The prefix of the boxes' names; the deal's number follows."""

ASKED = {"end": "End {}?", "move": "Move {}", "page": "Put {} on a page"}
DONE = {"end": "ended", "move": "moved", "page": "put on the page", "undo": "restored"}
"""What was done, by what the form asks for. Ended deals are restored from the page with the result."""

PAGES = {"front": FRONT, "choice": CHOICE}

WHY = {
    "gone": "There is no such deal.",
    "over": "It has ended or was withdrawn.",
    "changed": "Another editor changed it at the same time. Check it again.",
    "large": "With that brand it would be too large.",
    "late": "It can be restored for ten minutes after it was ended, as long as nobody has changed its end since.",
    "busy": "The table was busy. Try again.",
    "damaged": "Its item in the table is damaged. Open it to repair it.",
}
"""Why a deal was left as it was, by the code in the result's address."""


@routes.get(TOGETHER)
def together_page(request: Request) -> Answer:
    """The preview of what will happen to the ticked deals."""
    return _together_page(request, request.query, {})


@routes.post(TOGETHER)
def do_together(request: Request) -> Answer:
    """Change each ticked deal, and redirect to the page with the results."""
    cookies.editor_of(request)
    typed = forms.read(request.event)
    numbers, action = _ticked(typed), _action(typed, DONE)
    if not numbers:
        return pages.redirect("/desk/deals", notice="unticked")
    try:
        changes = _move(typed) if action == "move" else {"ends_at": request.now}
    except InvalidFields as error:
        return _together_page(request, typed, error.errors)
    result = dict(zip(numbers, _found(numbers), strict=True))
    if action == "page":
        page = PAGES.get(typed.get("page", ""))
        if page is None:
            raise BadRequest(f"The page must be one of {', '.join(PAGES)}.", "page")
        _put_on_page(result, page, request)
    elif action == "undo":
        for number, deal in result.items():
            if isinstance(deal, Deal):
                result[number] = _restored(deal, typed.get("at", ""), request)
    else:
        for number, deal in result.items():
            if isinstance(deal, Deal):
                result[number] = _edited(deal, changes, request, ends=action == "end")
    counts = {code: ".".join(n for n, each in result.items() if each == code) for code in ("done", *WHY)}
    query: dict[str, Any] = {"do": action} | {code: said for code, said in counts.items() if said}
    return pages.redirect(f"{TOGETHER}/done", cookies=(requests.done(_digest(query)),), **query)


@routes.get(f"{TOGETHER}/done")
def together_done(request: Request) -> Answer:
    """The results for each deal. Raises NoSuchDeal if the link names only unknown ones."""
    cookies.editor_of(request)
    action = _action(request.query, DONE)
    codes = {n: code for code in ("done", *WHY) for n in _numbers(request.query.get(code, ""))}
    numbers = list(codes)[:MOST_TOGETHER]
    found = _found(numbers)
    did = request.has_done(_digest(request.query))
    if not did and not any(isinstance(each, Deal) for each in found):
        raise NoSuchDeal(", ".join(numbers))
    states = dict(zip(numbers, (each if isinstance(each, str) else "done" for each in found), strict=True))
    rows = [
        {**_row(n, each, request), "why": WHY.get(codes[n] if did and codes[n] != "done" else states[n])}
        for n, each in zip(numbers, found, strict=True)
    ]
    refused = [row for row in rows if did and codes[row["number"]] != "done"]
    shown = [row for row in rows if row not in refused]
    heading = f"{counted(len(shown), 'deal')} {DONE[action]}" if did else f"{counted(len(shown), 'deal')}, as of now"
    undoable = _undoable(found, request) if did and action == "end" else []
    return desk_page(
        "bulk_edits/templates/done.html",
        request,
        heading=heading,
        did=did,
        done=shown,
        refused=refused,
        undoable=[f"{TICKED}{deal.number}" for deal in undoable],
        at=to_iso(undoable[0].ends_at) if undoable and undoable[0].ends_at else "",
    )


def _undoable(found: Sequence[Deal | str], request: Request) -> list[Deal]:
    """The deals that were ended last and together, and can still be restored: not those that had ended before."""
    ended = [each for each in found if isinstance(each, Deal) and each.ends_at and editing.undone(each, request.now)]
    last = max((deal.ends_at for deal in ended if deal.ends_at), default=None)
    return [deal for deal in ended if deal.ends_at == last]


def _together_page(request: Request, fields: Mapping[str, str], errors: Mapping[str, str]) -> Answer:
    cookies.editor_of(request)
    numbers, action = _ticked(fields), _action(fields)
    if not numbers:
        return pages.redirect("/desk/deals", notice="unticked")
    return desk_page(
        "bulk_edits/templates/together.html",
        request,
        do=action,
        heading=ASKED[action].format(counted(len(numbers), "deal")),
        ticked=[f"{TICKED}{number}" for number in numbers],
        deals=[views.card(deal, request.now, width=128) for deal in _found(numbers) if isinstance(deal, Deal)],
        typed={name: fields.get(name, "") for name in ("category", "brand", "page")},
        errors=errors,
        choices={
            "category": {"": "As they are", **CATEGORIES},
            "page": {name: each.name for name, each in PAGES.items()},
        },
        most=picks.MAX_FEATURED,
        brand_names=brand_names() if action == "move" else [],
    )


def _ticked(fields: Mapping[str, str]) -> list[str]:
    """The numbers of the ticked deals. Raises BadRequest for more than ``MOST_TOGETHER``."""
    numbers = _numbers(".".join(name.removeprefix(TICKED) for name in fields if name.startswith(TICKED)))
    if len(numbers) > MOST_TOGETHER:
        raise BadRequest(f"At most {MOST_TOGETHER} deals can be changed at once.")
    return numbers


def _numbers(text: str) -> list[str]:
    return [each for each in dict.fromkeys(text.split(".")) if each.isascii() and each.isalnum()]


def _digest(query: Mapping[str, str]) -> str:
    """A result's code, by which it is matched to the browser that sent the form."""
    result = " ".join(f"{name}={query[name]}" for name in ("do", "done", *WHY) if name in query)
    return hashlib.sha256(result.encode()).hexdigest()[:16]


def _action(fields: Mapping[str, str], among: Collection[str] = tuple(ASKED)) -> str:
    action = fields.get("do", "")
    if action not in among:
        raise BadRequest("Choose what to do: end, move or page.", "do")
    return action


def _move(typed: Mapping[str, str]) -> dict[str, Any]:
    """The fields that a move changes. Raises InvalidFields."""
    category, brand = typed.get("category", ""), deal_form.slug_of(typed.get("brand", "").strip())
    if not category and not brand:
        raise InvalidFields({"category": "Choose a category, or name a brand."})
    if category and category not in CATEGORIES:
        raise InvalidFields({"category": "Choose one of the categories."})
    try:
        if brand:
            deals.brand_name(table(), brand)
    except NoSuchTopic as error:
        absent = "There is no brand with this name yet. Create it on the Brands page first."
        raise InvalidFields({"brand": absent}) from error
    return {name: value for name, value in (("category", category), ("brand", brand)) if value}


def _found(numbers: Sequence[str]) -> list[Deal | str]:
    """Deals as they are now, or codes of why they can't be read. All are read at once."""
    return table().gather([partial(_read, number) for number in numbers])


def _read(number: str) -> Deal | str:
    try:
        return deals.find(table(), number, consistent=True)
    except NoSuchDeal:
        return "gone"
    except Damaged:
        return "damaged"


def _edited(deal: Deal, changes: Mapping[str, Any], request: Request, *, ends: bool) -> str:
    """Change one deal, if it hasn't changed since it was read; returns the outcome's code."""
    if ends and deal.status(request.now) is not Status.ACTIVE:
        return "done" if deal.status(request.now) is Status.EXPIRED else "over"
    if all(getattr(deal, name) == value for name, value in changes.items()):
        return "done"
    try:
        edit(request, deal, changes, deal.version)
    except NoSuchDeal:
        return "gone"
    except EditedMeanwhile:
        return "changed"
    except DealTooLarge:
        return "large"
    except Unavailable:
        return "busy"
    except Impossible:
        return "damaged"
    return "done"


def _restored(deal: Deal, ended_at: str, request: Request) -> str:
    """Undo the end that a deal got together with others, at a time; returns the outcome's code."""
    if deal.ends_at is None or to_iso(deal.ends_at) != ended_at:
        return "done" if deal.status(request.now) is Status.ACTIVE else "late"
    try:
        editing.undo(table(), deal.deal_id, request.now, by=request.username, correlation_id=request.correlation_id)
    except NoSuchDeal:
        return "gone"
    except TooLateToUndo:
        return "late"
    except Unavailable:
        return "busy"
    return "done"


def _put_on_page(result: dict[str, Deal | str], page: List, request: Request) -> None:
    """Put the active deals first on a page, which is one item: one write for all."""
    active = []
    for number, deal in result.items():
        if isinstance(deal, Deal):
            is_active = deal.status(request.now) is Status.ACTIVE
            active += [deal.deal_id] * is_active
            result[number] = "done" if is_active else "over"
    if active:
        page.lead(table(), active, request.now)


def _row(number: str, found: Deal | str, request: Request) -> dict[str, Any]:
    """A row of the result; for an unreadable deal, only its number."""
    card = views.card(found, request.now, width=128) if isinstance(found, Deal) else {"title": f"Deal {number}"}
    return {**card, "number": number}
