"""Counts of each feed's listed deals by period, written in the transaction that lists a deal.

A feed has one index partition per period (a day, or for a brand a month). Its counts say which periods hold deals, so
that readers (``feeds.py``) query only those. A Periods item in the feed's collection covers a month (for a brand a
year), with an attribute for each day (month) that has deals. So an item stays below 1 KB, and a deal's transaction
costs the same, however long the history. An item whose total reaches zero is deleted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from shared.data import keys
from shared.data.catalog import topics
from shared.dynamodb import damage
from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import INDEXES, Key
from shared.dynamodb.table import KEYS_ONLY, Table
from shared.dynamodb.writes import Write, assign, change, delete, delete_as, forget, put, update, upsert
from shared.errors import Damaged, DealsError, Impossible, NoSuchTopic, NotSeeded
from shared.models.catalog import (
    ALL_DEALS,
    BRAND,
    CATEGORIES,
    CATEGORY,
    CountedTopic,
    Deal,
    Feed,
    Period,
    Topic,
    feed_of,
)

T = TypeVar("T")

TOTAL = "Total"
"""The attribute with a Periods item's total; at zero the item is deleted."""

COUNTS = {Period.DAY: "Day", Period.MONTH: "Month"}
"""Prefixes of the counting attributes; two digits follow."""

ALL_PERIODS = 1000
"""More Periods items than any feed has."""

_SEEDED = Topic(CATEGORY, next(iter(CATEGORIES)))
"""A topic that every seeded table has."""


class Stale(DealsError):
    """Another writer was first: read again and retry."""


def places(deal: Deal) -> dict[Feed, str]:
    """A deal's three feeds, each with its period."""
    feeds = (ALL_DEALS, feed_of(Topic(BRAND, deal.brand)), feed_of(Topic(CATEGORY, deal.category)))
    return {feed: feed.period.start_of(deal.created_at) for feed in feeds}


def counts(table: Table, feed: Feed, *, most: int = ALL_PERIODS, until: str | None = None) -> dict[str, int]:
    """How many listed deals each period of a feed holds, newest first, by ``requests`` and ``counted``."""
    books, _ = table.gather(requests(table, feed, most=most, until=until))
    return counted(feed, books, until=until)


def requests(table: Table, feed: Feed, *, most: int, until: str | None) -> list[Callable[[], Any]]:
    """Two requests to gather: a feed's counts up to a period, and its topic, which shows that it exists.

    ``most`` limits the items read. Each of them counts at least one deal up to the period, except perhaps the first,
    whose deals may all be later. The second request raises NoSuchTopic, NotSeeded.
    """
    return [partial(_books, table, feed, most=most, until=until), partial(_topic, table, feed)]


def _books(table: Table, feed: Feed, *, most: int, until: str | None) -> list[Item]:
    """The newest Periods items of a feed up to a period, and one more than ``most`` if there are more."""
    partition, first, last = keys.periods_between(feed, until)
    return list(table.query(partition, prefix=first, until=last, newest_first=True, limit=most + 1))


def _topic(table: Table, feed: Feed) -> CountedTopic:
    """A feed's topic; for the feed of all deals, a topic of every seeded table."""
    try:
        return topics.get(table, feed.topic or _SEEDED)
    except NoSuchTopic as error:
        if feed.topic is None:
            raise NotSeeded from error
        raise


def counted(feed: Feed, books: Sequence[Item], *, until: str | None) -> dict[str, int]:
    """How many deals each period holds, newest first, from the first answer of ``requests``."""
    return {
        period: count
        for book in books
        for period, count in sorted(contents(feed, book).items(), reverse=True)
        if until is None or period <= until
    }


def count_listed(deals: Iterable[Deal]) -> Iterator[Write]:
    """The writes that count newly listed deals."""
    arrivals: dict[tuple[Feed, str], Counter[str]] = {}
    for deal in deals:
        for feed, period in places(deal).items():
            arrivals.setdefault((feed, keys.periods(feed, period)["SK"]), Counter())[period] += 1
    for (feed, _), periods in arrivals.items():
        yield count(feed, periods)


def counters(deal: Deal) -> Iterator[tuple[Key, str]]:
    """The Periods items that count a listed deal, each with its attribute."""
    for feed, period in places(deal).items():
        yield keys.periods(feed, period), attribute(feed, period)


def count(feed: Feed, periods: Mapping[str, int]) -> Write:
    """The write that counts deals entering a feed, by period; all periods share one Periods item."""
    added = {TOTAL: sum(periods.values()), **{attribute(feed, period): count for period, count in periods.items()}}
    key = keys.periods(feed, next(iter(periods)))
    return upsert(key, {"Type": keys.PERIODS}, added, because="the first deal of a period creates the item")


def count_writes(table: Table, old: Deal | None, new: Deal | None) -> Iterator[Write]:
    """The writes of counts when a deal listed as ``old`` becomes ``new``; None stands for a deal that isn't listed.

    Refused with ``Stale`` if another writer was first.
    """
    left, entered = (places(deal) if deal else {} for deal in (old, new))
    leaving = {feed: period for feed, period in left.items() if feed not in entered}
    if leaving:
        books = table.get_many([keys.periods(*each) for each in leaving.items()], consistent=True)
        known = {(book["PK"], book["SK"]): book for book in books}
        yield from (_count_unlisted(feed, period, known) for feed, period in leaving.items())
    yield from (count(feed, {period: 1}) for feed, period in entered.items() if feed not in left)


