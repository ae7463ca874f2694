"""Every key of the table. No other module spells one; ``tests/data/test_keys.py`` spells them all once more.

What is named after an entity gives its primary key; what ends in ``_in_…`` gives the attributes that place the
entity in an index. First come the keys of a prefix and one value, then those that are made of more. Slugs and
usernames hold no ``#``, and what may hold one (a source id) only ever ends a key, so no value can forge another's key.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Mapping
from datetime import datetime

from shared.dynamodb.schema import Key
from shared.models.catalog import BRAND, CATEGORY, CuratedPage, Feed, Period, Topic, TopicKind
from shared.values.times import to_iso


def _pair(pk: str, sk: str | None = None) -> Key:
    return {"PK": pk, "SK": pk if sk is None else sk}


def _alone(prefix: str) -> Callable[[str | int], Key]:
    """The key of an item that is alone in its partition, of the value that follows the prefix."""
    return lambda value: _pair(f"{prefix}#{value}")


def _text(prefix: str) -> Callable[[str | int], str]:
    """The key of a whole partition, or a sort key, of the value that follows the prefix."""
    return lambda value: f"{prefix}#{value}"


def _only(name: str) -> Callable[[], Key]:
    """The key of an item that there is one of."""
    return lambda: _pair(name)


def _in(partition: Callable[[str], str], sort_key: Callable[[str | int], str]) -> Callable[[str, str | int], Key]:
    """The key of an item in a partition with others, of the partition's value and the sort key's."""
    return lambda value, among: _pair(partition(value), sort_key(among))


def _in_gsi1(partition: Callable[[str], str], sort_key: Callable[[str | int], str]) -> Callable[[str, str], Key]:
    """The attributes that place an item in GSI1."""
    return lambda value, among: _at(1, partition(value), sort_key(among))


def _at(gsi: int, partition: str, sort_key: str) -> Key:
    """The attributes that place an item in one of GSI1 to GSI3."""
    return {f"GSI{gsi}PK": partition, f"GSI{gsi}SK": sort_key}


# Items that are alone in their partitions, by an id, a number, a name, an address or a hash.
deal = _alone("DEAL")
deal_number = _alone("DEALNUMBER")
deal_source = _alone("DEALSOURCE")
order_number = _alone("ORDERNUMBER")
deals_cache = _alone("DEALSCACHE")
"""One copy of the newest page of all deals; shards count from 1."""
clicks = _alone("CLICKS")
"""How often readers have followed a deal to its shop."""
shop = _alone("SHOP")
"""A note of what a shop's deals usually are, under the host of its addresses."""
score = _alone("SCORE")
"""The sum of the votes on a deal, and while the deal is listed its rank among the popular ones."""
user = _alone("USER")
account = _alone("ACCOUNT")
user_email = _alone("USEREMAIL")
password = _alone("PASSWORD")
"""A user's password hash, in a partition of its own: who may read a user's collection cannot read it."""
session = _alone("SESSION")
email_token = _alone("EMAILTOKEN")
"""The note that a link was mailed, under a hash of its token."""
feed_key = _alone("FEEDKEY")
"""Whose private feed a key opens, under the hash of the key."""
feed = _alone("FEED")
"""The hash of the key of a user's feed."""
cart_mark = _alone("CART")
"""The mark of a cart's last change, beside what is in it."""
stock = _alone("STOCK")
"""The note that says how many shards a deal's stock is in."""
sale = _alone("SALE")
"""The rest of an order whose account was removed."""
trace = _alone("TRACE")
"""The cost of a form, under an id that nobody can guess."""

# Items that there is one of.
deal_numbers = _only("SEQUENCE#DEAL")
order_numbers = _only("SEQUENCE#ORDER")
"""The counters that deals' and orders' numbers are drawn from."""
brands = _only("BRANDS")
endings = _only("ENDINGS")
"""The container that remembers how far ended deals have been swept."""

# Partitions of one deal, one order, one product, one word.
fan_out = _text("FANOUT")
"""Counts who has been told that a deal is hot."""
order_parts = _text("ORDER")
"""In GSI1: an order and its items."""
product = _text("PRODUCT")
"""All offers of one product, under the hash of its address."""
log = _text("LOG")
"""Who changed what of a deal."""
word = _text("WORD")
"""The listed deals that have a word in their title, brand or category."""
words_alerts = _text("WORDWATCH")
"""In GSI1: the alerts that are looked up by a word."""
trace_steps = _text("TRACE")
"""The work of the stream's functions that followed from writes to a partition."""

