"""60-day lows, of all deals or of a category, from the lists that they are filed in (``words.lists_of``).

The items of these lists say what a page sorts and narrows by, so a page reads only the deals that it shows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from shared.data.catalog import search
from shared.data.catalog.search import Match
from shared.dynamodb.table import Table
from shared.models.catalog import Deal, Page, Selection, Sort
from shared.values import identifiers

MOST = search.ITEMS
"""The newest lows that a page looks through if it shows only some of them or sorts them: about ten read units."""


@dataclass(frozen=True, slots=True)
class Lows:
    """A page of deals, and of how many of the newest lows if there are more (``looked``)."""

    page: Page[Deal]
    looked: int | None = None


def read(
    table: Table,
    selection: Selection,
    *,
    scope: str,
    limit: int,
    now: datetime,
    cursor: str | None,
    category: str | None = None,
    if_all: bool = False,
) -> Lows:
    """The selected lows in their order. A Query and a BatchGetItem. Raises InvalidCursor.

    By price or discount, they are of the newest ``MOST``. With ``if_all``, the page is empty if there are more: no deal
    is read then.
    """
    is_newest = selection.sort is Sort.NEWEST
    after, position = None, None
    if cursor is not None and is_newest:
        after = identifiers.read_cursor(scope, cursor)
    elif cursor is not None:
        position = identifiers.read_ranked_cursor(scope, cursor)
    is_whole = replace(selection, lowest=False).is_all
    found, last = search.lows(table, category, after, limit + 1 if is_whole else MOST)
    looked = len(found) if last and not is_whole else None
    if looked and if_all:
        return Lows(Page((), None), looked)
    fitting = search.selected(found, selection, now, position)
    shown = fitting[:limit]
    end = shown[-1] if len(fitting) > limit else None
    if is_newest:
        until = end.deal_id if end else last
        more = identifiers.cursor_after(scope, until) if until else None
    else:
        more = identifiers.ranked_cursor_after(scope, end.rank(selection.sort), end.deal_id) if end else None
    return Lows(Page(_active(table, shown, now), more), looked)


def count(table: Table, selection: Selection, now: datetime, *, most: int) -> tuple[int, bool]:
    """How many lows are selected, of the newest ``most``, and whether these are all. One Query."""
    found, last = search.lows(table, None, None, most)
    return len(search.selected(found, selection, now)), last is None


def _active(table: Table, shown: list[Match], now: datetime) -> tuple[Deal, ...]:
    """The deals of matches that are on offer and still lows: the stream files a change a second or two later."""
    return tuple(deal for deal in search.active(table, shown, now) if deal.is_lowest)