def mending(table: Table, write: Callable[[], T], *, left: Deal | None = None, entered: Sequence[Deal]) -> T:
    """Make a transaction that lists or unlists deals; if it fails, repair the counts and retry once.

    It is retried if the counts are right, too: another writer, or a repair of the table, may have been faster.
    Refused with ``Stale`` if another writer has changed the leaving deal, which may be uncounted already.
    """
    try:
        return write()
    except Impossible as error:
        if left is not None:
            there = table.get(keys.deal(left.deal_id), consistent=True)
            if there is None or there["Version"] != left.version:
                raise Stale from error
            mend(table, [left], leaving=True)
        mend(table, entered, leaving=False)
        return write()


def mend(table: Table, listed: Sequence[Deal], *, leaving: bool) -> None:
    """Recount periods whose counts lack some deals, and note which.

    Counts of deals that are ``leaving`` must be positive. One BatchGetItem a feed, and one Query of the index for each
    period missing from a damaged or incomplete item.
    """
    for feed, period in dict.fromkeys(place for deal in listed for place in places(deal).items()):
        key, name = keys.periods(feed, period), attribute(feed, period)
        item = next(iter(table.get_many([key], consistent=True)), {})
        names = [f"{COUNTS[feed.period]}{number:02}" for number in range(1, 32 if feed.period is Period.DAY else 13)]
        counts = {each: item[each] for each in names if type(item.get(each)) is int}
        is_whole = counts.keys() == item.keys() & names and item.get(TOTAL, 0) == sum(counts.values())
        if is_whole and (name in counts or not leaving):
            continue
        damage.note(damage.named(key))
        unknown = [each for each in names if each not in counts]
        found = table.gather([partial(_in_index, table, feed, _period_of(feed, key["SK"], each)) for each in unknown])
        counts |= dict(zip(unknown, found, strict=True))
        counts[name] = max(counts[name], int(leaving))  # the index may lag behind
        due = {each: count or None for each, count in counts.items()}
        due |= {"Type": keys.PERIODS, TOTAL: sum(counts.values())}
        write = assign(key, due, condition="attribute_not_exists(PK)", refused=Stale())
        if item:
            write = (
                change(item, {**item, **due}, version=None, refused=Stale())
                if due[TOTAL]
                else delete_as(item, refused=Stale())
            )
        with suppress(Stale):  # another writer was first
            table.write(write)


def _in_index(table: Table, feed: Feed, period: str) -> int:
    """How many deals a feed's index holds in a period. One Query."""
    index = next(each for each in INDEXES if each.name == feed.index)
    return len(list(table.query(keys.feed_partition(feed, period), index=index, projection=KEYS_ONLY)))


def end_note_writes(old: Deal | None, new: Deal | None) -> Iterator[Write]:
    """The writes of end notes, for ``feeds.sweep``, when a deal listed as ``old`` becomes ``new``."""
    before, after = (note_of(deal) for deal in (old, new))
    if before and (after is None or keys.primary(before) != keys.primary(after)):
        yield forget(keys.primary(before), because="a note says only that a deal must be looked at")
    if after and after != before:
        yield put(after, because="the same deal and time always make the same note")


def note_of(deal: Deal | None) -> Item | None:
    """The note of a listed deal's end; None if it has none."""
    if deal is None or deal.ends_at is None:
        return None
    key = keys.ending(ALL_DEALS.period.start_of(deal.ends_at), deal.ends_at, deal.deal_id)
    return {**key, "Type": keys.ENDING, "DealId": deal.deal_id, "Brand": deal.brand, "Category": deal.category}


def attribute(feed: Feed, period: str) -> str:
    """The attribute of a Periods item that counts a period's deals."""
    _, month, day = period.split("-")
    return COUNTS[feed.period] + (day if feed.period is Period.DAY else month)


def contents(feed: Feed, item: Item) -> dict[str, int]:
    """A Periods item's counts by period. A damaged count counts as one, so that its period is read."""
    return {
        _period_of(feed, item["SK"], name): damage.read_or(item, partial(_count_of, name), otherwise=1)
        for name in item
        if name.startswith(COUNTS[feed.period])
    }


def _period_of(feed: Feed, sort_key: str, name: str) -> str:
    """The period that a Periods item's attribute counts."""
    return f"{keys.id_in(sort_key)}-{name[-2:]}{'' if feed.period is Period.DAY else '-01'}"


def _count_of(name: str, item: Item) -> int:
    """One count of a Periods item; 0 if absent. Raises ValueError."""
    return damage.attribute(item, name, int) if name in item else 0


def _count_unlisted(feed: Feed, period: str, known: Mapping[tuple[str, str], Item]) -> Write:
    """The write that uncounts a deal: a period's last deal removes its attribute, the item's last deal the item.

    Raises Damaged.
    """
    key = keys.periods(feed, period)
    item, name = known.get((key["PK"], key["SK"]), {}), attribute(feed, period)
    placeholders: dict[str, Any] = {"names": {"#period": name, "#total": TOTAL}, "values": {":one": 1}}
    try:
        in_all, in_period = _count_of(TOTAL, item), _count_of(name, item)
    except ValueError as error:
        raise Damaged(damage.named(key), str(error)) from error
    if not 1 <= in_period <= in_all:
        raise Damaged(damage.named(key), f"a listed deal is not counted as {name}")
    if in_all <= 1:
        return delete(key, condition="#total = :one AND #period = :one", **placeholders, refused=Stale())
    last = in_period <= 1
    return update(
        key,
        "SET #total = #total - :one" + (" REMOVE #period" if last else ", #period = #period - :one"),
        condition="#total > :one AND " + ("#period = :one" if last else "#period > :one"),
        **placeholders,
        refused=Stale(),
    )
