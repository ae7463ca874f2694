"""The lists of picked deals that editors order: the front page, the editor's choice and one for each category."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from shared.data.catalog import picks
from shared.dynamodb.table import Table
from shared.errors import NoSuchTopic
from shared.models.catalog import CATEGORIES, CATEGORY, EDITORS_CHOICE, FRONT_PAGE, CuratedPage, Deal, Topic


@dataclass(frozen=True, slots=True)
class List:
    """One list of picked deals that editors order: its path below the desk, its name, and how it is read and kept."""

    path: str
    name: str
    public: str
    read: Callable[[Table, datetime], Sequence[Deal]]
    keep: Callable[[Table, Sequence[str], datetime], object]
    hint: str


def _curated(page: CuratedPage, path: str, name: str, public: str) -> List:
    return List(
        path,
        name,
        public,
        lambda table, now: picks.read(table, page, now, consistent=True),
        lambda table, ids, now: picks.set_featured(table, page, ids, now),
        f"Up to {picks.MAX_FEATURED} deals; the first leads.",
    )


def of_category(slug: str) -> List:
    """The list of a category. Raises NoSuchTopic."""
    if slug not in CATEGORIES:
        raise NoSuchTopic(CATEGORY.label, slug)
    topic = Topic(CATEGORY, slug)
    fewest, most = picks.CATEGORY_FEATURED
    return List(
        f"/desk/categories/{slug}",
        CATEGORIES[slug],
        f"/categories/{slug}",
        lambda table, now: picks.read(table, topic, now, consistent=True),
        lambda table, ids, now: picks.set_category_featured(table, slug, ids, now),
        f"{fewest} to {most} deals.",
    )


FRONT = _curated(FRONT_PAGE, "/desk/front-page", "Front page", "/")
CHOICE = _curated(EDITORS_CHOICE, "/desk/editors-choice", "Editors’ choice", "/editors-choice")  # noqa: RUF001  # as it is printed
EVERY = (FRONT, CHOICE, *map(of_category, CATEGORIES))


def moved(numbers: Sequence[str], action: str, which: str) -> list[str]:
    """An order after one deal was moved up or down by one, or taken out."""
    order = list(numbers)
    if which not in order or action not in ("up", "down", "out"):
        return order
    place = order.index(which)
    order.pop(place)
    if action != "out":
        order.insert(max(0, place - 1) if action == "up" else place + 1, which)
    return order


def placed(numbers: Sequence[str], which: str, place: int | None) -> list[str]:
    """An order with one deal put to a place, which count from 1, or to the end; one that is in it moves there."""
    if place is None:
        return [*numbers, which]
    order = [each for each in numbers if each != which]
    order.insert(place - 1, which)
    return order
