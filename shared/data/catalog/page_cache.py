"""Pre-rendered, compressed page parts, in several copies so that no partition is hot.

A copy holds one part's text, as JSON or HTML, compressed to fit 4 KB: half a read unit. The stream rebuilds it
(``functions/background/refresher.py``) from consistent reads, and only a build that began later replaces it. A missing,
stale or corrupt copy reads as None, and the reader uses the indexes. Functions keep copies in memory for a second, so
under load an environment reads each once a second; ``PARTS`` in two forms are few, so this stays small.

The front page also shows deals that end soon, the first deals of features' lists, and the number of deals in each
category. They are read when the copy is built, so a page costs only its copies. Deals that end before their copy is
stale are omitted.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from shared import features, hooks, settings
from shared.data import keys
from shared.data.catalog import deals, feeds, topics
from shared.dynamodb import damage
from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import TTL_ATTRIBUTE, Key
from shared.dynamodb.table import Projection, Table
from shared.dynamodb.writes import ABSENT, put_over
from shared.errors import AlreadyExists
from shared.models.catalog import (
    ALL_DEALS,
    CATEGORIES,
    CATEGORY,
    EDITORS_CHOICE,
    FRONT_PAGE,
    CountedTopic,
    CuratedPage,
    Deal,
    Feed,
    Listed,
    Mark,
    Page,
    Status,
    Topic,
    feed_of,
)
from shared.values import identifiers

if TYPE_CHECKING:
    from shared.data.catalog.changes import DealChange  # the stream's; a copy's readers start without it

COMPRESSION = 9
"""zlib's best: a page is compressed once and read many times, and above 4 KB it costs double."""


class Rendering(NamedTuple):
    """The form of a copy. ``brackets`` are what its picks and its newest deals begin and end with, if any."""

    name: str
    key: Callable[[Key], Key]
    brackets: tuple[str, str] | None


JSON = Rendering("JSON", key=dict, brackets=("[]", "{}"))
"""For the API: a list of picks, and a document with the newest deals and their cursor."""

HTML = Rendering("HTML", key=keys.html_copy, brackets=None)
"""For the site's pages: what ``shared.html`` renders of the same deals."""


@dataclass(frozen=True, slots=True, eq=False)
class Cached:
    """A cached part of a page: its picked deals, a feed's newest deals, or both."""

    name: str
    type: str
    prefix: Callable[[int], Key]
    picks: CuratedPage | Topic | None = None
    feed: Feed | None = None

    def key(self, shard: int, form: Rendering = JSON) -> Key:
        """The key of one copy; shards count from 1."""
        return form.key(self.prefix(shard))


def _curated(page: CuratedPage) -> Cached:
    return Cached(page.label, f"{page.type}Cache", partial(keys.page_cache, page), picks=page)


NEWEST = Cached("newest deals", keys.DEALS_CACHE, keys.deals_cache, feed=ALL_DEALS)
FRONT_PAGE_PICKS = _curated(FRONT_PAGE)
EDITORS_CHOICE_PICKS = _curated(EDITORS_CHOICE)
CATEGORY_PAGES = {
    topic.slug: Cached(
        topic.slug, keys.CATEGORY_CACHE, partial(keys.category_cache, topic.slug), picks=topic, feed=feed_of(topic)
    )
    for topic in (Topic(CATEGORY, slug) for slug in CATEGORIES)
}

PARTS = (NEWEST, FRONT_PAGE_PICKS, EDITORS_CHOICE_PICKS, *CATEGORY_PAGES.values())
"""All cached parts."""

PICKED = {part.picks: part for part in PARTS if part.picks is not None}
"""The parts that show picked deals, by page or category."""


class Copy(NamedTuple):
    """A copy's content: picks and newest deals as texts, each None if the part has none.

    ``expires_at`` is when it must no longer be shown, in epoch seconds.
    """

    picks: str | None = None
    latest: str | None = None
    expires_at: int = 0

    @property
    def text(self) -> str:
        """Both texts in one: deals in both compress to little more than one."""
        return _SEPARATOR.join(text for text in (self.picks, self.latest) if text is not None)


_SEPARATOR = "\x1e"
"""ASCII's record separator, which JSON escapes and HTML may not contain."""

_SHOWN = Projection.of("PK", "SK", "Featured", "LastDealId", "Beside")

_COPY = Projection.of("PK", "SK", "Body", "BuiltAt", TTL_ATTRIBUTE, "Name", "LikesCount", "WatchCount")


