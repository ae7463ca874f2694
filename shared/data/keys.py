"""All keys and item types of the table; features add their own. ``tests/data/test_keys.py`` spells every key literally.

An entity's name gives its primary key (``deal``), ``_in_`` the key attributes of an index (``like_in_likes``), and a
``Text`` a sort key or a partition to query. Slugs and usernames hold no ``#``. A value that may hold one (a source id)
is always the last part of a key, so no value can forge another's key.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from datetime import datetime
from string import Formatter
from typing import Generic, TypeVarTuple

from shared.dynamodb.schema import Key
from shared.models.catalog import (
    BRAND,
    CATEGORY,
    EDITORS_CHOICE,
    FRONT_PAGE,
    CuratedPage,
    Feed,
    Period,
    Topic,
    TopicKind,
)
from shared.values.times import to_iso

Values = TypeVarTuple("Values")


class Item(Generic[*Values]):
    """The key attributes of an item, one form for each. A single form without a name is both PK and SK.

    Names in braces are placeholders, filled in the order of their first occurrence; ``[()]`` takes no values. Times are
    written in ISO format.
    """

    def __init__(self, alone: str = "", **forms: str) -> None:
        self._forms = forms or {"PK": alone, "SK": alone}
        names = (name for form in self._forms.values() for _, name, _, _ in Formatter().parse(form) if name)
        self._names = dict.fromkeys(name.partition(".")[0] for name in names)

    def __call__(self, *values: *Values) -> Key:
        written = [to_iso(value) if isinstance(value, datetime) else value for value in values]
        named = dict(zip(self._names, written, strict=True))
        return {attribute: form.format_map(named) for attribute, form in self._forms.items()}


class Text(Generic[*Values]):
    """One key as text: a partition key or a sort key."""

    def __init__(self, form: str) -> None:
        self._item = Item[*Values](form)

    def __call__(self, *values: *Values) -> str:
        return self._item(*values)["PK"]


# Deals and their other items.
deal = Item[str]("DEAL#{deal_id}")
deal_sort_key = Text[str]("DEAL#{deal_id}")
deal_number = Item[int]("DEALNUMBER#{number}")
deal_numbers = Item[()]("SEQUENCE#DEAL")
deal_source = Item[str]("DEALSOURCE#{source_id}")
ending = Item[str, datetime, str](PK="ENDINGS#{day}", SK="ENDING#{ends_at}#{deal_id}")
"""The note that a deal's offer ends at a time, filed under the day it ends; the id ``~`` makes an upper bound."""
endings = Item[()]("ENDINGS")
"""The container that remembers up to which day ended deals have been swept."""
shop = Item[str]("SHOP#{host}")
"""What deals of a shop usually are, under the host of its addresses."""
log = Text[str]("LOG#{deal_id}")
"""The log of a deal's changes."""
log_line = Item[str, str](PK="LOG#{deal_id}", SK="{line_id}")

# Offers, and the words that find deals.
product = Text[str]("PRODUCT#{product_hash}")
"""All offers of one product, under the hash of its address."""
product_offer = Item[str, str](PK="PRODUCT#{product_hash}", SK="DEAL#{deal_id}")
ended = Text[Topic]("{topic.kind.prefix}#{topic.slug}#ENDED")
"""In the index of its feed: the ended deals of a brand or a category."""
offer_of_ended = Item[str, str, str](
    GSI2SK="DEAL#{deal_id}", GSI2PK="BRAND#{brand}#ENDED", GSI3PK="CATEGORY#{category}#ENDED", GSI3SK="DEAL#{deal_id}"
)
brand_prices = Text[str, str]("BRANDPRICES#{brand}#{currency}")
category_prices = Text[str, str]("PRICES#{category}#{currency}")
discounts = Text[str]("DISCOUNTS#{category}")
"""In GSI2, GSI3 and GSI1: the offers of listed deals."""
offer_by_discount = Text[int, str]("{percent:03}#{deal_id}")
offer_by_price = Text[int, str]("{price:014}#{deal_id}")
"""Prices are in hundredths, zero-padded to the length of the largest price, so that texts sort as numbers do."""
word = Text[str]("WORD#{word}")
"""The listed deals that have a word in their title, brand or category."""
word_of_deal = Item[str, str](PK="WORD#{word}", SK="DEAL#{deal_id}")
word_count = Item[str](PK="WORDS#{word:.2}", SK="{word}")
"""How many listed deals have a word. Words with the same first two letters share a partition."""
words = Text[str]("WORDS#{beginning:.2}")
"""The counts of all words that begin with a text."""

