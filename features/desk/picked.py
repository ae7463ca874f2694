"""Lists of picked deals (the front page's, the editors' choice, each category's), and all brands."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from types import MappingProxyType
from typing import Any

from features.desk import deal_form
from features.desk.frame import Counts, counts_of, desk_page, editor_of, line_of
from shared.api.bodies import NewBrand
from shared.data.catalog import deals, picks, topics
from shared.dynamodb.table import Table
from shared.errors import BrandExists, NoSuchDeal, NoSuchDeals, NoSuchTopic, WrongFeaturedCount
from shared.html import forms, pages
from shared.html.forms import InvalidFields, check
from shared.html.pages import Answer, Request, Routes
from shared.models.catalog import CATEGORIES, CATEGORY, EDITORS_CHOICE, FRONT_PAGE, CuratedPage, Deal, Status, Topic
from shared.runtime.environment import table
from shared.values import naming

routes = Routes()


@dataclass(frozen=True, slots=True)
class List:
    """A list of picked deals that editors order: its path at the desk, its name, and its page."""

    path: str
    name: str
    public: str
    of: CuratedPage | Topic
    hint: str

    def read(self, table: Table, now: datetime) -> list[Deal]:
        """The list's active deals, as they are now."""
        return picks.read(table, self.of, now, consistent=True)

    def keep(self, table: Table, deal_ids: Sequence[str], now: datetime) -> None:
        """Replace the list's deals. Raises WrongFeaturedCount, NoSuchDeals."""
        if isinstance(self.of, Topic):
            picks.set_category_featured(table, self.of.slug, deal_ids, now)
        else:
            picks.set_featured(table, self.of, deal_ids, now)

    def lead(self, table: Table, deal_ids: Sequence[str], now: datetime) -> None:
        """Put deals first, in their order; from a full list, the last ones are dropped."""
        others = [deal.deal_id for deal in self.read(table, now) if deal.deal_id not in deal_ids]
        self.keep(table, [*deal_ids, *others][: picks.MAX_FEATURED], now)


def _of_category(slug: str) -> List:
    fewest, most = picks.CATEGORY_FEATURED
    of = Topic(CATEGORY, slug)
    return List(f"/desk/categories/{slug}", CATEGORIES[slug], f"/categories/{slug}", of, f"{fewest} to {most} deals.")


_HINT = f"Up to {picks.MAX_FEATURED} deals; the first one leads the page."
FRONT = List("/desk/front-page", "Front page", "/", FRONT_PAGE, _HINT)
CHOICE = List("/desk/editors-choice", "Editors’ choice", "/editors-choice", EDITORS_CHOICE, _HINT)  # noqa: RUF001  # as it is printed
EVERY = {each.path: each for each in (FRONT, CHOICE, *map(_of_category, CATEGORIES))}


@routes.get("/desk/front-page", "/desk/editors-choice", "/desk/categories/<slug>")
def list_page(request: Request, slug: str = "") -> Answer:
    return _order_page(request, _list_of(request, slug))


@routes.post("/desk/front-page", "/desk/editors-choice", "/desk/categories/<slug>")
def order_list(request: Request, slug: str = "") -> Answer:
    """Apply a button to a list: ``up:12``, ``down:12``, ``out:12``, ``add``, or ``keep`` for a dragged order.

    An added deal may get a place; if it is in the list already, it moves there. The form has the whole order, so
    editors can add deals one by one to a list that is too short for its category; it is stored once it is long enough.
    It also has the stored list that it was made from: if another editor has changed that, the new list is shown and
    nothing is written (of two forms at the same instant, the last one wins). A form that is sent twice changes nothing
    more. The answer redirects to the form's page at the moved deal, so that Tab continues at its buttons.
    """
    ordered, typed = _list_of(request, slug), forms.read(request.event)
    numbers = [each for each in typed.get("order", "").split(",") if each]
    action, _, which = typed.get("do", "keep").partition(":")
    if action == "add":
        which, place = re.sub(r"[^0-9A-Za-z]", "", typed.get("add", "")), typed.get("place", "").strip()
        if place and not re.fullmatch("[1-9][0-9]?", place):
            errors = {"place": "Enter a place from 1 upwards."}
            return _order_page(request, ordered, errors=errors, typed=typed)
        numbers = _placed(numbers, which, int(place) if place else None) if which else numbers
    numbers = _moved(numbers, action, which)
    now_is = _numbers(ordered.read(table(), request.now))
    if "kept" in typed and typed["kept"] != now_is and now_is != ",".join(numbers):
        errors = {"add": "This list has changed since you opened it. Make your change again."}
        return _order_page(request, ordered, errors=errors, typed=typed, status=HTTPStatus.CONFLICT)
    picked = []
    for number in numbers:
        with suppress(NoSuchDeal):
            picked.append(deals.find(table(), number, consistent=True))
    if len(picked) < len(numbers):
        errors = {"add": f"There is no deal with the number {which}."}
        return _order_page(request, ordered, _once(picked), errors, typed)
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
    return pages.redirect(back, notice="ordered", fragment=f"deal-{moved.page_id}" if moved else "order")


