"""Search results by price or discount and within price limits.

Keys can't sort these, because a word's items are in the order of time. Items hold what lists sort and filter by, so the
newest ``MOST`` matches are read and sorted here, and only the page's deals are read.

A feature may read limits in a typed search (``phrases.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import NamedTuple

from shared.data.catalog import search, sorting
from shared.data.catalog.phrases import read_phrases
from shared.data.catalog.search import Found, Match
from shared.data.catalog.words import Search, asked
from shared.dynamodb.table import Table
from shared.models.catalog import Deal, Page, Selection
from shared.values import identifiers

MOST = search.ITEMS
"""The newest matches of a search, which are sorted."""


class Selected(NamedTuple):
    """Matches in a selection's order; ``ran`` is the search that found them, corrected if necessary.

    ``selection`` has the displayed currency, ``currencies`` all that matches have. ``number`` is how many fit on all
    pages. ``looked`` is how many of the newest were sorted, if there are more. ``found`` is the search's own answer, on
    a later page without groups. If nothing fits, ``loosened`` are selections without one of the limits, or without any,
    and how many deals fit each.
    """

    matches: tuple[Match, ...]
    ran: Search
    selection: Selection
    currencies: tuple[str, ...]
    number: int
    looked: int | None
    found: Found
    loosened: tuple[tuple[Selection, int], ...] = ()


def find(table: Table, wanted: Search, selection: Selection, *, now: datetime, cursor: str | None = None) -> Selected:
    """A search's selected matches after a cursor: two round trips, five with a correction.

    Raises InvalidCursor.
    """
    found = search.find(table, wanted, limit=MOST)
    ran = found.instead or wanted
    lasting = [match for match in found.matches if not match.is_over(now)]
    selection = sorting.opened(selection, (match.currency for match in lasting), partial(_scope, ran), cursor)
    after = None if cursor is None else identifiers.read_ranked_cursor(_scope(ran, selection), cursor)
    number = sum(match.fits(selection) for match in lasting)
    loosened = () if number else _loosened(lasting, selection)
    fitting = search.selected(lasting, selection, now, after)
    there = {match.currency for match in lasting}
    looked = None if found.next is None else len(found.matches)
    first = found if cursor is None else found._replace(groups=())
    return Selected(tuple(fitting), ran, selection, tuple(sorted(there)), number, looked, first, loosened)


def _loosened(matches: Sequence[Match], selection: Selection) -> tuple[tuple[Selection, int], ...]:
    """The selections without one limit or without any that some matches fit, and how many deals fit each."""
    wider = [
        replace(selection, least=None, most=None),
        replace(selection, discount=None),
        replace(selection, lowest=False),
        replace(selection, brand=None),
        Selection(selection.sort),
    ]
    wider = [each if each.is_priced else replace(each, currency=None) for each in wider if each != selection]
    counts = {each: sum(match.fits(each) for match in matches) for each in wider}
    return tuple((each, count) for each, count in counts.items() if count)


def partly(table: Table, selected: Selected, most: int, now: datetime) -> tuple[Match, ...]:
    """Selected deals that have most of the words, as in ``search.partly``: none if there is no room for any."""
    if most <= 0:
        return ()
    found = search.partly(table, selected.found, MOST)
    lasting = (match for match in found if not match.is_over(now))
    return tuple(match for match in lasting if match.fits(selected.selection))[:most]


class Shown(NamedTuple):
    """A page of active deals for a typed text, and partial matches if the page isn't full; the search that ran, with
    its text if it isn't the typed one; and how many of the newest matches were examined, if there are more."""

    page: Page[Deal]
    partly: tuple[Deal, ...]
    ran: Search
    searched: str | None
    looked: int | None


def page(
    table: Table,
    typed: str,
    selection: Selection,
    *,
    limit: int,
    now: datetime,
    cursor: str | None = None,
    all_words: bool = False,
) -> Shown:
    """A page of deals for a typed text, within its own limits and a selection's. Raises InvalidCursor.

    With ``all_words``, partial matches aren't read.
    """
    limits = read_phrases(typed)
    wanted, selection = asked(limits.rest), limits.within(selection)
    if selection.is_all or not wanted.terms:
        newest = search.find(table, wanted, limit=limit, cursor=cursor)
        shown, more, ran, looked = newest.matches, newest.next, newest.instead or wanted, None
        some = () if all_words or more else search.partly(table, newest, limit - len(shown))
    else:
        found = find(table, wanted, selection, now=now, cursor=cursor)
        shown, ran, looked = found.matches[:limit], found.ran, found.looked
        more = cursor_after(ran, found.selection, shown[-1]) if len(shown) < len(found.matches) else None
        some = () if all_words or more else partly(table, found, limit - len(shown), now)
    active, others = search.active_of_both(table, shown, some, now)
    searched = None if ran is wanted else limits.around(ran.text)
    return Shown(Page(tuple(active), more), tuple(others), ran, searched, looked)


def cursor_after(ran: Search, selection: Selection, match: Match) -> str:
    """The cursor of the page after a match."""
    return identifiers.ranked_cursor_after(_scope(ran, selection), match.rank(selection.sort), match.deal_id)


def _scope(ran: Search, selection: Selection) -> str:
    return f"{ran.scope}/{selection.name}"
