"""The deals that the desk's list shows: those with some words, of a category, in a state, with prices of an age.

Words are found by the site's search; without words, the feed of all deals or of a category is read. The rest is
compared with the deals that were read, a ``BLOCK`` at a time. Deals that have ended are in no search and no feed: the
newest ones of each category come from its index, and withdrawn ones from none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from functools import partial
from itertools import chain
from operator import attrgetter

from shared.data.catalog import feeds, offers, selecting
from shared.dynamodb.table import Table
from shared.html import views
from shared.models.catalog import ALL_DEALS, CATEGORIES, CATEGORY, Deal, Selection, Topic, feed_of

BLOCK = 250
"""Deals that a filtered list reads at once: about 31 read units of a feed, or 125 of deals that a search found."""

LONGEST = 100
"""Characters of the words, as in the site's search."""

SOON = timedelta(days=2)

ENDED = "ended"

STATES: Mapping[str, str] = {
    "": "Live",
    "soon": "Ends within two days",
    "endless": "Has no end",
    "undrawn": "Has no picture",
    ENDED: "Ended",
}
AGES: Mapping[str, str] = {"": "Any age", "7": "Over 7 days", "30": "Over 30 days", "90": "Over 90 days"}
"""How long ago an editor or a feed last set the price. Lists call it old after 30 days."""

_IN_STATE: Mapping[str, Callable[[Deal, datetime], bool]] = {
    "": lambda _deal, _now: True,
    "soon": lambda deal, now: deal.ends_at is not None and deal.ends_at - now <= SOON,
    "endless": lambda deal, _now: deal.ends_at is None,
    "undrawn": lambda deal, _now: views.image(deal, 128) is None,
    ENDED: lambda _deal, _now: True,
}


@dataclass(frozen=True, slots=True)
class Filter:
    """What an editor chose of the list's fields; empty texts choose everything."""

    q: str = ""
    category: str = ""
    state: str = ""
    age: str = ""

    @property
    def is_all(self) -> bool:
        return self == Filter()

    @property
    def fields(self) -> dict[str, str]:
        """The fields that choose something, by name."""
        return {name: value for name, value in asdict(self).items() if value}

    def fits(self, deal: Deal, now: datetime) -> bool:
        """Whether an active deal with the words is one of those that were chosen."""
        return (
            self.category in ("", deal.category)
            and _IN_STATE[self.state](deal, now)
            and now - deal.changed_at >= timedelta(days=int(self.age or 0))
        )


def chosen(fields: Mapping[str, str]) -> Filter:
    """The filter that a form's fields choose. A value that is no option chooses everything."""
    options = {"category": CATEGORIES, "state": STATES, "age": AGES}
    values = {name: fields.get(name, "") for name in options}
    known = {name: value for name, value in values.items() if value in options[name]}
    return Filter(q=fields.get("q", "").strip()[:LONGEST], **known)


@dataclass(frozen=True, slots=True)
class Block:
    """Deals that fit among those that were read; the cursor of the next block; and the words that were searched, if
    they aren't those of the filter."""

    deals: tuple[Deal, ...]
    next: str | None
    searched: str | None = None


def read(table: Table, wanted: Filter, *, most: int = BLOCK, now: datetime, cursor: str | None = None) -> Block:
    """The deals that fit among the next ``most``, newest first. Raises InvalidCursor."""
    searched = None
    if wanted.state == ENDED:
        return Block(_ended(table, wanted, most, now), None)
    if wanted.q:
        found = selecting.page(table, wanted.q, Selection(), limit=most, now=now, cursor=cursor, all_words=True)
        page, searched = found.page, found.searched
    else:
        feed = feed_of(Topic(CATEGORY, wanted.category)) if wanted.category else ALL_DEALS
        page = feeds.read(table, feed, limit=most, now=now, cursor=cursor)
    return Block(tuple(deal for deal in page.items if wanted.fits(deal, now)), page.next, searched)


def _ended(table: Table, wanted: Filter, most: int, now: datetime) -> tuple[Deal, ...]:
    """The newest ended deals that fit. A Query of each category, all at once; of a chosen one ``most`` deals."""
    topics = [Topic(CATEGORY, slug) for slug in ([wanted.category] if wanted.category else CATEGORIES)]
    read = table.gather([partial(offers.ended, table, topic, most // len(topics)) for topic in topics])
    words = wanted.q.casefold().split()
    fitting = [
        deal
        for deal in chain.from_iterable(read)
        if wanted.fits(deal, now) and all(word in f"{deal.brand_name} {deal.title}".casefold() for word in words)
    ]
    return tuple(sorted(fitting, key=attrgetter("deal_id"), reverse=True))


BLOCKS = 8
"""Blocks that are read for all deals of a filter, so that a request stays below its ten seconds."""


def read_all(table: Table, wanted: Filter, *, most: int, now: datetime) -> tuple[list[Deal], bool]:
    """The newest deals that fit, at most ``most``, and whether these are all. Words aren't corrected."""
    found: list[Deal] = []
    for block in _blocks(table, wanted, now):
        found += block.deals
        if len(found) > most or block.next is None:
            return found[:most], len(found) <= most
    return found, False


def _blocks(table: Table, wanted: Filter, now: datetime) -> Iterator[Block]:
    cursor = None
    for _ in range(BLOCKS):
        block = read(table, wanted, now=now, cursor=cursor)
        yield block if block.searched is None else Block((), None)
        cursor = block.next