# Partitions of what is one user's.
messages = _text("MESSAGES")
"""In the table and, while unread, in GSI1."""
saved_by = _text("SAVED")
drafts = _text("DRAFTS")
votes_by = _text("VOTES")
alerts = _text("ALERTS")
cart = _text("CART")
likes = _text("LIKES")
"""In GSI1, as watches and sessions."""
watches = _text("WATCHES")
sessions = _text("SESSIONS")
order_history = _text("ORDERS")
"""In GSI2: a user's orders by status and time."""

# Sort keys that are asked for by themselves.
deal_sort_key = _text("DEAL")
message_sort_key = _text("MESSAGE")
order_sort_key = _text("#ORDER")
open_order_sort_key = _text("ORDER")

# Items among others of their partition.
product_offer = _in(product, deal_sort_key)
word_of_deal = _in(word, deal_sort_key)
log_line = _in(log, str)
fan_out_segment = _in(fan_out, _text("SEGMENT"))
message = _in(messages, message_sort_key)
message_in_unread = _in_gsi1(messages, message_sort_key)
saved = _in(saved_by, deal_sort_key)
draft = _in(drafts, deal_sort_key)
vote = _in(votes_by, deal_sort_key)
alert = _in(alerts, _text("ALERT"))
cart_item = _in(cart, deal_sort_key)
order_item_in_parts = _in_gsi1(order_parts, _text("ITEM"))
closed_orders_of = _text("CLOSEDORDERS")
"""The GSI3 partition of the orders of a status that is their last."""


def deal_id_of(item: Mapping[str, object]) -> str | None:
    """The deal that an item is, or stands for, by its key or its place in a feed; None for a copy without either."""
    prefix = "DEAL#"
    for name in ("PK", "SK", "GSI1SK", "GSI2SK", "GSI3SK"):
        if (place := str(item.get(name, ""))).startswith(prefix):
            return place.removeprefix(prefix)
    return None


def periods(feed: Feed, period: str) -> Key:
    """The item that counts a feed's listed deals of a period, with others of its month or, for a brand, its year."""
    return _pair(counts(feed), f"PERIODS#{_book(feed, period)}")


def periods_between(feed: Feed, until: str | None) -> tuple[str, str, str]:
    """The partition of all counts of a feed, and its first and last sort keys of a period or earlier ones."""
    return counts(feed), "PERIODS#", f"PERIODS#{_book(feed, until) if until else '~'}"


def book_of(periods_sort_key: str) -> str:
    """The month (``2026-06``) or year (``2026``) that counts were kept for."""
    return periods_sort_key.removeprefix("PERIODS#")


def _book(feed: Feed, period: str) -> str:
    return period[:7] if feed.period is Period.DAY else period[:4]


def counts(feed: Feed) -> str:
    """The partition of a feed's counts; a topic's own item is in it, too."""
    return topic(feed.topic)["PK"] if feed.topic else "DEALS"


def deal_in_feeds(deal_id: str, *, day: str, brand: str, month: str, category: str) -> Key:
    """A listed deal's attributes in GSI1, GSI2 and GSI3; ``day`` and ``month`` are dates like ``2026-06-01``."""
    sort_key = deal_sort_key(deal_id)
    return (
        _at(1, f"DEALS#{day}T00:00:00", sort_key)
        | _at(2, f"BRAND#{brand}#{month}T00:00:00", sort_key)
        | _at(3, f"CATEGORY#{category}#{day}T00:00:00", sort_key)
    )


def listed_under(item: Mapping[str, object]) -> tuple[str, str, str]:
    """The day, the brand and the category that a listed deal stands under, by its places in the indexes."""
    day, brand, category = (str(item[name]).split("#")[1] for name in ("GSI1PK", "GSI2PK", "GSI3PK"))
    return day[:10], brand, category


def feed_partition(feed: Feed, period: str) -> str:
    """The partition of a feed's index that holds one period's deals."""
    prefix = "DEALS" if feed.topic is None else f"{feed.topic.kind.prefix}#{feed.topic.slug}"
    return f"{prefix}#{period}T00:00:00"


def ended(topic: Topic) -> str:
    """The partition of a brand's or a category's ended deals, in the index of its feed."""
    return f"{topic.kind.prefix}#{topic.slug}#ENDED"


