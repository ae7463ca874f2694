"""Patterns 7-9, cached: pre-rendered, compressed pages, in several copies so that no partition is hot.

A copy is the JSON text of a part of a page, compressed to fit the 4 KB that half a read unit buys. It is rebuilt from
the stream (``functions/background/refresher.py``) out of consistent reads, and replaced only by a build that began
later. A copy that is missing, stale or corrupt reads as None: whoever reads it then asks the indexes.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from shared import settings
from shared.data import keys
from shared.data.catalog import deals, feeds, topics
from shared.dynamodb import cursors
from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import Key
from shared.dynamodb.table import Projection, Table
from shared.dynamodb.writes import put_new_or
from shared.errors import AlreadyExists
from shared.models import ALL_DEALS, CuratedPage, Deal, Feed, Page, Status, Topic, TopicPage, feed_of

SEPARATOR = "\n"
"""Between a category's picks and its newest deals. JSON written without indentation holds no line break."""

COMPRESSION = 9
"""zlib's best: a page is compressed once and read many times, and 4 KB is where it starts to cost double."""

DICTIONARY = (
    b'"withdrawn","expired"GBPEUR"outerwear""shoes""accessories""bags""electronics""home""outdoors""hot":true'
    b"Men's Women's Shirt Jacket Pants Shorts Short Sleeve Tee Dress Sweater Black White Blue "
    b"-mens-womens-shirt-pants-jacket-shoes-short-sleeve-tee-sweater-black-white-blue-the-and-for-with-.webp?v=17.png?v=17"
    b'"listPrice":null,"image":null,"discountPercent":null,"next":null}https://www..com/collections/all/products/'
    b'https://cdn.shopify.com/s/files/1/0/products/{"items":[{"dealId":"3","dealNumber":1,"title":"","link":"https://.com'
    b'/products/?variant=4","image":"https://cdn.shopify.com/s/files/1/00/files/.jpg?v=17","price":".00","listPrice":".00'
    b'","currency":"USD","discountPercent":50,"brand":{"brand":"","name":""},"category":"clothing","createdAt":"2026-06-04'
    b'T20:28:53Z","expiresAt":null,"status":"active","hot":false,"description":null,"couponCode":null,"sourceId":":4"},'
    b'{"dealId":"'
)
"""What pages are made of, for the compressor to point back to: a twelfth less for each, at no cost to readers.

Whoever changes it makes all copies unreadable until they are rebuilt, which the clock does when they grow stale.
"""


@dataclass(frozen=True, slots=True)
class Cached:
    """What is cached: the newest deals (``of`` None), a curated page's picks, a category's picks and newest deals."""

    of: CuratedPage | Topic | None = None

    @property
    def name(self) -> str:
        """What this is called in logs."""
        match self.of:
            case CuratedPage():
                return self.of.label
            case Topic():
                return self.of.slug
            case None:
                return "newest deals"

    @property
    def type(self) -> str:
        match self.of:
            case CuratedPage():
                return f"{self.of.type}Cache"
            case Topic():
                return "CategoryCache"
            case None:
                return "DealsCache"

    def key(self, shard: int) -> Key:
        """The key of one copy; shards count from 1."""
        match self.of:
            case CuratedPage():
                return keys.page_cache(self.of, shard)
            case Topic():
                return keys.category_cache(self.of.slug, shard)
            case None:
                return keys.deals_cache(shard)

    @property
    def feed(self) -> Feed | None:
        """The feed whose newest page this shows; a curated page shows none."""
        match self.of:
            case CuratedPage():
                return None
            case Topic():
                return feed_of(self.of)
            case None:
                return ALL_DEALS

    @property
    def outline(self) -> tuple[str, ...]:
        """How each line of the text begins and ends: a list of picks, a document with the newest deals, or both."""
        match self.of:
            case CuratedPage():
                return ("[]",)
            case Topic():
                return ("[]", "{}")
            case None:
                return ("{}",)


NEWEST = Cached()

_COPY = Projection.of("PK", "SK", "Body", "BuiltAt", "ExpiresAt", "Name", "LikesCount", "WatchCount")


def read(table: Table, wanted: Sequence[Cached], *, shard: int, now: datetime) -> list[str | None]:
    """The texts of some parts, each None where its copy is unusable. One BatchGetItem: 0.5 RRU for each copy."""
    found = {item["PK"]: item for item in table.get_many([part.key(shard) for part in wanted], projection=_COPY)}
    return [_text(part, found.get(part.key(shard)["PK"]), now) for part in wanted]


