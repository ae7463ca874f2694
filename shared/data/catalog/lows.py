"""60-day lows, of all deals or of a category, from the lists that they are filed in (``words.lists_of``).

The items of these lists say what a page sorts and narrows by, so a page reads only the deals that it shows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from shared.data.catalog import search
from shared.data.catalog.search import Match
from shared.dynamodb.table import Table
from shared.models.catalog import Deal, Page, Selection
from shared.values import identifiers

MOST = search.ITEMS
"""The newest lows that a page looks through if it shows only some of them or sorts them: about ten read units."""


@dataclass(frozen=True, slots=True)
class Lows:
    """A page of deals, and of how many of the newest lows if there are more (``looked``)."""

    page: Page[Deal]
    looked: int | None = None


def newest(
    table: Table,
    selection: Selection,
    *,
    scope: str,
    limit: int,
    now: datetime,
    cursor: str | None,
    category: str | None = None,
) -> Lows:
    """The newest lows that are selected. A Query and a BatchGetItem. Raises InvalidCursor."""
    after = None if cursor is None else identifiers.read_cursor(scope, cursor)
    is_whole = replace(selection, lowest=False).is_all
    found, last = search.lows(table, category, after, limit + 1 if is_whole else MOST)
    fitting = search.selected(found, selection, now)
    shown = fitting[:limit]
    more = shown[-1].deal_id if len(fitting) > limit else last
    page = Page(_active(table, shown, now), identifiers.cursor_after(scope, more) if more else None)
    return Lows(page, len(found) if last and not is_whole else None)


def ranked(
    table: Table,
    selection: Selection,
    *,
    scope: str,
    limit: int,
    now: datetime,
    cursor: str | None,
    category: str | None = None,
) -> Lows:
    """The lows by price or discount, of the newest ``MOST``. A Query and a BatchGetItem. Raises InvalidCursor."""
    after = None if cursor is None else identifiers.read_ranked_cursor(scope, cursor)
    found, last = search.lows(table, category, None, MOST)
    fitting = search.selected(found, selection, now, after)
    shown = fitting[:limit]
    more = None
    if len(fitting) > limit:
        more = identifiers.ranked_cursor_after(scope, shown[-1].rank(selection.sort), shown[-1].deal_id)
    return Lows(Page(_active(table, shown, now), more), len(found) if last else None)


def count(table: Table, selection: Selection, now: datetime, *, most: int) -> tuple[int, bool]:
    """How many lows are selected, of the newest ``most``, and whether these are all. One Query."""
    found, last = search.lows(table, None, None, most)
    return len(search.selected(found, selection, now)), last is None


def _active(table: Table, shown: list[Match], now: datetime) -> tuple[Deal, ...]:
    """The deals of matches that are on offer and still lows: the stream files a change a second or two later."""
    return tuple(deal for deal in search.active(table, shown, now) if deal.is_lowest)
