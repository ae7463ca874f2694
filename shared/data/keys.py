"""The keys of the table, and the types of its items. No other module spells one, but features have theirs;
``tests/data/test_keys.py`` spells all keys once more.

First come the keys that are a form and nothing else, such as ``MESSAGES#{username}``, then functions for those that are
made of something else than the values themselves, and in the end the types. What is named after an entity gives its
primary key; what has ``_in_`` in its name gives the attributes that place the entity in an index. A text is a sort key,
or a partition that a Query reads, in the table or in the index of its form. Slugs and usernames hold no ``#``, and what
may hold one (a source id) only ever ends a key, so no value can forge another's key.
"""

from __future__ import annotations

import hashlib
import hmac
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
    """An item's attributes that are keys, by their forms. One form alone is both PK and SK: nothing is beside the item.

    Names in braces stand for values, which are given in the order in which their names come first; ``[()]`` takes none.
    Times are written as everywhere in the table.
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
    """The key of a whole partition, or a sort key."""

    def __init__(self, form: str) -> None:
        self._item = Item[*Values](form)

    def __call__(self, *values: *Values) -> str:
        return self._item(*values)["PK"]


# Deals, their drafts, and what is kept beside them.
deal = Item[str]("DEAL#{deal_id}")
deal_sort_key = Text[str]("DEAL#{deal_id}")
deal_number = Item[int]("DEALNUMBER#{number}")
deal_numbers = Item[()]("SEQUENCE#DEAL")
deal_source = Item[str]("DEALSOURCE#{source_id}")
draft = Item[str, str](PK="DRAFTS#{username}", SK="DEAL#{draft_id}")
drafts = Text[str]("DRAFTS#{username}")
beginning = Item[datetime, str](PK="BEGINNINGS", SK="{starts_at}#{draft_id}")
"""The note that a draft is to be posted at a time, among all others; of ``~``, a bound above those of a time."""
ending = Item[str, datetime, str](PK="ENDINGS#{day}", SK="ENDING#{ends_at}#{deal_id}")
"""The note that a deal's offer ends at a time, filed under the day it ends; of ``~``, a bound as well."""
endings = Item[()]("ENDINGS")
"""The container that remembers how far ended deals have been swept."""
clicks = Item[str]("CLICKS#{deal_id}")
"""How often readers have followed a deal to its shop."""
shop = Item[str]("SHOP#{host}")
"""A note of what a shop's deals usually are, under the host of its addresses."""
log = Text[str]("LOG#{deal_id}")
"""The log of a deal's changes."""
log_line = Item[str, str](PK="LOG#{deal_id}", SK="{line_id}")
score = Item[str]("SCORE#{deal_id}")
"""The sum of the votes on a deal, and while the deal is listed its rank among the popular ones."""
popular = Text[str]("POPULAR#{month}T00:00:00")
"""In GSI1: the scores of the listed deals of a month, a date like ``2026-06-01``."""

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
"""Prices are in hundredths, with as many digits as any stored price has, so that texts sort as numbers do."""
word = Text[str]("WORD#{word}")
"""The listed deals that have a word in their title, brand or category."""
word_of_deal = Item[str, str](PK="WORD#{word}", SK="DEAL#{deal_id}")
word_count = Item[str](PK="WORDS#{word:.2}", SK="{word}")
"""How many listed deals have a word; words that begin with the same two letters lie together."""
words = Text[str]("WORDS#{beginning:.2}")
"""The counts of all words that begin as a text does."""

# Brands and categories, and who follows them.
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

# Users, their sessions, and what opens an account.
user = Item[str]("USER#{username}")
user_in_users = Item[str](UserIndex="USER#{username}")
user_in_removals = Item[str](GSI1PK="REMOVALS", GSI1SK="USER#{username}")
removals = Text[()]("REMOVALS")
account = Item[str]("ACCOUNT#{username}")
user_email = Item[str]("USEREMAIL#{email}")
password = Item[str]("PASSWORD#{username}")
"""A user's password hash, in a partition of its own: who may read a user's collection cannot read it."""
session = Item[str]("SESSION#{token_hash}")
session_in_sessions = Item[str, datetime](GSI1PK="SESSIONS#{username}", GSI1SK="SESSION#{created_at}")
sessions = Text[str]("SESSIONS#{username}")
feed_key = Item[str]("FEEDKEY#{key_hash}")
"""Whose private feed a key opens."""
feed = Item[str]("FEED#{username}")
"""The hash of the key of a user's feed."""