def read_category(table: Table, category: Topic, *, shard: int, now: datetime) -> tuple[TopicPage | None, str | None]:
    """A category with its counts of this moment, and the text of its page. One BatchGetItem for both."""
    page = Cached(category)
    copy, counts = page.key(shard), keys.topic(category)
    found = {item["PK"]: item for item in table.get_many([copy, counts], projection=_COPY)}
    item = found.get(counts["PK"])
    return topics.from_item(category, item) if item else None, _text(page, found.get(copy["PK"]), now)


def write(table: Table, cached: Cached, text: str, *, began: datetime, expires: datetime) -> None:
    """Replace all copies of a part, unless a build that ``began`` later did. Both times may hold fractions."""
    body = compress(text)
    table.gather(
        [
            partial(_replace_older, table, cached, shard, body, began, expires)
            for shard in range(1, settings.CACHE_SHARDS + 1)
        ]
    )


def compress(text: str) -> bytes:
    """A part's text as a copy holds it."""
    compressor = zlib.compressobj(COMPRESSION, zdict=DICTIONARY)
    return compressor.compress(text.encode()) + compressor.flush()


def decompress(body: bytes) -> str:
    """The text that a copy holds; a checksum vouches for it. Raises zlib.error, UnicodeDecodeError, TypeError."""
    decompressor = zlib.decompressobj(zdict=DICTIONARY)
    text = decompressor.decompress(body)
    if not decompressor.eof:
        raise zlib.error("the copy was cut")
    return text.decode()


def age(table: Table, cached: Cached, now: datetime) -> float | None:
    """Seconds since the first copy's build began, or None if there is none."""
    item = table.get(cached.key(1), projection=_COPY)
    return None if item is None else now.timestamp() - item["BuiltAt"] / 1000


def newest(table: Table, feed: Feed, now: datetime, also: Iterable[str], previous: str | None) -> Page[Deal]:
    """The newest page of a feed as it really is, though the index may lag behind the table.

    Candidates are the index's newest deals, those just written (``also``) and those of the previous build; what each of
    them is now comes from the table itself.
    """
    size = settings.CACHED_PAGE
    candidates, cursor = set(also) | _ids_in(previous), None
    while True:
        indexed = feeds.read(table, feed, limit=size + 1, now=now, cursor=cursor)
        candidates |= {deal.deal_id for deal in indexed.items}
        # Below what the index has said so far there may be deals that are no candidates yet.
        known_down_to = indexed.items[-1].deal_id if indexed.next is not None else ""
        near = sorted((deal_id for deal_id in candidates if deal_id >= known_down_to), reverse=True)
        current = deals.get_many(table, near, consistent=True)
        active = [deal for deal in current if deal.status(now) is Status.ACTIVE and _belongs(deal, feed)]
        cursor = indexed.next
        if len(active) > size or cursor is None:  # else the index still holds deals that are over: read on
            break
    more = len(active) > size
    shown = tuple(active[:size])
    return Page(shown, cursors.encode(feeds.scope(feed), shown[-1].deal_id) if more and shown else None)


def expiry(shown: Iterable[Deal], now: datetime) -> datetime:
    """When a part that shows some deals is no longer right: at the first one's end, or when copies grow stale."""
    ends = [deal.ends_at for deal in shown if deal.ends_at is not None and deal.ends_at > now]
    return min([now + settings.CACHE_LIFETIME, *ends])


def _belongs(deal: Deal, feed: Feed) -> bool:
    return feed.topic is None or deal.category == feed.topic.slug


def _ids_in(text: str | None) -> set[str]:
    """The newest deals that a part shows."""
    if text is None:
        return set()
    with suppress(ValueError, KeyError, TypeError):  # a corrupt copy knows of no deals
        return {item["dealId"] for item in json.loads(text.rsplit(SEPARATOR, 1)[-1])["items"]}
    return set()


def _text(part: Cached, item: Item | None, now: datetime) -> str | None:
    """What a copy says, or None where it is missing, stale or corrupt."""
    with suppress(zlib.error, UnicodeDecodeError, KeyError, TypeError):
        if item is not None and item["ExpiresAt"] > now.timestamp():
            text = decompress(item["Body"])
            if tuple(line[:1] + line[-1:] for line in text.split(SEPARATOR)) == part.outline:
                return text
    return None


def _replace_older(table: Table, cached: Cached, shard: int, body: bytes, began: datetime, expires: datetime) -> None:
    item = {
        **cached.key(shard),
        "Type": cached.type,
        "Body": body,
        "BuiltAt": int(began.timestamp() * 1000),
        "ExpiresAt": int(expires.timestamp()),
    }
    with suppress(AlreadyExists):  # a later build was faster
        table.write(put_new_or(item, "BuiltAt < :began", {":began": item["BuiltAt"]}, refused=AlreadyExists()))
