"""The entity chart: every type of item, with its key in the table and its places in the indexes.

The keys are made by the functions that make the real ones, of names such as ``<DealId>`` in the place of values.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from shared.data import item_types as t
from shared.data import keys
from shared.dynamodb.schema import PARTITION_KEY, SORT_KEY, Index, Key
from shared.models.catalog import ALL_DEALS, BRAND, CATEGORY, EDITORS_CHOICE, FRONT_PAGE, Topic, feed_of

_TIME = datetime(1, 1, 1, tzinfo=UTC)
_PERIOD = "0001-01-01"
_NUMBER = -1

_NAMED = (
    (re.compile(r"0001-01-01T00:00:00Z"), "<Time>"),
    (re.compile(r"\b0001-01\b"), "<Month>"),
    (re.compile(r"\b0001\b"), "<Year>"),
    (re.compile(r"\b[0-9a-f]{32,64}\b"), "<Hash>"),
    (re.compile(r"(?<=#)-1\b"), "<Number>"),
    (re.compile(r"^-0{12}1(?=#)"), "<Price>"),
    (re.compile(r"^-01(?=#)"), "<Percent>"),
    (re.compile(r"\b0999999999\b"), "<Rank>"),
    (re.compile(r"<W$"), "<First two letters>"),
    (re.compile(r"(?<=>)T00:00:00"), ""),
)
"""Parts of keys that are made of a time, a number or a hash, or are cut off, and the names that stand for them."""

_BRAND, _CATEGORY = Topic(BRAND, "<Brand>"), Topic(CATEGORY, "<Category>")


@dataclass(frozen=True, slots=True)
class Entity:
    """Items of one type and one form of key; ``places`` are all attributes that they may have in indexes."""

    type: str
    key: Key
    places: Key

    def at(self, index: Index | None) -> tuple[str, str] | None:
        """Its partition key and sort key (or an empty text) in the table or an index; None where it is not there."""
        if index is None:
            return self.key[PARTITION_KEY], self.key[SORT_KEY]
        if index.partition_key not in self.places:
            return None
        return self.places[index.partition_key], self.places[index.sort_key] if index.sort_key else ""


def _entity(type_: str, key: Key, places: Key | None = None) -> Entity:
    return Entity(type_, _named(key), _named(places or {}))


def _named(key: Key) -> Key:
    named = dict(key)
    for part, name in _NAMED:
        named = {attribute: part.sub(name, value) for attribute, value in named.items()}
    return named


_ORDER_PLACES = keys.order_in_parts("<OrderId>") | keys.order_in_history("<Username>", "<Status>", _TIME, "<OrderId>")

_AT_DESK = (
    keys.order_in_open("<Status>", "<Day>", _NUMBER, "<OrderId>"),
    keys.order_in_closed("<Status>", "<OrderId>"),
)
"""The places of an order, or of what stays of it, in the desk's lists: while it is open, and from then on."""


