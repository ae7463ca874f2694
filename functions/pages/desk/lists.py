"""Ordering the lists of picked deals that readers see first."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from http import HTTPStatus
from types import MappingProxyType
from typing import Any

from functions.pages.desk import picked_lists
from functions.pages.desk.editing import desk_page, line_of
from shared.data.catalog import clicks, deals
from shared.errors import NoSuchDeal, NoSuchDeals, WrongFeaturedCount
from shared.html import cookies, forms, pages, views
from shared.html.app import Routes
from shared.html.pages import Answer
from shared.html.request import Request
from shared.models.catalog import Deal, Status
from shared.runtime.environment import table

routes = Routes()


@routes.get("/desk/front-page", "/desk/editors-choice", "/desk/categories/<slug>")
def list_page(request: Request, slug: str = "") -> Answer:
    return _order_page(request, _asked(request, slug))


@routes.post("/desk/front-page", "/desk/editors-choice", "/desk/categories/<slug>")
def order_list(request: Request, slug: str = "") -> Answer:
    return _ordered(request, _asked(request, slug))


def _asked(request: Request, slug: str) -> picked_lists.List:
    """The list of a category, where a path names one, or of the page that the path is of. Raises NoSuchTopic."""
    if slug:
        return picked_lists.of_category(slug)
    return picked_lists.FRONT if request.path == picked_lists.FRONT.path else picked_lists.CHOICE


def _order_page(
    request: Request,
    ordered: picked_lists.List,
    picked: Sequence[Deal] | None = None,
    errors: Mapping[str, str] | None = None,
    typed: Mapping[str, str] = MappingProxyType({}),
    status: int | None = None,
) -> Answer:
    """A list's page: as it is, or with ``errors`` what was tried with it (``picked``) and a status that says so."""
    cookies.editor_of(request)
    now = request.now
    kept = ordered.read(table(), now)
    shown = kept if picked is None else picked
    followed = clicks.of(table(), [deal.deal_id for deal in shown])
    return desk_page(
        "desk/order.html",
        request,
        status,
        ordered=order_of(ordered, shown, now, followed, kept),
        errors=errors,
        typed={name: typed.get(name, "") for name in ("add", "place")},
        lists=[{"path": each.path, "name": each.name} for each in picked_lists.EVERY],
    )


def order_of(
    ordered: picked_lists.List,
    picked: Sequence[Deal],
    now: datetime,
    followed: Mapping[str, int],
    kept: Sequence[Deal] | None = None,
) -> dict[str, Any]:
    """A list as its table shows it, on its own page and on the desk. ``kept`` is the stored list, if not ``picked``."""
    return {
        "path": ordered.path,
        "name": ordered.name,
        "public": ordered.public,
        "hint": ordered.hint,
        "rows": [line_of(deal, now, followed) for deal in picked],
        "before": _numbers(picked),
        "kept": _numbers(picked if kept is None else kept),
    }


def _numbers(picked: Sequence[Deal]) -> str:
    return ",".join(str(views.number(deal)) for deal in picked)


def _ordered(request: Request, ordered: picked_lists.List) -> Answer:
    """Do what a button says to a list: ``up:12``, ``down:12``, ``out:12``, ``add``, or ``keep`` for a dragged order.

    What is added may be put to a place, and a deal of the list moves there.

    The form carries the whole order. So editors can add deals one by one to a list that is still too short for its
    category, which is not stored until it is long enough.
    It also carries the stored list that it was made from. Where another editor has changed that since, the new list is
    shown and nothing is written; of two forms sent at the same instant the last one wins. A form that is sent twice
    finds the list as it wants it, and is answered as the first time.
    The answer leads back to the form's page, and there to the deal that was moved: Tab goes on to its buttons.
    """
    cookies.editor_of(request)
    typed = forms.read(request.event)
    numbers = [each for each in typed.get("order", "").split(",") if each]
    action, _, which = typed.get("do", "keep").partition(":")
    if action == "add":
        which, place = re.sub(r"[^0-9A-Za-z]", "", typed.get("add", "")), typed.get("place", "").strip()
        if place and not re.fullmatch("[1-9][0-9]?", place):
            errors = {"place": "A place is a number from 1 on."}
            return _order_page(request, ordered, errors=errors, typed=typed)
        numbers = picked_lists.placed(numbers, which, int(place) if place else None) if which else numbers
    numbers = picked_lists.moved(numbers, action, which)
    now_is = _numbers(ordered.read(table(), request.now))
    if "kept" in typed and typed["kept"] != now_is and now_is != ",".join(numbers):
        errors = {"add": "This list was changed meanwhile. This is how it is now; please do it again."}
        return _order_page(request, ordered, errors=errors, typed=typed, status=HTTPStatus.CONFLICT)
    try:
        picked = [deals.find(table(), number, consistent=True) for number in numbers]
    except NoSuchDeal:
        errors = {"add": f"There is no deal with the number {which}."}
        return _order_page(request, ordered, _those_there(numbers), errors, typed)
    over = [deal for deal in picked if deal.status(request.now) is not Status.ACTIVE]
    if action == "add" and over:
        errors = {"add": "This deal has ended or was withdrawn."}
        return _order_page(request, ordered, [deal for deal in picked if deal not in over], errors, typed)
    try:
        ordered.keep(table(), [deal.deal_id for deal in picked], request.now)
    except (WrongFeaturedCount, NoSuchDeals) as error:
        return _order_page(request, ordered, _once(picked), {"add": str(error)}, typed if action == "add" else {})
    back = "/desk" if typed.get("back") == "/desk" else ordered.path
    moved = dict(zip(numbers, picked, strict=True)).get(which)
    return pages.redirect(back, said="ordered", fragment=f"deal-{views.number(moved)}" if moved else "order")


def _those_there(numbers: Sequence[str]) -> list[Deal]:
    found = []
    for number in numbers:
        with suppress(NoSuchDeal):
            found.append(deals.find(table(), number, consistent=True))
    return _once(found)


def _once(picked: Sequence[Deal]) -> list[Deal]:
    return list({deal.deal_id: deal for deal in picked}.values())