def read(
    table: Table, wanted: Sequence[Cached], *, shard: int, now: datetime, form: Rendering = JSON
) -> list[Copy | None]:
    """The copies of page parts, each None if unusable. One BatchGetItem: 0.5 RRU a copy."""
    places = [part.key(shard, form) for part in wanted]
    found = {item["PK"]: item for item in table.get_many(places, projection=_COPY)}
    return [_found(part, found.get(place["PK"]), now, form) for part, place in zip(wanted, places, strict=True)]


def read_category(
    table: Table, category: Topic, *, shard: int, now: datetime, form: Rendering = JSON
) -> tuple[CountedTopic, Copy | None]:
    """A category with its current counts, and its page's copy. One BatchGetItem for both. Raises NoSuchTopic."""
    if category.slug not in CATEGORY_PAGES:
        raise topics.no_such(category)
    page = CATEGORY_PAGES[category.slug]
    copy, counts = page.key(shard, form), keys.topic(category)
    found = {item["PK"]: item for item in table.get_many([copy, counts], projection=_COPY)}
    if counts["PK"] not in found:
        raise topics.no_such(category)
    return topics.from_item(category, found[counts["PK"]]), _found(page, found.get(copy["PK"]), now, form)


def write(
    table: Table,
    part: Cached,
    copy: Copy,
    *,
    began: datetime,
    expires: datetime,
    form: Rendering = JSON,
    last: str | None = None,
    beside: Iterable[str] = (),
) -> None:
    """Replace all copies of a part, unless by a build that ``began`` later. Times may have fractions.

    ``last`` is the id of the part's oldest deal if its feed has older ones; ``beside`` are the ids of shown deals that
    are neither picked nor in its feed.
    """
    item = {
        **({"LastDealId": last} if last else {}),
        **({"Beside": sorted(beside)} if beside else {}),
        "Type": part.type,
        "Body": compress(copy.text),
        "BuiltAt": int(began.timestamp() * 1000),
        TTL_ATTRIBUTE: int(expires.timestamp()),
    }
    places = [part.key(shard, form) for shard in range(1, settings.CACHE_SHARDS + 1)]
    table.gather([partial(_replace_older, table, {**place, **item}) for place in places])


def touched(table: Table, changes: Sequence[DealChange]) -> set[Cached]:
    """The parts that show, or showed, any of the changed deals. One consistent BatchGetItem.

    An existing deal may be picked. A deal of a feed is shown if it is at least as new as the part's oldest one;
    entering or leaving a feed also changes the total above the deals. A build in progress may reach further back, but
    it shows only half of what it reads, so as many deals would have to leave within this second.
    """
    fed = {part for change in changes for part in _feeds_of(change)}
    there = {change.before.deal_id for change in changes if change.before is not None}
    wanted = {part: keys.featured(of) for of, part in PICKED.items() if there}
    beside = FRONT_PAGE_PICKS.key(1, HTML)
    asked = [*wanted.values(), *(part.key(1) for part in fed), *([beside] if there else [])]
    found = {(item["PK"], item["SK"]): item for item in table.get_many(asked, consistent=True, projection=_SHOWN)}
    picked = {part for part, key in wanted.items() if _picks(found.get((key["PK"], key["SK"]), {}), there)}
    if _is_beside(found.get((beside["PK"], beside["SK"]), {}), there):
        picked.add(FRONT_PAGE_PICKS)
    last = {part: found.get((part.key(1)["PK"], part.key(1)["SK"]), {}).get("LastDealId") for part in fed}
    return picked | {part for change in changes for part in _feeds_of(change) if _reaches(last[part], part, change)}


def _feeds_of(change: DealChange) -> list[Cached]:
    """The parts whose feeds the deal is or was in."""
    return [NEWEST, *(CATEGORY_PAGES[deal.category] for deal in change.deals if deal.category in CATEGORY_PAGES)]


def _is_beside(item: Item, deal_ids: set[str]) -> bool:
    """Whether a copy shows any of the deals next to its picks, as far as readable."""
    try:
        return not deal_ids.isdisjoint(item.get("Beside", ()))
    except TypeError:
        return True


def _picks(item: Item, deal_ids: set[str]) -> bool:
    """Whether any of the deals is picked, as far as readable."""
    try:
        return not deal_ids.isdisjoint({copy["DealId"] for copy in item.get("Featured", ())})
    except (KeyError, TypeError):
        return True