CHART: Mapping[str, tuple[Entity, ...]] = {
    "Deals": (
        _entity(
            t.DEAL,
            keys.deal("<DealId>"),
            keys.deal_in_feeds("<DealId>", day="<Day>", brand="<Brand>", month="<Month>", category="<Category>"),
        ),
        _entity(t.DEAL_NUMBER, keys.deal_number(_NUMBER)),
        _entity(t.DEAL_SOURCE, keys.deal_source("<SourceId>")),
        _entity(
            t.PRODUCT_OFFER,
            keys.product_offer("<Hash>", "<DealId>"),
            keys.offer_of_listed(
                "<DealId>",
                brand="<Brand>",
                category="<Category>",
                price=_NUMBER,
                currency="<Currency>",
                percent=_NUMBER,
            ),
        ),
        _entity(
            t.PRODUCT_OFFER,
            keys.product_offer("<Hash>", "<DealId>"),
            keys.offer_of_ended("<DealId>", "<Brand>", "<Category>"),
        ),
        _entity(t.ENDING, keys.ending("<Day>", _TIME, "<DealId>")),
        _entity(t.ENDINGS, keys.endings()),
        _entity(t.DRAFT, keys.draft("<Editor>", "<DealId>")),
        _entity(t.BEGINNING, keys.beginning(_TIME, "<DealId>")),
        _entity(t.CLICKS, keys.clicks("<DealId>")),
        _entity(t.COUNTED_CLICK, keys.counted_click("", "", "", 0)),
        _entity(t.SCORE, keys.score("<DealId>"), keys.score_in_popular("<DealId>", "<Month>", _NUMBER)),
        _entity(t.LOG_LINE, keys.log_line("<DealId>", "<LineId>")),
        _entity(t.SHOP, keys.shop("<Host>")),
        _entity(t.FAN_OUT, keys.fan_out_segment("<DealId>", "<Segment>")),
        _entity(t.FAN_OUT_PAGE, keys.fan_out_page("<DealId>", "<Kind>", _NUMBER, "")),
    ),
    "Brands and categories": (
        _entity(t.TOPIC[BRAND], keys.topic(_BRAND)),
        _entity(t.BRANDS, keys.brands()),
        _entity(t.TOPIC[CATEGORY], keys.topic(_CATEGORY)),
        _entity(t.PERIODS, keys.periods(ALL_DEALS, _PERIOD)),
        _entity(t.PERIODS, keys.periods(feed_of(_CATEGORY), _PERIOD)),
        _entity(t.PERIODS, keys.periods(feed_of(_BRAND), _PERIOD)),
        *(
            _entity(t.LIKE[of.kind], keys.like(of, "<Username>"), keys.like_in_likes(of, "<Username>"))
            for of in (_BRAND, _CATEGORY)
        ),
        *(
            _entity(t.WATCH[of.kind], keys.watch(of, "<Username>"), keys.watch_in_watches(of, "<Username>"))
            for of in (_BRAND, _CATEGORY)
        ),
    ),
    "Picks, and copies of pages": (
        _entity(FRONT_PAGE.type, keys.featured(FRONT_PAGE)),
        _entity(EDITORS_CHOICE.type, keys.featured(EDITORS_CHOICE)),
        _entity(t.CATEGORY_FEATURED, keys.featured(_CATEGORY)),
        _entity(t.DEALS_CACHE, keys.deals_cache("<Shard>")),
        _entity(t.CATEGORY_CACHE, keys.category_cache("<Category>", _NUMBER)),
        *(_entity(f"{page.type}Cache", keys.page_cache(page, _NUMBER)) for page in (FRONT_PAGE, EDITORS_CHOICE)),
    ),
    "Search": (
        _entity(t.WORD, keys.word_of_deal("<Word>", "<DealId>")),
        _entity(t.WORD_COUNT, keys.word_count("<Word>")),
    ),
    "Members": (
        _entity(
            t.USER,
            keys.user("<Username>"),
            {**keys.user_in_users("<Username>"), **keys.user_in_digests("<Username>", _NUMBER)},
        ),
        _entity(t.REMOVAL, keys.user("<Username>"), keys.user_in_removals("<Username>")),
        _entity(t.ACCOUNT, keys.account("<Username>")),
        _entity(t.PASSWORD, keys.password("<Username>")),
        _entity(t.USER_EMAIL, keys.user_email("<Email>")),
        _entity(t.SESSION, keys.session("<Hash>"), keys.session_in_sessions("<Username>", _TIME)),
        _entity(t.EMAIL_TOKEN, keys.email_token("<Hash>")),
        _entity(t.DIGEST_RECEIPT, keys.digest_receipt("<AccountId>", "<Day>")),
        _entity(
            t.MESSAGE, keys.message("<Username>", "<MessageId>"), keys.message_in_unread("<Username>", "<MessageId>")
        ),
        _entity(
            t.PRICE_ALERT,
            keys.alert("<Username>", "price-<LinkHash>"),
            keys.alert_in_prices("<LinkHash>", "<Currency>", _NUMBER, "<Username>"),
        ),
        _entity(
            t.WORDS_ALERT,
            keys.alert("<Username>", "words-<WordsHash>"),
            keys.alert_in_words("<Word>", "<Username>", "words-<WordsHash>")
            | keys.alert_in_joined("<Joined>", "<Username>", "words-<WordsHash>"),
        ),
        _entity(t.FEED_KEY, keys.feed_key("<Hash>")),
        _entity(t.FEED_KEY, keys.feed("<Username>")),
        _entity(t.SAVED, keys.saved("<Username>", "<DealId>")),
        _entity(t.VOTE, keys.vote("<Username>", "<DealId>")),
    ),
    "The shop": (
        *(_entity(t.ORDER, keys.order("<Username>", "<OrderId>"), _ORDER_PLACES | place) for place in _AT_DESK),
        _entity(
            t.ORDER_ITEM, keys.order_item("<OrderId>", "<ItemId>"), keys.order_item_in_parts("<OrderId>", "<ItemId>")
        ),
        _entity(t.ORDER_NUMBER, keys.order_number(_NUMBER)),
        *(_entity(t.SALE, keys.sale("<OrderId>"), place) for place in _AT_DESK),
        _entity(t.CART_ITEM, keys.cart_item("<Username>", "<DealId>")),
        _entity(t.CART_MARK, keys.cart_mark("<Username>")),
        _entity(t.STOCK, keys.stock_shard("<DealId>", _NUMBER)),
        _entity(t.STOCK_NOTE, keys.stock("<DealId>")),
        _entity(t.OPEN_ORDERS, keys.open_orders_note("<Status>", "<Day>", _NUMBER)),
    ),
    "Upkeep": (
        _entity(t.SEQUENCE, keys.deal_numbers()),
        _entity(t.SEQUENCE, keys.order_numbers()),
        _entity(t.ATTEMPTS, keys.attempts("<Kind>", "<Who>", _NUMBER)),
        _entity(t.IDEMPOTENCY, keys.idempotency("<AccountId>", "")),
        _entity(t.BACKFILL, keys.backfill("<Type>", _NUMBER, _NUMBER)),
        _entity(t.TRACE, keys.trace("<TraceId>")),
        _entity(t.TRACE_STEP, keys.trace_step("<Partition>", "<Function>", "<Record>")),
    ),
}
"""The entities, by what they belong to."""
