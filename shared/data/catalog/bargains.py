"""The front page's bargains: selections of all deals, and how many deals each has, counted once an hour."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from shared.data.catalog import lows, sorting
from shared.dynamodb.table import Table
from shared.models.catalog import Selection, Sort
from shared.values.times import from_iso, to_iso

BARGAINS: Mapping[str, Selection] = {
    "Under $25": Selection(Sort.CHEAPEST, most="25"),
    "Under $50": Selection(Sort.CHEAPEST, most="50"),
    "Half price or less": Selection(Sort.DISCOUNT, discount=50),
    "60-day lows": Selection(lowest=True),
}
"""The selections by their names."""

MOST = 100
"""Deals of each that are counted; beyond, there are more than so many."""

KEPT = timedelta(hours=1)
"""How long a count is kept."""


@dataclass(frozen=True, slots=True)
class Counts:
    """How many deals each bargain has, in the order of ``BARGAINS``, and whether these are all, as of a time."""

    at: datetime
    numbers: tuple[tuple[int, bool], ...]

    @classmethod
    def parse(cls, text: str) -> Counts:
        """Read counts from their text in a copy: ``2026-07-31T19:00:00Z 38 100+ 41 7``. Raises ValueError, also for
        those of other bargains."""
        at, *numbers = text.split(" ")
        if len(numbers) != len(BARGAINS):
            raise ValueError(f"{len(numbers)} counts of {len(BARGAINS)} bargains")
        return cls(from_iso(at), tuple((int(each.rstrip("+")), not each.endswith("+")) for each in numbers))

    def __str__(self) -> str:
        return " ".join([to_iso(self.at), *(f"{number}{'' if is_all else '+'}" for number, is_all in self.numbers)])

    def holds(self, now: datetime) -> bool:
        """Whether the counts are still kept."""
        return timedelta() <= now - self.at < KEPT


def count(table: Table, now: datetime) -> Counts:
    """Count the bargains. One after the other takes a round trip and, by price or discount, a Query of each category
    of ``MOST`` deals at most; 60-day lows take one Query."""
    return Counts(now, tuple(_count(table, each, now) for each in BARGAINS.values()))


def _count(table: Table, selection: Selection, now: datetime) -> tuple[int, bool]:
    if selection.lowest:
        return lows.count(table, selection, now, most=MOST)
    page = sorting.of_all(table, selection, limit=MOST, now=now).page
    return len(page.items), page.next is None