def _reaches(last: str | None, part: Cached, change: DealChange) -> bool:
    """Whether a change affects a part that shows deals back to ``last``."""
    if part.feed is None or not isinstance(last, str) or not change.deals:
        return True
    deal_id = change.deals[0].deal_id
    if deal_id >= last:
        return True
    stays = len({(deal.category, deal.status(change.at)) for deal in change.deals}) == 1 < len(change.deals)
    period = part.feed.period
    return not stays and period.start_of(identifiers.time_of(deal_id)) >= period.start_of(identifiers.time_of(last))


def compress(text: str) -> bytes:
    """Compress a part's text for its copy."""
    return zlib.compress(text.encode(), COMPRESSION)


def decompress(body: bytes) -> str:
    """Decompress a copy's text and check it. Raises zlib.error, UnicodeDecodeError, TypeError."""
    return zlib.decompress(body).decode()


def age(table: Table, part: Cached, now: datetime, form: Rendering = JSON) -> tuple[float | None, Copy | None]:
    """Seconds since the build of the first copy began, and the copy; None if it is missing or unreadable."""
    item = table.get(part.key(1, form), projection=_COPY)
    built = damage.attribute_or(item, "BuiltAt", int, None) if item else None
    return None if built is None else now.timestamp() - built / 1000, _found(part, item, now, form)


def newest(
    table: Table,
    feed: Feed,
    now: datetime,
    also: Iterable[str],
    previous: Copy | None,
    *,
    size: int = settings.CACHED_PAGE,
) -> Page[Deal]:
    """The newest page of a feed from consistent reads, even if the index lags.

    Candidates are the index's newest deals, the just written ones (``also``) and the previous build's; the table says
    what each is now. ``size`` is the page's maximum.
    """
    candidates, cursor = set(also) | _ids_in(previous), None
    while True:
        indexed = feeds.read(table, feed, limit=size + 1, now=now, cursor=cursor)
        candidates |= {deal.deal_id for deal in indexed.items}
        # Below the last indexed deal there may be deals that aren't candidates yet.
        known_down_to = indexed.items[-1].deal_id if indexed.next is not None else ""
        near = sorted((deal_id for deal_id in candidates if deal_id >= known_down_to), reverse=True)
        current = deals.get_many(table, near, consistent=True)
        own = (deal for deal in current if feed.topic is None or deal.category == feed.topic.slug)
        active = [deal for deal in own if deal.status(now) is Status.ACTIVE]
        cursor = indexed.next
        if len(active) > size or cursor is None:  # otherwise the index still holds ended deals: read on
            break
    return first(Page(tuple(active), None), feed, size)


def first(page: Page[Deal], feed: Feed, size: int) -> Page[Deal]:
    """The first deals of a feed's page, with a cursor for the rest."""
    if len(page.items) <= size or not size:
        return page
    return Page(page.items[:size], identifiers.cursor_after(feeds.scope(feed), page.items[size - 1].deal_id))


def expiry(shown: Iterable[Deal], now: datetime) -> datetime:
    """When a part becomes wrong: when its first deal ends, or when copies become stale."""
    ends = [deal.ends_at for deal in shown if deal.ends_at is not None and deal.ends_at > now]
    return min([now + settings.CACHE_LIFETIME, *ends])


def _ids_in(previous: Copy | None) -> set[str]:
    """The ids of the newest deals in a part's copy."""
    with suppress(ValueError, KeyError, TypeError):  # a corrupt copy has no deals
        if previous is not None and previous.latest is not None:
            return {item["dealId"] for item in json.loads(previous.latest)["items"]}
    return set()


def _found(part: Cached, item: Item | None, now: datetime, form: Rendering) -> Copy | None:
    """A copy's content, or None if it is missing, stale or corrupt."""
    with suppress(zlib.error, UnicodeDecodeError, KeyError, TypeError):
        if item is not None and item[TTL_ATTRIBUTE] > now.timestamp():
            return _split(part, decompress(item["Body"]), form, item[TTL_ATTRIBUTE])
    return None


def _split(part: Cached, text: str, form: Rendering, expires_at: int) -> Copy | None:
    """Split a copy's text as ``Copy.text`` joined it; None if it is another part's."""
    shows = (part.picks is not None, part.feed is not None)
    texts = text.split(_SEPARATOR)
    if len(texts) != sum(shows):
        return None
    rest = iter(texts)
    picks, latest = (next(rest) if shown else None for shown in shows)
    for brackets, each in zip(form.brackets or (), (picks, latest), strict=False):
        if each is not None and each[:1] + each[-1:] != brackets:
            return None
    return Copy(picks, latest, expires_at)


