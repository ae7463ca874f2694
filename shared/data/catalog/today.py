"""What stands beside the cards of the front page: the deals that end next, those that readers vote for most, and how
many deals each category has.

It is read when the page's copy is built, so that a page from a copy costs what the copy costs. A deal that ends before
a copy grows stale is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from shared import settings
from shared.data.catalog import deals, endings, feed_counts, scores
from shared.data.catalog.scores import Scored
from shared.dynamodb.table import Table
from shared.models.catalog import CATEGORIES, CATEGORY, Deal, Status, Topic, feed_of

SHOWN = 12
"""Deals of both lists together, at most half of them those that end."""

ASKED = 24
"""Deals of the highest ranks that are read: the score of a new one is not shown yet."""


@dataclass(frozen=True, slots=True)
class Today:
    """The first deals that end within a day, how many of them there are, the deals with the highest ranks, those with
    the most votes first, and how many deals each category has, by slug."""

    ending: tuple[Deal, ...] = ()
    ends: int = 0
    voted: tuple[Scored, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def deals(self) -> list[Deal]:
        """All deals that are shown."""
        return [*self.ending, *(each.deal for each in self.voted)]


def read(table: Table, now: datetime) -> Today:
    """The front page's lists and counts as of now. Four Queries and one for each category at once, then BatchGetItem of
    ``ASKED`` and ``SHOWN`` deals."""
    asked: list[Callable[[], Any]] = [
        partial(scores.popular, table, now, limit=ASKED),
        partial(endings.within_a_day, table, now, but=settings.CACHE_LIFETIME),
        *(partial(feed_counts.total, table, feed_of(Topic(CATEGORY, slug))) for slug in CATEGORIES),
    ]
    popular, noted, *counts = table.gather(asked)
    found = deals.get_many(table, noted[: SHOWN // 2])
    ending = tuple(deal for deal in found if deal.status(now) is Status.ACTIVE)
    voted = [each for each in popular.items if (each.shown(now) or 0) > 0][: SHOWN - len(ending)]
    voted.sort(key=lambda each: each.shown(now) or 0, reverse=True)
    by_category = dict(zip(CATEGORIES, counts, strict=True))
    return Today(ending, len(noted) if ending else 0, tuple(voted), by_category)
