"""The kinds of partitions that roles are cut to, as IAM's policies name them: a pattern of each one's keys.

They are those of the rows in ``entities.py``, so that a role (``infra/rights.py``) and the code mean the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from shared.data import item_types as t
from shared.data import keys
from shared.data.entities import PLACES, ROWS, SCRATCHES, Shown
from shared.dynamodb.schema import GSI1, GSI2, GSI3, INDEXES, KEYS, Index
from shared.models.catalog import BRAND, CATEGORY, EDITORS_CHOICE, FRONT_PAGE

_FORMS: dict[tuple[str, Index | None], list[str]] = {}
"""The patterns of the partitions that hold a type's items in the table (None) or an index."""

for _row in ROWS:
    for _place in (_row.own, *_row.places):
        _FORMS.setdefault((_row.type, _place.index), []).append(keys.pattern_of(_place.partition))


def _of(type_: str, index: Index | None = None) -> str:
    """The pattern of the partitions that hold a type's items: the first one, where they have more."""
    return _FORMS[type_, index][0]


DEAL = _of(t.DEAL)
DEAL_NUMBER = _of(t.DEAL_NUMBER)
DEAL_SOURCE = _of(t.DEAL_SOURCE)
DEAL_SEQUENCE = ORDER_SEQUENCE = _of(t.SEQUENCE)
DEAL_CLICKS = _of(t.CLICKS)
COUNTED_CLICK = _of(t.COUNTED_CLICK)
SCORE = _of(t.SCORE)
LOG = _of(t.LOG_LINE)
SHOP = _of(t.SHOP)
DEALS = _of(t.PERIODS)
"""The counts of all deals, and nothing else."""

PRODUCT = _of(t.PRODUCT_OFFER)
WORD = _of(t.WORD)
WORDS = _of(t.WORD_COUNT)

ENDINGS = _of(t.ENDINGS)
ENDINGS_OF_DAYS = _of(t.ENDING)
BEGINNINGS = _of(t.BEGINNING)

BRAND_ITEM, CATEGORY_ITEM = TOPICS = tuple(map(_of, (t.TOPIC[BRAND], t.TOPIC[CATEGORY])))
BRANDS = _of(t.BRANDS)
LIKES = tuple(map(_of, (t.LIKE[BRAND], t.LIKE[CATEGORY])))
WATCHES = tuple(map(_of, (t.WATCH[BRAND], t.WATCH[CATEGORY])))

CURATED = tuple(map(_of, t.CURATED))
FEED_CACHES = (_of(t.DEALS_CACHE), _of(t.CATEGORY_CACHE))
PICKS_CACHES = tuple(_of(f"{page.type}Cache") for page in (FRONT_PAGE, EDITORS_CHOICE))

FAN_OUT = _of(t.FAN_OUT)
FAN_OUT_PAGE = _of(t.FAN_OUT_PAGE)

USER = _of(t.USER)
"""A user's collection: the account's own item, and the orders."""

ACCOUNT = _of(t.ACCOUNT)
PASSWORD = _of(t.PASSWORD)
USER_EMAIL = _of(t.USER_EMAIL)
SESSION = _of(t.SESSION)
EMAIL_TOKEN = _of(t.EMAIL_TOKEN)
DIGEST_RECEIPT = _of(t.DIGEST_RECEIPT)
DIGESTS = _of(t.USER, GSI1)
MESSAGES = _of(t.MESSAGE)
"""In the table and, while unread, in GSI1."""

SAVED = _of(t.SAVED)
VOTES = _of(t.VOTE)
DRAFTS = _of(t.DRAFT)
ALERTS = _of(t.PRICE_ALERT)
FEED_KEY = _of(t.FEED_KEY)
FEED = _FORMS[t.FEED_KEY, None][-1]

ORDER_PARTS = _of(t.ORDER_ITEM)
"""In the table an order's items; in GSI1 those and the order."""

SALE = _of(t.SALE)
ORDER_NUMBER = _of(t.ORDER_NUMBER)
ORDER_HISTORY = _of(t.ORDER, GSI2)
OPEN_ORDERS = _of(t.OPEN_ORDERS)
OPEN_ORDERS_OF_DAYS = _of(t.ORDER, GSI3)
CLOSED_ORDERS = _FORMS[t.ORDER, GSI3][-1]
CART = _of(t.CART_ITEM)
STOCK = _of(t.STOCK)
SOLD_HERE = _of(t.STOCK_NOTE, GSI1)