def offer_of_ended(deal_id: str, brand: str, category: str) -> Key:
    """Where the offer of a deal that has ended stands in the indexes."""
    sort_key = deal_sort_key(deal_id)
    return _at(2, ended(Topic(BRAND, brand)), sort_key) | _at(3, ended(Topic(CATEGORY, category)), sort_key)


def offer_of_listed(deal_id: str, *, brand: str, category: str, price: int, currency: str, percent: int | None) -> Key:
    """Where the offer of a listed deal stands in the indexes; without a discount it has no place among discounts."""
    by_price = offer_by_price(price, deal_id)
    places = _at(2, brand_prices(brand, currency), by_price) | _at(3, category_prices(category, currency), by_price)
    return places | _at(1, discounts(category), offer_by_discount(percent, deal_id)) if percent else places


def category_prices(category: str, currency: str) -> str:
    """The GSI3 partition of a category's offers in a currency, by price."""
    return f"PRICES#{category}#{currency}"


def brand_prices(brand: str, currency: str) -> str:
    """The GSI2 partition of a brand's offers in a currency, by price."""
    return f"BRANDPRICES#{brand}#{currency}"


discounts = _text("DISCOUNTS")
"""The GSI1 partition of a category's offers by discount."""


def offer_by_price(price: int, deal_id: str) -> str:
    """A sort key among prices, which are in hundredths: as many digits as any stored price has, so that texts sort as
    numbers do."""
    return f"{price:014}#{deal_id}"


def offer_by_discount(percent: int, deal_id: str) -> str:
    """A sort key among discounts, in whole percents."""
    return f"{percent:03}#{deal_id}"


def prices_between(least: int | None, most: int | None, after: tuple[int, str] | None) -> tuple[str, str]:
    """The lowest and the highest sort key of offers within some prices, both included, behind one price and deal."""
    lowest = offer_by_price(*after) + "~" if after else offer_by_price(least or 0, "")
    return lowest, offer_by_price(10**14 - 1 if most is None else most, "~")


def score_in_popular(deal_id: str, month: str, rank: int) -> Key:
    """The place of a deal's score among those of the deals of a month, a date like ``2026-06-01``."""
    return {"GSI1PK": popular(month), "GSI1SK": f"{rank + _LOWEST_RANK:010d}#{deal_id}"}


_LOWEST_RANK = 1_000_000_000
"""Added to each rank: those of deals from before 2020 are negative, and as texts they would sort backward."""


def popular(month: str) -> str:
    """The GSI1 partition of the scores of a month's listed deals."""
    return f"POPULAR#{month}T00:00:00"


def word_count(text: str) -> Key:
    """How many listed deals have a word; words that begin with the same two letters lie together."""
    return _pair(words(text), text)


def words(beginning: str) -> str:
    """The partition of the counts of all words that begin as a text does."""
    return f"WORDS#{beginning[:2]}"


def ending(day: str, ends_at: datetime, deal_id: str) -> Key:
    """The note that a deal's offer ends at a time, filed under the day it ends."""
    return _pair(f"ENDINGS#{day}", f"{_ending_time(ends_at)}#{deal_id}")


def endings_until(day: str, until: datetime) -> tuple[str, str]:
    """The partition of a day's endings and a sort key above all that are due by a time."""
    return f"ENDINGS#{day}", f"{_ending_time(until)}#~"


def _ending_time(when: datetime) -> str:
    return f"ENDING#{to_iso(when)}"


def beginning(starts_at: datetime, draft_id: str) -> Key:
    """The note that a draft is to be posted at a time, among all others; of ``~``, a bound above those of a time."""
    return _pair("BEGINNINGS", f"{to_iso(starts_at)}#{draft_id}")


def topic(topic: Topic) -> Key:
    return _pair(f"{topic.kind.prefix}#{topic.slug}")


def counted_click(salt: str, network: str, deal_id: str, hour: int) -> Key:
    """The note that a network's click on a deal is counted in an hour, under a hash of the three, keyed with a salt."""
    digest = hmac.digest(salt.encode(), f"{network} {deal_id} {hour}".encode(), "sha256").hex()[:32]
    return _pair(f"COUNTEDCLICK#{digest}")


def like(topic: Topic, username: str) -> Key:
    return _pair(f"{topic.kind.prefix}LIKE#{topic.slug}#{username}")


def like_in_likes(topic: Topic, username: str) -> Key:
    return {"GSI1PK": likes(username), "GSI1SK": f"{topic.kind.prefix}#{topic.slug}"}


