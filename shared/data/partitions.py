"""The kinds of partitions that roles are cut to, as IAM's policies name them: a pattern of each one's keys.

They are those of the rows in ``entities.py``, so that a role (``infra/rights.py``) and the code mean the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from shared.data import item_types as t
from shared.data import keys
from shared.data.entities import PLACES, ROWS, SCRATCHES
from shared.data.entity import Shown
from shared.dynamodb.schema import GSI1, GSI2, GSI3, INDEXES, Index
from shared.models.catalog import BRAND, CATEGORY, EDITORS_CHOICE, FRONT_PAGE

FORMS: dict[tuple[str, Index | None], list[str]] = {}
"""The patterns of the partitions that hold a type's items in the table (None) or an index."""

for _row in ROWS:
    for _place in (_row.own, *_row.places):
        FORMS.setdefault((_row.type, _place.index), []).append(keys.pattern_of(_place.partition))


def of(type_: str, index: Index | None = None) -> str:
    """The pattern of the partitions that hold a type's items: the first one, where they have more."""
    return FORMS[type_, index][0]


DEAL = of(t.DEAL)
DEAL_NUMBER = of(t.DEAL_NUMBER)
DEAL_SOURCE = of(t.DEAL_SOURCE)
SEQUENCES = of(t.SEQUENCE)
DEAL_CLICKS = of(t.CLICKS)
COUNTED_CLICK = of(t.COUNTED_CLICK)
SCORE = of(t.SCORE)
LOG = of(t.LOG_LINE)
SHOP = of(t.SHOP)
DEALS = of(t.PERIODS)
"""The counts of all deals, and nothing else."""

PRODUCT = of(t.PRODUCT_OFFER)
WORD = of(t.WORD)
WORDS = of(t.WORD_COUNT)

ENDINGS = of(t.ENDINGS)
ENDINGS_OF_DAYS = of(t.ENDING)
BEGINNINGS = of(t.BEGINNING)

BRAND_ITEM, CATEGORY_ITEM = TOPICS = tuple(map(of, (t.TOPIC[BRAND], t.TOPIC[CATEGORY])))
BRANDS = of(t.BRANDS)
LIKES = tuple(map(of, (t.LIKE[BRAND], t.LIKE[CATEGORY])))
WATCHES = tuple(map(of, (t.WATCH[BRAND], t.WATCH[CATEGORY])))

CURATED = tuple(map(of, t.CURATED))
FEED_CACHES = (of(t.DEALS_CACHE), of(t.CATEGORY_CACHE))
PICKS_CACHES = tuple(of(f"{page.type}Cache") for page in (FRONT_PAGE, EDITORS_CHOICE))

FAN_OUT = of(t.FAN_OUT)
FAN_OUT_PAGE = of(t.FAN_OUT_PAGE)

USER = of(t.USER)
"""A user's collection: the account's own item, and what features keep beside it."""

ACCOUNT = of(t.ACCOUNT)
PASSWORD = of(t.PASSWORD)
USER_EMAIL = of(t.USER_EMAIL)
SESSION = of(t.SESSION)
MESSAGES = of(t.MESSAGE)
"""In the table and, while unread, in GSI1."""

SAVED = of(t.SAVED)
VOTES = of(t.VOTE)
DRAFTS = of(t.DRAFT)
ALERTS = of(t.PRICE_ALERT)
FEED_KEY = of(t.FEED_KEY)
FEED = FORMS[t.FEED_KEY, None][-1]

ATTEMPTS = of(t.ATTEMPTS)
IDEMPOTENCY = of(t.IDEMPOTENCY)
BACKFILL = of(t.BACKFILL)

ALL_DEALS_BY_DAY, BRAND_BY_MONTH, CATEGORY_BY_DAY = (of(t.DEAL, index) for index in (GSI1, GSI2, GSI3))
"""Partitions of GSI1, GSI2 and GSI3 that hold deals."""

CATEGORY_BY_DISCOUNT, BRAND_BY_PRICE, CATEGORY_BY_PRICE = (of(t.PRODUCT_OFFER, index) for index in (GSI1, GSI2, GSI3))
"""Partitions of GSI1, GSI2 and GSI3 that hold offers of listed deals."""

POPULAR = of(t.SCORE, GSI1)
"""Partitions of GSI1 that hold the scores of a month's deals by their rank."""

LIKES_OF_USERS = of(t.LIKE[BRAND], GSI1)
WATCHES_OF_USERS = of(t.WATCH[BRAND], GSI1)
SESSIONS_OF_USERS = of(t.SESSION, GSI1)
REMOVALS = of(t.REMOVAL, GSI1)
"""Partitions of GSI1 that hold what is a user's."""

WORDS_ALERTS = of(t.WORDS_ALERT, GSI1)
JOINED_ALERTS = of(t.WORDS_ALERT, GSI2)
PRICE_ALERTS = of(t.PRICE_ALERT, GSI2)
"""Partitions of GSI1 and of GSI2 that say whom to notify of a deal."""

SCRATCH = keys.pattern_of(SCRATCHES[0].partition)
"""Partitions for trial requests, in the table and its indexes. DynamoDB deletes their items after an hour."""


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
"""Partitions of the table (None) and its indexes that hold the catalog, which everyone may read, and no personal
data."""

PERSONAL = _shown(Shown.PARTLY)
"""Partitions of the table (None) and its indexes with items whose ``SHOWN_ATTRIBUTES`` alone are read."""

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
"""Their attributes that are drawn, in addition to the keys. The role of who draws them can ask for no other."""


def matches(partition: str, patterns: Iterable[str]) -> bool:
    """Whether a partition key is of one of some kinds."""
    return any(fnmatchcase(partition, pattern) for pattern in patterns)
