"""The lists of picked deals that editors order: the front page, the editor's choice and one for each category."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from shared.data.catalog import picks
from shared.dynamodb.table import Table
from shared.errors import NoSuchTopic
from shared.models.catalog import CATEGORIES, CATEGORY, EDITORS_CHOICE, FRONT_PAGE, CuratedPage, Deal, Topic


@dataclass(frozen=True, slots=True)
class List:
    """One list of picked deals that editors order: its path below the desk, its name, and the page that it is of."""

    path: str
    name: str
    public: str
    of: CuratedPage | Topic
    hint: str

    def read(self, table: Table, now: datetime) -> list[Deal]:
        """The deals of the list as it is at this moment, the active ones."""
        return picks.read(table, self.of, now, consistent=True)

    def keep(self, table: Table, deal_ids: Sequence[str], now: datetime) -> None:
        """Replace the list's deals. Raises WrongFeaturedCount, NoSuchDeals."""
        if isinstance(self.of, Topic):
            picks.set_category_featured(table, self.of.slug, deal_ids, now)
        else:
            picks.set_featured(table, self.of, deal_ids, now)

    def lead(self, table: Table, deal_ids: Sequence[str], now: datetime) -> None:
        """Put deals to the first places of a page, in their order; from a list that is full, the last ones go."""
        others = [deal.deal_id for deal in self.read(table, now) if deal.deal_id not in deal_ids]
        self.keep(table, [*deal_ids, *others][: picks.MAX_FEATURED], now)


def of_category(slug: str) -> List:
    """The list of a category. Raises NoSuchTopic."""
    if slug not in CATEGORIES:
        raise NoSuchTopic(CATEGORY.label, slug)
    fewest, most = picks.CATEGORY_FEATURED
    of = Topic(CATEGORY, slug)
    return List(f"/desk/categories/{slug}", CATEGORIES[slug], f"/categories/{slug}", of, f"{fewest} to {most} deals.")


_HINT = f"Up to {picks.MAX_FEATURED} deals; the first leads."
FRONT = List("/desk/front-page", "Front page", "/", FRONT_PAGE, _HINT)
CHOICE = List("/desk/editors-choice", "Editors’ choice", "/editors-choice", EDITORS_CHOICE, _HINT)  # noqa: RUF001  # as it is printed
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
