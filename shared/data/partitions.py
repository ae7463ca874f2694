"""The partitions that roles may be limited to, as IAM patterns of their keys.

They come from the rows in ``entities.py``, so that a role (``infra/rights.py``) and the code agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from shared import features, hooks
from shared.data import keys
from shared.data.entities import PLACES, ROWS, SCRATCHES
from shared.data.entity import Shown
from shared.dynamodb.attributes import Entity
from shared.dynamodb.schema import GSI1, GSI2, GSI3, INDEXES, Index
from shared.models.catalog import BRAND, CATEGORY, EDITORS_CHOICE, FRONT_PAGE

FORMS: dict[tuple[str, Index | None], list[str]] = {}
"""The patterns of the partitions that hold a type's items in the table (None) or an index."""

for _row in ROWS:
    for _place in (_row.own, *_row.places):
        FORMS.setdefault((_row.type, _place.index), []).append(keys.pattern_of(_place.partition))


def of(type_: str, index: Index | None = None) -> str:
    """The pattern of a type's partitions in the table or an index; the first, if there are several."""
    return FORMS[type_, index][0]


def attributes(type_: str) -> tuple[str, ...]:
    """All attributes that a type's items may have, with those of its keys in indexes."""
    (row,) = (row for row in ROWS if row.type == type_)
    indexes = dict.fromkeys(place.index for place in row.places if place.index)
    of_indexes = (name for index in indexes for name in (index.partition_key, index.sort_key) if name)
    return tuple(dict.fromkeys(("Type", *row.required, *row.may.split(), *row.hides, *of_indexes)))


COUNTS = ("Type", "Total", *(f"Day{day:02}" for day in range(1, 32)), *(f"Month{month:02}" for month in range(1, 13)))
"""Attributes of a feed's counts of deals, which are in the partition of its brand or category."""

PICKS = attributes(keys.CATEGORY_FEATURED)
"""Attributes of a category's picks, which are in its partition, too."""

DEAL = of(keys.DEAL)
DEAL_NUMBER = of(keys.DEAL_NUMBER)
DEAL_SOURCE = of(keys.DEAL_SOURCE)
SEQUENCES = of(keys.SEQUENCE)
LOG = of(keys.LOG_LINE)
SHOP = of(keys.SHOP)
DEALS = of(keys.PERIODS)
"""The counts of all deals only."""

PRODUCT = of(keys.PRODUCT_OFFER)
WORD = of(keys.WORD)
WORDS = of(keys.WORD_COUNT)

ENDINGS = of(keys.ENDINGS)
ENDINGS_OF_DAYS = of(keys.ENDING)

BRAND_ITEM, CATEGORY_ITEM = TOPICS = tuple(map(of, (keys.TOPIC[BRAND], keys.TOPIC[CATEGORY])))
BRANDS = of(keys.BRANDS)
LIKES = tuple(map(of, (keys.LIKE[BRAND], keys.LIKE[CATEGORY])))
WATCHES = tuple(map(of, (keys.WATCH[BRAND], keys.WATCH[CATEGORY])))

CURATED = tuple(map(of, keys.CURATED))
FEED_CACHES = (of(keys.DEALS_CACHE), of(keys.CATEGORY_CACHE))
PICKS_CACHES = tuple(of(f"{page.type}Cache") for page in (FRONT_PAGE, EDITORS_CHOICE))

FAN_OUT = of(keys.FAN_OUT)
FAN_OUT_PAGE = of(keys.FAN_OUT_PAGE)

USER = of(keys.USER)
"""A user's collection: the User item, and items of features."""

ADDED_TO_USERS = tuple(
    name for each in features.roles(hooks.AccountFields) if each.ACCOUNT for name in Entity(each.ACCOUNT).names
)
"""Attributes that features add to a User item. Whoever reads one as a user asks for them all."""

ACCOUNT = of(keys.ACCOUNT)
PASSWORD = of(keys.PASSWORD)
USER_EMAIL = of(keys.USER_EMAIL)
SESSION = of(keys.SESSION)
MESSAGES = of(keys.MESSAGE)
"""In the table and, while unread, in GSI1."""

ALERTS = of(keys.PRICE_ALERT)

ATTEMPTS = of(keys.ATTEMPTS)
IDEMPOTENCY = of(keys.IDEMPOTENCY)

ALL_DEALS_BY_DAY, BRAND_BY_MONTH, CATEGORY_BY_DAY = (of(keys.DEAL, index) for index in (GSI1, GSI2, GSI3))
"""Partitions of GSI1, GSI2 and GSI3 that hold deals."""

CATEGORY_BY_DISCOUNT, BRAND_BY_PRICE, CATEGORY_BY_PRICE = (
    of(keys.PRODUCT_OFFER, index) for index in (GSI1, GSI2, GSI3)
)
"""Partitions of GSI1, GSI2 and GSI3 that hold offers of listed deals."""

LIKES_OF_USERS = of(keys.LIKE[BRAND], GSI1)
WATCHES_OF_USERS = of(keys.WATCH[BRAND], GSI1)
SESSIONS_OF_USERS = of(keys.SESSION, GSI1)
REMOVALS = of(keys.REMOVAL, GSI1)
"""GSI1: a user's items."""

WORDS_ALERTS = of(keys.WORDS_ALERT, GSI1)
JOINED_ALERTS = of(keys.WORDS_ALERT, GSI2)
PRICE_ALERTS = of(keys.PRICE_ALERT, GSI2)
"""GSI1 and GSI2: the alerts to notify of a deal."""

SCRATCH = keys.pattern_of(SCRATCHES[0].partition)
"""Scratch partitions in the table and its indexes. DynamoDB deletes their items after an hour."""


_PLACES = {
    index.name if index else None: [place for place in PLACES if place.index == index] for index in (None, *INDEXES)
}


def _shown(*shown: Shown) -> Mapping[str | None, tuple[str, ...]]:
    """The patterns of partitions, by index (None: the table), that have one of these visibilities."""
    return {
        name: tuple(dict.fromkeys(keys.pattern_of(at.partition) for at in places if at.shown in shown))
        for name, places in _PLACES.items()
    }


OPEN = _shown(Shown.OPEN)
"""Partitions of the catalog, by index, which everyone may read and which hold no personal data."""

PERSONAL = _shown(Shown.PARTLY)
"""Partitions, by index, of whose items only ``SHOWN_ATTRIBUTES`` are read."""

VISIBLE = _shown(Shown.OPEN, Shown.WHOLE, Shown.PARTLY)
"""Partitions, by index, that are drawn on stages that show their work."""

HIDDEN: Mapping[str | None, Mapping[str, str]] = {
    name: {keys.pattern_of(at.partition): at.because for at in places if at.because} for name, places in _PLACES.items()
}
"""Partitions, by index, that aren't drawn, each with the reason."""

HIDDEN_ATTRIBUTES = {row.type: row.hides for row in ROWS if row.hides}
"""Attributes in ``PERSONAL`` partitions that aren't drawn, by item type, each with the reason."""

SHOWN_ATTRIBUTES = tuple(
    dict.fromkeys(
        name
        for row in ROWS
        if any(place.shown is Shown.PARTLY for place in (row.own, *row.places))
        for name in ("Type", *row.required, *row.may.split())
        if name not in row.hides
    )
)
"""Attributes that are drawn, besides the keys. The drawing function's role can read no others."""


def matches(partition: str, patterns: Iterable[str]) -> bool:
    """Whether a partition key matches one of the patterns."""
    return any(fnmatchcase(partition, pattern) for pattern in patterns)