# Brands and categories, and their followers.
topic = Item[Topic]("{topic.kind.prefix}#{topic.slug}")
brands = Item[()]("BRANDS")
like = Item[Topic, str]("{topic.kind.prefix}LIKE#{topic.slug}#{username}")
like_in_likes = Item[Topic, str](GSI1SK="{topic.kind.prefix}#{topic.slug}", GSI1PK="LIKES#{username}")
likes = Text[str]("LIKES#{username}")
watch = Item[Topic, str](PK="{topic.kind.prefix}WATCH#{topic.slug}", SK="USER#{username}")
watchers = Text[Topic]("{topic.kind.prefix}WATCH#{topic.slug}")
watch_in_watches = Item[Topic, str](GSI1SK="{topic.kind.prefix}#{topic.slug}", GSI1PK="WATCHES#{username}")
watches = Text[str]("WATCHES#{username}")

# Copies of pages; shards count from 1.
deals_cache = Item[int | str]("DEALSCACHE#{shard}")
"""One copy of the newest page of all deals."""
page_cache = Item[CuratedPage, int]("{page.prefix}CACHE#{shard}")
category_cache = Item[str, int]("CATEGORYCACHE#{category}#{shard}")

# Users, their sessions and credentials.
user = Item[str]("USER#{username}")
user_in_users = Item[str](UserIndex="USER#{username}")
user_in_removals = Item[str](GSI1PK="REMOVALS", GSI1SK="USER#{username}")
removals = Text[()]("REMOVALS")
account = Item[str]("ACCOUNT#{username}")
user_email = Item[str]("USEREMAIL#{email}")
password = Item[str]("PASSWORD#{username}")
"""A user's password hash, in its own partition: access to the user's item doesn't give access to the hash."""
session = Item[str]("SESSION#{token_hash}")
session_in_sessions = Item[str, datetime](GSI1PK="SESSIONS#{username}", GSI1SK="SESSION#{created_at}")
sessions = Text[str]("SESSIONS#{username}")
"""The user whose private feed a key opens."""

# A member's messages and alerts; fan-out progress.
messages = Text[str]("MESSAGES#{username}")
"""In the table and, while unread, in GSI1."""
message = Item[str, str](PK="MESSAGES#{username}", SK="MESSAGE#{message_id}")
message_in_unread = Item[str, str](GSI1PK="MESSAGES#{username}", GSI1SK="MESSAGE#{message_id}")
message_sort_key = Text[str]("MESSAGE#{message_id}")
alert = Item[str, str](PK="ALERTS#{username}", SK="ALERT#{alert_id}")
alerts = Text[str]("ALERTS#{username}")
alert_in_words = Item[str, str, str](GSI1PK="WORDWATCH#{word}", GSI1SK="USER#{username}#{alert_id}")
words_alerts = Text[str]("WORDWATCH#{word}")
alert_in_joined = Item[str, str, str](GSI2PK="JOINEDWATCH#{word}", GSI2SK="USER#{username}#{alert_id}")
joined_alerts = Text[str]("JOINEDWATCH#{word}")
alert_in_prices = Item[str, str, int, str](GSI2PK="PRODUCTWATCH#{product}#{currency}", GSI2SK="{price:014}#{username}")
price_alerts = Text[str, str]("PRODUCTWATCH#{product}#{currency}")
fan_out = Text[str]("FANOUT#{deal_id}")
"""Counts the users who were notified that a deal is hot."""
fan_out_segment = Item[str, int | str](PK="FANOUT#{deal_id}", SK="SEGMENT#{segment}")