ATTEMPTS = _of(t.ATTEMPTS)
IDEMPOTENCY = _of(t.IDEMPOTENCY)
BACKFILL = _of(t.BACKFILL)

ALL_DEALS_BY_DAY, BRAND_BY_MONTH, CATEGORY_BY_DAY = (_of(t.DEAL, index) for index in (GSI1, GSI2, GSI3))
"""Partitions of GSI1, GSI2 and GSI3 that hold deals."""

CATEGORY_BY_DISCOUNT, BRAND_BY_PRICE, CATEGORY_BY_PRICE = (_of(t.PRODUCT_OFFER, index) for index in (GSI1, GSI2, GSI3))
"""Partitions of GSI1, GSI2 and GSI3 that hold offers of listed deals."""

POPULAR = _of(t.SCORE, GSI1)
"""Partitions of GSI1 that hold the scores of a month's deals by their rank."""

LIKES_OF_USERS = _of(t.LIKE[BRAND], GSI1)
WATCHES_OF_USERS = _of(t.WATCH[BRAND], GSI1)
SESSIONS_OF_USERS = _of(t.SESSION, GSI1)
REMOVALS = _of(t.REMOVAL, GSI1)
"""Partitions of GSI1 that hold what is a user's."""

WORDS_ALERTS = _of(t.WORDS_ALERT, GSI1)
JOINED_ALERTS = _of(t.WORDS_ALERT, GSI2)
PRICE_ALERTS = _of(t.PRICE_ALERT, GSI2)
"""Partitions of GSI1 and of GSI2 that say whom to tell of a deal."""

SCRATCH = keys.pattern_of(SCRATCHES[0].partition)
"""Partitions for trial requests, in the table and its indexes. DynamoDB deletes their items after an hour."""

TRACE = _of(t.TRACE)
"""The costs of forms, and of what followed; DynamoDB deletes them after ten minutes."""


_PLACES = {
    index.name if index else None: [place for place in PLACES if place.index == index] for index in (None, *INDEXES)
}


def _shown(*shown: Shown) -> Mapping[str | None, tuple[str, ...]]:
    """The patterns of the partitions of the table (None) and each index that are shown so."""
    return {
        name: tuple(dict.fromkeys(keys.pattern_of(at.partition) for at in places if at.shown in shown))
        for name, places in _PLACES.items()
    }


OPEN = _shown(Shown.OPEN)
"""Partitions of the table (None) and its indexes that hold the catalog, which everybody may read, and nobody's own."""

PERSONAL = _shown(Shown.PARTLY)
"""Partitions of the table (None) and its indexes with items of which only ``SHOWN_ATTRIBUTES`` is read."""

VISIBLE = _shown(Shown.OPEN, Shown.WHOLE, Shown.PARTLY)
"""Partitions of the table (None) and its indexes that stages that show their work draw."""

HIDDEN: Mapping[str | None, Mapping[str, str]] = {
    name: {keys.pattern_of(at.partition): at.because for at in places if at.because} for name, places in _PLACES.items()
}
"""Partitions of the table (None) and its indexes that are not drawn, each with the reason."""

HIDDEN_ATTRIBUTES = {row.type: row.hides for row in ROWS if row.hides}
"""Attributes of the items in ``PERSONAL`` partitions that are not drawn, by the items' types, each with the reason."""

SHOWN_ATTRIBUTES = tuple(
    dict.fromkeys(
        name
        for row in ROWS
        if any(place.shown is Shown.PARTLY for place in (row.own, *row.places))
        for name in ("Type", *row.required, *row.may.split())
        if name not in row.hides
    )
)
"""Their attributes that are drawn, besides the keys. The role of who draws them can ask for no other."""

COUNTED = ("Type", *KEYS)
"""The attributes of all items that are read to count them."""


def matches(partition: str, patterns: Iterable[str]) -> bool:
    """Whether a partition key is of one of some kinds."""
    return any(fnmatchcase(partition, pattern) for pattern in patterns)