def topic_followed(key: str, kinds: tuple[TopicKind, ...]) -> Topic:
    """The topic that the partition key of a like or a watch names."""
    prefix, slug, *_ = key.split("#")
    return Topic({f"{kind.prefix}{how}": kind for kind in kinds for how in ("LIKE", "WATCH")}[prefix], slug)


def watch(topic: Topic, username: str) -> Key:
    return _pair(watchers(topic), f"USER#{username}")


def watchers(topic: Topic) -> str:
    """The partition of everyone who watches a topic."""
    return f"{topic.kind.prefix}WATCH#{topic.slug}"


def watch_in_watches(topic: Topic, username: str) -> Key:
    return {"GSI1PK": watches(username), "GSI1SK": f"{topic.kind.prefix}#{topic.slug}"}


def topic_named(key: str, kinds: tuple[TopicKind, ...]) -> Topic:
    """The topic that its own key, or the GSI1 sort key of a like or a watch, names. Raises KeyError, ValueError."""
    prefix, slug = key.split("#", 1)
    return Topic({kind.prefix: kind for kind in kinds}[prefix], slug)


def alert_in_words(word: str, username: str, alert_id: str) -> Key:
    return {"GSI1PK": words_alerts(word), "GSI1SK": f"USER#{username}#{alert_id}"}


def alert_in_prices(product: str, currency: str, price: int, username: str) -> Key:
    return {"GSI2PK": price_alerts(product, currency), "GSI2SK": offer_by_price(price, username)}


def price_alerts(product: str, currency: str) -> str:
    """The GSI2 partition of the alerts on a product, by their prices."""
    return f"PRODUCTWATCH#{product}#{currency}"


def featured(of: CuratedPage | Topic) -> Key:
    """The item that holds the deals picked for a page: the page's own, or a category's ``FEATURED``."""
    return _pair(of.prefix) if isinstance(of, CuratedPage) else _pair(topic(of)["PK"], "FEATURED")


def page_cache(page: CuratedPage, shard: int) -> Key:
    return _pair(f"{page.prefix}CACHE#{shard}")


def category_cache(category: str, shard: int) -> Key:
    return _pair(f"CATEGORYCACHE#{category}#{shard}")


def html_copy(copy: Key) -> Key:
    """The copy of a page's part as HTML, beside the one as JSON that has this key."""
    return _pair(copy["PK"], "HTML")


def fan_out_page(deal_id: str, kind: str, segment: int, start: str) -> Key:
    """The memory of one cohort of readers having been handled; ``start`` is the key it starts after, or empty."""
    digest = hashlib.sha256(start.encode()).hexdigest()[:32]
    return _pair(f"FANOUTPAGE#{deal_id}#{kind}#{segment}#{digest}")


def user_in_users(username: str) -> Key:
    return {"UserIndex": f"USER#{username}"}


def user_in_digests(username: str, hour: int) -> Key:
    return {"GSI1PK": digests(hour), "GSI1SK": f"USER#{username}"}


def digests(hour: int) -> str:
    """The GSI1 partition of those who are mailed the day's messages at an hour."""
    return f"DIGEST#{hour:02}"


def digest_receipt(account_id: str, day: str) -> Key:
    """The note that an account was mailed its messages on a day like ``2026-06-04``."""
    return _pair(f"DIGESTRECEIPT#{account_id}#{day}")


def user_in_removals(username: str) -> Key:
    return {"GSI1PK": removals(), "GSI1SK": f"USER#{username}"}


def removals() -> str:
    """The GSI1 partition of the names whose accounts are being removed."""
    return "REMOVALS"


def session_in_sessions(username: str, created_at: datetime) -> Key:
    return {"GSI1PK": sessions(username), "GSI1SK": f"SESSION#{to_iso(created_at)}"}


def attempts(kind: str, *who: str | int) -> Key:
    """The count of attempts of a kind in one window, its last part: of a user, of a network, or of one from another."""
    return _pair("#".join(["ATTEMPTS", kind, *map(str, who)]))


def known_network(username: str, network: str) -> Key:
    """The note that a user has signed in from a network, under a hash of both."""
    return _pair(f"ATTEMPTS#KNOWN#{hashlib.sha256(f'{username} {network}'.encode()).hexdigest()[:32]}")


