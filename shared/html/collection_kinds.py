"""The kinds of item collections: what each is, and the access patterns that read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from shared.data import keys
from shared.data import partitions as p
from shared.html.patterns import PATTERNS
from shared.models.catalog import BRAND, CATEGORY, Topic


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of collection: what one is, and the numbers of the access patterns that ask for it (docs/patterns.md)."""

    name: str
    numbers: str = ""

    @property
    def patterns(self) -> list[tuple[str, str]]:
        """The numbers and the names of those patterns."""
        return [(number, PATTERNS[number].name) for number in self.numbers.split()]


_OF_BRAND, _OF_CATEGORY = (keys.ended(Topic(kind, "*")) for kind in (BRAND, CATEGORY))

_SCRATCH = Kind("a run of a lesson")

KINDS: Mapping[str | None, Mapping[str, Kind]] = {
    None: {
        p.DEAL: Kind("a deal", "12"),
        p.DEAL_NUMBER: Kind("a deal's number", "12"),
        p.DEAL_SOURCE: Kind("the source of a deal", "1"),
        p.DEAL_SEQUENCE: Kind("a sequence of numbers", "1 30"),
        p.DEAL_CLICKS: Kind("the clicks on a deal", "39"),
        p.SCORE: Kind("the score of a deal", "46"),
        p.LOG: Kind("who changed what of a deal", "54"),
        p.SHOP: Kind("what a shop usually sells", "55"),
        p.DEALS: Kind("the counts of all deals", "7"),
        p.PRODUCT: Kind("a product", "37"),
        p.WORD: Kind("a word", "36"),
        p.WORDS: Kind("the words that begin alike", "36"),
        p.ENDINGS: Kind("how far ended deals are swept", "26"),
        p.ENDINGS_OF_DAYS: Kind("what ends on a day", "40"),
        p.BRAND_ITEM: Kind("a brand", "10"),
        p.CATEGORY_ITEM: Kind("a category", "8"),
        p.BRANDS: Kind("all brands", "11"),
        p.LIKES[0]: Kind("a like of a brand", "14"),
        p.LIKES[1]: Kind("a like of a category", "16"),
        p.WATCHES[0]: Kind("the watchers of a brand", "15 22"),
        p.WATCHES[1]: Kind("the watchers of a category", "17 23"),
        p.CURATED[0]: Kind("the front page's picks", "4"),
        p.CURATED[1]: Kind("the editor's choice", "6"),
        **dict.fromkeys((p.FEED_CACHES[0], p.PICKS_CACHES[0]), Kind("a copy of a page", "7")),
        p.FEED_CACHES[1]: Kind("a copy of a category's page", "8"),
        p.PICKS_CACHES[1]: Kind("a copy of a page", "9"),
        **dict.fromkeys((p.FAN_OUT, p.FAN_OUT_PAGE), Kind("how far a hot deal was told", "21")),
        p.MESSAGES: Kind("a user's messages", "18"),
        p.SAVED: Kind("a user's saved deals", "38"),
        p.VOTES: Kind("a user's votes", "46"),
        p.ALERTS: Kind("a user's alerts", "50"),
        p.USER: Kind("a user and the orders", "28"),
        p.ACCOUNT: Kind("an account", "13"),
        p.ORDER_PARTS: Kind("an item of an order", "31"),
        p.ORDER_NUMBER: Kind("an order's number", "31"),
        p.OPEN_ORDERS: Kind("where open orders are", "34"),
        p.CART: Kind("a cart", "29"),
        p.STOCK: Kind("the stock of a deal", "35"),
        p.SALE: Kind("what stays of an order", "31"),
        p.BACKFILL: Kind("how far a backfill is"),
        p.SCRATCH: _SCRATCH,
        p.TRACE: Kind("what a form took"),
    },
    "GSI1": {
        p.ALL_DEALS_BY_DAY: Kind("a day of all deals", "7"),
        p.CATEGORY_BY_DISCOUNT: Kind("a category by discount", "45"),
        p.POPULAR: Kind("a month's deals by rank", "47"),
        p.MESSAGES: Kind("a user's unread messages", "19"),
        p.LIKES_OF_USERS: Kind("a user's likes", "25"),
        p.WATCHES_OF_USERS: Kind("a user's watches", "25"),
        p.WORDS_ALERTS: Kind("the alerts on a word", "51"),
        p.ORDER_PARTS: Kind("an order and its items", "31"),
        p.SCRATCH: _SCRATCH,
    },
    "GSI2": {
        _OF_BRAND: Kind("ended deals of a brand", "41"),
        p.BRAND_BY_MONTH: Kind("a month of a brand", "10"),
        p.BRAND_BY_PRICE: Kind("a brand by price", "44"),
        p.PRICE_ALERTS: Kind("the alerts on a product, by price", "51"),
        p.JOINED_ALERTS: Kind("the alerts on a hyphenated word", "51"),
        p.ORDER_HISTORY: Kind("a user's orders by status", "32"),
        p.SCRATCH: _SCRATCH,
    },
    "GSI3": {
        _OF_CATEGORY: Kind("ended deals of a category", "41"),
        p.CATEGORY_BY_DAY: Kind("a day of a category", "8"),
        p.CATEGORY_BY_PRICE: Kind("a category by price", "43"),
        p.OPEN_ORDERS_OF_DAYS: Kind("open orders of a day", "34"),
        p.CLOSED_ORDERS: Kind("closed orders", "34"),
        p.SCRATCH: _SCRATCH,
    },
    "UserIndex": {p.USER: Kind("a user, to be told", "21")},
}
"""The kinds of collections of the table (None) and its indexes, by the patterns of their partition keys."""


def kind_of(partition: str, index: str | None) -> Kind | None:
    """The kind of a collection; None where no key of ours is like this."""
    found = (kind for pattern, kind in KINDS.get(index, {}).items() if fnmatchcase(partition, pattern))
    return next(found, None)


def hidden_because(partition: str, index: str | None) -> str:
    """Why a collection is not drawn, or an empty text."""
    reasons = (because for pattern, because in p.HIDDEN.get(index, {}).items() if fnmatchcase(partition, pattern))
    return next(reasons, "")