def _replace_older(table: Table, item: Item) -> None:
    with suppress(AlreadyExists):  # a later build was first
        # A number compares as false with any other type, so a damaged copy is replaced, too.
        older = f"{ABSENT} OR NOT BuiltAt >= :began"
        table.write(put_over(item, older, {":began": item["BuiltAt"]}, refused=AlreadyExists()))


SHOWN_BESIDE = 12
"""Deals in all lists together; at most half of them end soon."""

ASKED = 24
"""Deals to read of a feature's list, which may leave out some of them."""


class Today(NamedTuple):
    """The first deals that end within a day and how many do, and the first deals of features' lists.

    ``marks`` are those of all deals that were read of features' lists, by id.
    """

    ending: tuple[Deal, ...] = ()
    ends: int = 0
    lists: tuple[tuple[hooks.DealList, tuple[Listed, ...]], ...] = ()
    marks: Mapping[str, tuple[Mark, ...]] = {}

    @property
    def deals(self) -> list[Deal]:
        """All deals that are shown."""
        return [*self.ending, *(each.deal for _, found in self.lists for each in found)]


def read_today(table: Table, now: datetime) -> Today:
    """The front page's lists now. Two Queries and those of features at once, then a BatchGetItem of ``SHOWN_BESIDE``
    deals."""
    lists = [each for of in features.roles(hooks.Lists) for each in of.LISTS if each.chosen]
    asked: list[Callable[[], Any]] = [
        *(partial(each.read, table, now, limit=ASKED) for each in lists),
        partial(feeds.within_a_day, table, now, but=settings.CACHE_LIFETIME),
    ]
    answers = table.gather(asked)
    *pages, noted = answers
    found = deals.get_many(table, noted[: SHOWN_BESIDE // 2])
    ending = tuple(deal for deal in found if deal.status(now) is Status.ACTIVE)
    beside, room = [], SHOWN_BESIDE - len(ending)
    for each, page in zip(lists, pages, strict=True):
        beside.append((each, tuple(each.chosen(page.items, room) if each.chosen else ())))
        room -= len(beside[-1][1])
    marks = {listed.deal.deal_id: listed.marks for page in pages for listed in page.items}
    return Today(ending, len(noted) if ending else 0, tuple(beside), marks)


class CopyCache:
    """Copies in memory, each with the time of reading. Unusable copies aren't kept.

    ``used`` is called with the name and form of each copy that needed no request, for the panel under a page.
    """

    used: Callable[[str, Rendering], None]

    def __init__(self) -> None:
        self.used = lambda _name, _form: None
        self._copies: dict[Hashable, tuple[datetime, Copy]] = {}
        self._counts: dict[Hashable, CountedTopic] = {}

    def read(
        self, table: Table, wanted: Sequence[Cached], *, shard: int, now: datetime, form: Rendering = JSON
    ) -> list[Copy | None]:
        """As ``page_cache.read``, but reuses copies read a moment ago."""
        found: dict[Cached, Copy | None] = {part: self._still(part, form, now) for part in wanted}
        unknown = [part for part, copy in found.items() if copy is None]
        for part in found.keys() - unknown:
            self.used(part.name, form)
        copies = read(table, unknown, shard=shard, now=now, form=form) if unknown else []
        for part, copy in zip(unknown, copies, strict=True):
            found[part] = self._keep(part, form, copy, now)
        return [found[part] for part in wanted]

    def read_category(
        self, table: Table, category: Topic, *, shard: int, now: datetime, form: Rendering = JSON
    ) -> tuple[CountedTopic, Copy | None]:
        """As ``page_cache.read_category``, but reuses copies and counts read a moment ago."""
        place = (category, form)  # not the key of the page's copy alone, which was read without the counts
        copy = self._still(*place, now)
        if copy is not None:
            self.used(category.slug, form)
            return self._counts[place], copy
        counts, copy = read_category(table, category, shard=shard, now=now, form=form)
        if self._keep(*place, copy, now) is not None:
            self._counts[place] = counts
        return counts, copy

    def _still(self, what: Hashable, form: Rendering, now: datetime) -> Copy | None:
        read_at, copy = self._copies.get((what, form), (now, None))
        if copy is None or copy.expires_at <= now.timestamp():
            return None
        return copy if read_at <= now < read_at + settings.COPIES_ARE_KEPT else None

    def _keep(self, what: Hashable, form: Rendering, copy: Copy | None, now: datetime) -> Copy | None:
        if copy is not None:
            self._copies[what, form] = (now, copy)
        return copy