# Scratch partitions for trial requests.
scratch = Text[str, str]("LEARN#{visitor}#{run}")
"""The partition of a visitor's trial requests. The application stores nothing in it."""
scratches = Text[()]("LEARN#")
"""The prefix of all scratch partitions' keys, in the table and its indexes."""


def _pair(pk: str, sk: str | None = None) -> Key:
    return {"PK": pk, "SK": pk if sk is None else sk}


def deal_in_feeds(deal_id: str, *, day: str, brand: str, month: str, category: str) -> Key:
    """A listed deal's attributes in GSI1, GSI2 and GSI3; ``day`` and ``month`` are dates like ``2026-06-01``."""
    sort_key = deal_sort_key(deal_id)
    return (
        {"GSI1PK": f"DEALS#{day}T00:00:00", "GSI1SK": sort_key}
        | {"GSI2PK": f"BRAND#{brand}#{month}T00:00:00", "GSI2SK": sort_key}
        | {"GSI3PK": f"CATEGORY#{category}#{day}T00:00:00", "GSI3SK": sort_key}
    )


def listed_under(item: Mapping[str, object]) -> tuple[str, str, str]:
    """The day, brand and category under which a listed deal is filed, from its index keys."""
    day, brand, category = (str(item[name]).split("#")[1] for name in ("GSI1PK", "GSI2PK", "GSI3PK"))
    return day[:10], brand, category


def feed_partition(feed: Feed, period: str) -> str:
    """The partition of a feed's index that holds one period's deals."""
    return f"{counts(feed)}#{period}T00:00:00"


def counts(feed: Feed) -> str:
    """The partition of a feed's counts, which also holds a topic's own item."""
    return topic(feed.topic)["PK"] if feed.topic else "DEALS"


def periods(feed: Feed, period: str) -> Key:
    """The item with a feed's count of a period. It holds all days of a month or, for a brand, all months of a year."""
    return _pair(counts(feed), f"PERIODS#{_book(feed, period)}")


def periods_between(feed: Feed, until: str | None) -> tuple[str, str, str]:
    """The partition of a feed's counts, and the first and last sort keys up to a period."""
    return counts(feed), "PERIODS#", f"PERIODS#{_book(feed, until) if until else '~'}"


def _book(feed: Feed, period: str) -> str:
    return period[:7] if feed.period is Period.DAY else period[:4]


def offer_of_listed(deal_id: str, *, brand: str, category: str, price: int, currency: str, percent: int | None) -> Key:
    """The index keys of a listed deal's offer. Without a discount it has no place in GSI1."""
    by_price = offer_by_price(price, deal_id)
    return (
        ({"GSI1PK": discounts(category), "GSI1SK": offer_by_discount(percent, deal_id)} if percent else {})
        | {"GSI2PK": brand_prices(brand, currency), "GSI2SK": by_price}
        | {"GSI3PK": category_prices(category, currency), "GSI3SK": by_price}
    )


def prices_between(least: int | None, most: int | None, after: tuple[int, str] | None) -> tuple[str, str]:
    """The lowest and highest sort keys of offers in an inclusive price range, after one price and deal."""
    lowest = offer_by_price(*after) + "~" if after else offer_by_price(least or 0, "")
    return lowest, offer_by_price(10**14 - 1 if most is None else most, "~")


def topic_named(key: str) -> Topic:
    """Read the topic from its own key, or from that of a like or a watch, also in GSI1. Raises KeyError, ValueError."""
    prefix, slug, *_ = key.split("#")
    return Topic({kind.prefix: kind for kind in (BRAND, CATEGORY)}[re.sub("(LIKE|WATCH)$", "", prefix)], slug)


def featured(of: CuratedPage | Topic) -> Key:
    """The item with the deals picked for a curated page or a category."""
    return _pair(of.prefix) if isinstance(of, CuratedPage) else _pair(topic(of)["PK"], "FEATURED")