def order(username: str, order_id: str) -> Key:
    """An order, in its owner's collection: its sort key is below the user's own, so one backward Query gives both."""
    return _pair(f"USER#{username}", order_sort_key(order_id))


def orders_before(order_id: str | None = None) -> str:
    """A bound in a user's collection: below it are the orders before one, or all of them."""
    return order_sort_key(order_id or "~")


def order_item(order_id: str, item_id: str) -> Key:
    return _pair(f"ORDER#{order_id}#ITEM#{item_id}")


def order_in_parts(order_id: str) -> Key:
    return {"GSI1PK": order_parts(order_id), "GSI1SK": f"ORDER#{order_id}"}


def order_in_history(username: str, status: str, placed_at: datetime, order_id: str) -> Key:
    return {"GSI2PK": order_history(username), "GSI2SK": _history_sort_key(status, placed_at, order_id)}


def history_before(status: str, placed_at: datetime | None = None, order_id: str = "~") -> str:
    """A bound in GSI2: below it are orders of a status, all of them or those before a time or an order."""
    return f"{status}#~" if placed_at is None else _history_sort_key(status, placed_at, order_id)


def _history_sort_key(status: str, placed_at: datetime, order_id: str) -> str:
    return f"{status}#{to_iso(placed_at)}#{order_id}"


def open_orders() -> str:
    """The partition of the container that knows which partitions of GSI3 have open orders."""
    return "OPENORDERS"


def open_orders_note(status: str, day: str, shard: int) -> Key:
    """The container's note that there are orders of a status, placed on a day like ``2026-06-04``, in a shard."""
    return _pair(open_orders(), f"{open_orders_prefix(status)}{day}T00:00:00#{shard}")


def open_orders_prefix(status: str) -> str:
    """The beginning of the sort keys of all notes of a status."""
    return f"{status}#"


def open_orders_noted(note: Mapping[str, object]) -> tuple[str, str]:
    """The day of a note, and the GSI3 partition that it is about."""
    day = str(note["SK"]).partition("#")[2][: len("2026-06-04")]
    return day, f"{open_orders()}#{note['SK']}"


def order_in_open(status: str, day: str, shard: int, order_id: str) -> Key:
    _, partition = open_orders_noted(open_orders_note(status, day, shard))
    return {"GSI3PK": partition, "GSI3SK": open_order_sort_key(order_id)}


def order_in_closed(status: str, order_id: str) -> Key:
    return {"GSI3PK": closed_orders_of(status), "GSI3SK": open_order_sort_key(order_id)}


def stock_shard(deal_id: str, shard: int) -> Key:
    """One part of a deal's stock, in a partition of its own; shards count from 1."""
    return _pair(f"STOCK#{deal_id}#{shard}")


def idempotency(account_id: str, client_key: str) -> Key:
    """The receipt of a client's Idempotency-Key; hashed, because clients choose its text."""
    return _pair(f"IDEMPOTENCY#{account_id}#{hashlib.sha256(client_key.encode()).hexdigest()}")


def backfill(item_type: str, segment: int, segments: int) -> Key:
    """The place that a scan for items of a type has reached in one of its segments."""
    return _pair(f"BACKFILL#{item_type}#{segments}#{segment}")


def scratch(visitor: str, run: str) -> str:
    """The partition of one run of a lesson, for a visitor of the textbook: nothing of the application is in it."""
    return f"{scratches()}{visitor}#{run}"


def scratches() -> str:
    """The beginning of the keys of all scratch partitions, in the table and its indexes."""
    return "LEARN#"


def trace_step(partition: str, function: str, record: str) -> Key:
    """A function's work on one record of the stream, or on one message of the queue."""
    return _pair(trace_steps(partition), f"STEP#{function}#{record}")


def any_like(key: Key | str) -> str:
    """The pattern, as IAM's policies have them, of the partition keys of one kind: ``DEAL#*``, ``BRANDS``."""
    kind, divider, _ = (key if isinstance(key, str) else key["PK"]).partition("#")
    return f"{kind}{divider}*" if divider else kind


def deal_of_stock(key: str) -> str:
    """The id of the deal that the key of a shard of stock names."""
    return key.split("#")[1]


def id_in(key: object) -> str:
    """The id or the name that ends a key: of a deal, a user, a message, an order."""
    return str(key).rpartition("#")[2]


def primary(item: Mapping[str, object]) -> Key:
    """The primary key of an item."""
    return {"PK": str(item["PK"]), "SK": str(item["SK"])}