# What belongs to one user, and who is notified of what.
messages = Text[str]("MESSAGES#{username}")
"""In the table and, while unread, in GSI1."""
message = Item[str, str](PK="MESSAGES#{username}", SK="MESSAGE#{message_id}")
message_in_unread = Item[str, str](GSI1PK="MESSAGES#{username}", GSI1SK="MESSAGE#{message_id}")
message_sort_key = Text[str]("MESSAGE#{message_id}")
saved = Item[str, str](PK="SAVED#{username}", SK="DEAL#{deal_id}")
saved_by = Text[str]("SAVED#{username}")
vote = Item[str, str](PK="VOTES#{username}", SK="DEAL#{deal_id}")
votes_by = Text[str]("VOTES#{username}")
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

# Upkeep, and trial requests.
scratch = Text[str, str]("LEARN#{visitor}#{run}")
"""The partition of a visitor's trial requests: nothing of the application is in it."""
scratches = Text[()]("LEARN#")
"""The beginning of the keys of all scratch partitions, in the table and its indexes."""


def _pair(pk: str, sk: str | None = None) -> Key:
    return {"PK": pk, "SK": pk if sk is None else sk}


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def deal_in_feeds(deal_id: str, *, day: str, brand: str, month: str, category: str) -> Key:
    """A listed deal's attributes in GSI1, GSI2 and GSI3; ``day`` and ``month`` are dates like ``2026-06-01``."""
    sort_key = deal_sort_key(deal_id)
    return (
        {"GSI1PK": f"DEALS#{day}T00:00:00", "GSI1SK": sort_key}
        | {"GSI2PK": f"BRAND#{brand}#{month}T00:00:00", "GSI2SK": sort_key}
        | {"GSI3PK": f"CATEGORY#{category}#{day}T00:00:00", "GSI3SK": sort_key}
    )


def listed_under(item: Mapping[str, object]) -> tuple[str, str, str]:
    """The day, the brand and the category that a listed deal is filed under, by its places in the indexes."""
    day, brand, category = (str(item[name]).split("#")[1] for name in ("GSI1PK", "GSI2PK", "GSI3PK"))
    return day[:10], brand, category


def feed_partition(feed: Feed, period: str) -> str:
    """The partition of a feed's index that holds one period's deals."""
    return f"{counts(feed)}#{period}T00:00:00"


def counts(feed: Feed) -> str:
    """The partition of a feed's counts; a topic's own item is in it, too."""
    return topic(feed.topic)["PK"] if feed.topic else "DEALS"


def periods(feed: Feed, period: str) -> Key:
    """The item that counts a feed's listed deals of a period, with others of its month or, for a brand, its year."""
    return _pair(counts(feed), f"PERIODS#{_book(feed, period)}")


def periods_between(feed: Feed, until: str | None) -> tuple[str, str, str]:
    """The partition of all counts of a feed, and its first and last sort keys of a period or earlier ones."""
    return counts(feed), "PERIODS#", f"PERIODS#{_book(feed, until) if until else '~'}"


def _book(feed: Feed, period: str) -> str:
    return period[:7] if feed.period is Period.DAY else period[:4]


def offer_of_listed(deal_id: str, *, brand: str, category: str, price: int, currency: str, percent: int | None) -> Key:
    """The places of a listed deal's offer in the indexes; without a discount it has no place among discounts."""
    by_price = offer_by_price(price, deal_id)
    return (
        ({"GSI1PK": discounts(category), "GSI1SK": offer_by_discount(percent, deal_id)} if percent else {})
        | {"GSI2PK": brand_prices(brand, currency), "GSI2SK": by_price}
        | {"GSI3PK": category_prices(category, currency), "GSI3SK": by_price}
    )


def prices_between(least: int | None, most: int | None, after: tuple[int, str] | None) -> tuple[str, str]:
    """The lowest and the highest sort key of offers within some prices, both included, behind one price and deal."""
    lowest = offer_by_price(*after) + "~" if after else offer_by_price(least or 0, "")
    return lowest, offer_by_price(10**14 - 1 if most is None else most, "~")


def score_in_popular(deal_id: str, month: str, rank: int) -> Key:
    """The place of a deal's score among those of the deals of a month."""
    # The ranks of deals from before 2020 are negative, and as texts they would sort backward.
    return {"GSI1PK": popular(month), "GSI1SK": f"{rank + 1_000_000_000:010d}#{deal_id}"}


def counted_click(salt: str, network: str, deal_id: str, hour: int) -> Key:
    """The note that a network's click on a deal is counted in an hour, under a hash of the three, keyed with a salt."""
    digest = hmac.digest(salt.encode(), f"{network} {deal_id} {hour}".encode(), "sha256").hex()[:32]
    return _pair(f"COUNTEDCLICK#{digest}")