def html_copy(copy: Key) -> Key:
    """The key of a page part's HTML copy, from the key of its JSON copy."""
    return _pair(copy["PK"], "HTML")


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def fan_out_page(deal_id: str, kind: str, segment: int, start: str) -> Key:
    """The marker of one cohort of readers; ``start`` is the key that it starts after, or empty."""
    return _pair(f"FANOUTPAGE#{deal_id}#{kind}#{segment}#{_hashed(start)[:32]}")


def attempts(kind: str, *who: str | int) -> Key:
    """The count of attempts of a kind in a window, by user, by network, or by both."""
    return _pair("#".join(["ATTEMPTS", kind, *map(str, who)]))


def known_network(username: str, network: str) -> Key:
    """The note that a user has signed in from a network, under a hash of both."""
    return _pair(f"ATTEMPTS#KNOWN#{_hashed(f'{username} {network}')[:32]}")


def idempotency(account_id: str, client_key: str) -> Key:
    """The receipt of a client's Idempotency-Key. It's hashed because clients choose its text."""
    return _pair(f"IDEMPOTENCY#{account_id}#{_hashed(client_key)}")


def pattern_of(key: Key | str) -> str:
    """The IAM pattern of a key's partition keys: ``DEAL#*``, ``BRANDS``."""
    kind, divider, _ = (key if isinstance(key, str) else key["PK"]).partition("#")
    return f"{kind}{divider}*" if divider else kind


def deal_id_of(item: Mapping[str, object]) -> str | None:
    """The deal that an item belongs to, from its key or its place in a feed; None for a copy without either."""
    places = (str(item.get(name, "")) for name in ("PK", "SK", "GSI1SK", "GSI2SK", "GSI3SK"))
    return next((place.removeprefix("DEAL#") for place in places if place.startswith("DEAL#")), None)


def id_in(key: object) -> str:
    """The last part of a key: the id of a deal, message or order, or a username."""
    return str(key).rpartition("#")[2]


def primary(item: Mapping[str, object]) -> Key:
    """The primary key of an item."""
    return {"PK": str(item["PK"]), "SK": str(item["SK"])}


# Values of the attribute ``Type``, which stream filters, stream consumers and scans select by.
DEAL = "Deal"
DEAL_NUMBER = "DealNumber"
DEAL_SOURCE = "DealSource"
SEQUENCE = "Sequence"
"""A counter from which numbers are drawn, such as those of deals."""

PERIODS = "Periods"
ENDING = "Ending"
ENDINGS = "Endings"

PRODUCT_OFFER = "ProductOffer"
WORD = "Word"
WORD_COUNT = "WordCount"
LOG_LINE = "LogLine"
SHOP = "Shop"

TOPIC: Mapping[TopicKind, str] = {BRAND: "Brand", CATEGORY: "Category"}
LIKE: Mapping[TopicKind, str] = {BRAND: "BrandLike", CATEGORY: "CategoryLike"}
WATCH: Mapping[TopicKind, str] = {BRAND: "BrandWatch", CATEGORY: "CategoryWatch"}
BRANDS = "Brands"

CURATED = (FRONT_PAGE.type, EDITORS_CHOICE.type)
CATEGORY_FEATURED = "CategoryFeatured"
DEALS_CACHE = "DealsCache"
CATEGORY_CACHE = "CategoryCache"

USER = "User"
REMOVAL = "Removal"
"""The tombstone of a user whose account is being removed, under the User item's key."""

ACCOUNT = "Account"
USER_EMAIL = "UserEmail"
PASSWORD = "Password"  # noqa: S105  # a type's name
SESSION = "Session"
ATTEMPTS = "Attempts"
IDEMPOTENCY = "Idempotency"
MESSAGE = "Message"
PRICE_ALERT = "PriceAlert"
WORDS_ALERT = "WordsAlert"
FAN_OUT = "FanOut"
FAN_OUT_PAGE = "FanOutPage"