def _list_of(request: Request, slug: str) -> List:
    """The requested list: a category's, or the path's. Raises NoSuchTopic."""
    editor_of(request)
    if slug and slug not in CATEGORIES:
        raise NoSuchTopic(CATEGORY.label, slug)
    return EVERY[f"/desk/categories/{slug}" if slug else request.path]


def _order_page(
    request: Request,
    ordered: List,
    picked: Sequence[Deal] | None = None,
    errors: Mapping[str, str] | None = None,
    typed: Mapping[str, str] = MappingProxyType({}),
    status: int | None = None,
) -> Answer:
    """A list's page: as stored, or after a refused change (``picked``) with its ``errors`` and status."""
    now = request.now
    kept = ordered.read(table(), now)
    shown = kept if picked is None else picked
    counts = counts_of(shown)
    return desk_page(
        "desk/templates/order.html",
        request,
        status,
        ordered=order_of(ordered, shown, now, counts, kept),
        errors=errors,
        typed={name: typed.get(name, "") for name in ("add", "place")},
        lists=[{"path": each.path, "name": each.name} for each in EVERY.values()],
    )


def order_of(
    ordered: List,
    picked: Sequence[Deal],
    now: datetime,
    counts: Counts,
    kept: Sequence[Deal] | None = None,
) -> dict[str, Any]:
    """A list's rows, for its own page and the desk. ``kept`` is the stored list, if not ``picked``."""
    return {
        **{name: getattr(ordered, name) for name in ("path", "name", "public", "hint")},
        "rows": [line_of(deal, now, counts) for deal in picked],
        "before": _numbers(picked),
        "kept": _numbers(picked if kept is None else kept),
    }


def _numbers(picked: Sequence[Deal]) -> str:
    return ",".join(str(deal.page_id) for deal in picked)


def _once(picked: Sequence[Deal]) -> list[Deal]:
    return list({deal.deal_id: deal for deal in picked}.values())


def _moved(order: Sequence[str], action: str, which: str) -> list[str]:
    """An order after one deal was moved by one place, or taken out."""
    if which not in order or action not in ("up", "down", "out"):
        return list(order)
    place = order.index(which)
    others = [*order[:place], *order[place + 1 :]]
    if action != "out":
        others.insert(max(0, place - 1) if action == "up" else place + 1, which)
    return others


def _placed(order: Sequence[str], which: str, place: int | None) -> list[str]:
    """An order with one deal put at a place, counted from 1, or at the end; a listed deal moves there."""
    if place is None:
        return [*order, which]
    others = [each for each in order if each != which]
    others.insert(place - 1, which)
    return others


@routes.get("/desk/brands")
def brand_form(request: Request) -> Answer:
    editor_of(request)
    return _brands_page(request, {"name": request.query.get("name", "")})


@routes.post("/desk/brands")
def new_brand(request: Request) -> Answer:
    """Create a brand. Similar names are shown first, and must be confirmed."""
    editor_of(request)
    typed = forms.read(request.event)
    try:
        name = check(NewBrand, {"name": typed.get("name", "")}).name.strip()
        near = [] if typed.get("sure") == "1" else near_names(name)
        if near:
            return _brands_page(request, typed, near=near, status=HTTPStatus.CONFLICT)
        topics.create_brand(table(), naming.slug(name), name, request.now)
    except InvalidFields as error:
        return _brands_page(request, typed, error.errors)
    except BrandExists:
        return _brands_page(request, typed, {"name": "This brand exists already."}, status=HTTPStatus.CONFLICT)
    return pages.redirect("/desk/brands", notice="brand")


def near_names(name: str) -> list[str]:
    """Brand names with similar spelling, without the name itself."""
    known = topics.brand_names(table(), consistent=True)
    asked = deal_form.slug_of(name)
    near = difflib.get_close_matches(asked, known, n=5, cutoff=0.75)
    begins = [slug for slug in known if asked and (slug.startswith(f"{asked}-") or asked.startswith(f"{slug}-"))]
    return [known[slug] for slug in dict.fromkeys((*near, *begins)) if slug != asked][:5]


def _brands_page(
    request: Request,
    typed: Mapping[str, str],
    errors: Mapping[str, str] | None = None,
    *,
    near: Sequence[str] = (),
    status: int | None = None,
) -> Answer:
    names = [{"slug": slug, "name": name} for slug, name in topics.brand_names(table(), consistent=True).items()]
    shown = {"name": typed.get("name", "")}
    return desk_page(
        "desk/templates/brands.html", request, status, typed=shown, errors=errors, near=list(near), names=names
    )