def topic_named(key: str) -> Topic:
    """The topic that a key names: its own, or that of a like or a watch, also in GSI1. Raises KeyError, ValueError."""
    prefix, slug, *_ = key.split("#")
    return Topic({kind.prefix: kind for kind in (BRAND, CATEGORY)}[re.sub("(LIKE|WATCH)$", "", prefix)], slug)


def featured(of: CuratedPage | Topic) -> Key:
    """The item that holds the deals picked for a page: the page's own, or a category's ``FEATURED``."""
    return _pair(of.prefix) if isinstance(of, CuratedPage) else _pair(topic(of)["PK"], "FEATURED")


def html_copy(copy: Key) -> Key:
    """The copy of a page's part as HTML, beside the one as JSON that has this key."""
    return _pair(copy["PK"], "HTML")


def fan_out_page(deal_id: str, kind: str, segment: int, start: str) -> Key:
    """The memory of one cohort of readers having been handled; ``start`` is the key it starts after, or empty."""
    return _pair(f"FANOUTPAGE#{deal_id}#{kind}#{segment}#{_hashed(start)[:32]}")


def attempts(kind: str, *who: str | int) -> Key:
    """The count of attempts of a kind in one window, its last part: of a user, of a network, or of one from another."""
    return _pair("#".join(["ATTEMPTS", kind, *map(str, who)]))


def known_network(username: str, network: str) -> Key:
    """The note that a user has signed in from a network, under a hash of both."""
    return _pair(f"ATTEMPTS#KNOWN#{_hashed(f'{username} {network}')[:32]}")


def idempotency(account_id: str, client_key: str) -> Key:
    """The receipt of a client's Idempotency-Key; hashed, because clients choose its text."""
    return _pair(f"IDEMPOTENCY#{account_id}#{_hashed(client_key)}")


def backfill(item_type: str, segment: int, segments: int) -> Key:
    """The place that a scan for items of a type has reached in one of its segments."""
    return _pair(f"BACKFILL#{item_type}#{segments}#{segment}")


def pattern_of(key: Key | str) -> str:
    """The pattern, as IAM's policies have them, of the partition keys of one kind: ``DEAL#*``, ``BRANDS``."""
    kind, divider, _ = (key if isinstance(key, str) else key["PK"]).partition("#")
    return f"{kind}{divider}*" if divider else kind


def deal_id_of(item: Mapping[str, object]) -> str | None:
    """The deal that an item is, or stands for, by its key or its place in a feed; None for a copy without either."""
    places = (str(item.get(name, "")) for name in ("PK", "SK", "GSI1SK", "GSI2SK", "GSI3SK"))
    return next((place.removeprefix("DEAL#") for place in places if place.startswith("DEAL#")), None)


def id_in(key: object) -> str:
    """The id or the name that ends a key: of a deal, a user, a message, an order."""
    return str(key).rpartition("#")[2]


def primary(item: Mapping[str, object]) -> Key:
    """The primary key of an item."""
    return {"PK": str(item["PK"]), "SK": str(item["SK"])}


# The values of an item's ``Type``, by which stream consumers, scans and the filters of the stack distinguish items.
DEAL = "Deal"
DEAL_NUMBER = "DealNumber"
DEAL_SOURCE = "DealSource"
SEQUENCE = "Sequence"
"""A counter that numbers are drawn from, such as deals'."""

PERIODS = "Periods"
ENDING = "Ending"
ENDINGS = "Endings"
DRAFT = "Draft"
BEGINNING = "Beginning"
"""The note of when a draft is to be posted."""

PRODUCT_OFFER = "ProductOffer"
WORD = "Word"
WORD_COUNT = "WordCount"
CLICKS = "Clicks"
COUNTED_CLICK = "CountedClick"
SCORE = "Score"
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
"""A name whose account is being removed: it has the User item's key."""

ACCOUNT = "Account"
USER_EMAIL = "UserEmail"
PASSWORD = "Password"  # noqa: S105  # a type's name
SESSION = "Session"
ATTEMPTS = "Attempts"
IDEMPOTENCY = "Idempotency"
MESSAGE = "Message"
SAVED = "Saved"
VOTE = "Vote"
PRICE_ALERT = "PriceAlert"
WORDS_ALERT = "WordsAlert"
FEED_KEY = "FeedKey"
FAN_OUT = "FanOut"
FAN_OUT_PAGE = "FanOutPage"

BACKFILL = "Backfill"
