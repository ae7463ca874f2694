"""The kinds of partitions that roles are cut to, as IAM's policies name them: a pattern of each one's keys.

They are made by the functions that make the keys, so that a role (``infra/rights.py``) and the code mean the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from fnmatch import fnmatchcase

from shared.data import item_types, keys
from shared.dynamodb.schema import KEYS
from shared.models.catalog import ALL_DEALS, BRAND, CATEGORY, EDITORS_CHOICE, FRONT_PAGE, Topic, feed_of

_TOPICS = (Topic(BRAND, ""), Topic(CATEGORY, ""))
_ANY_TIME = datetime.min.replace(tzinfo=UTC)

DEAL = keys.any_like(keys.deal(""))
DEAL_NUMBER = keys.any_like(keys.deal_number(0))
DEAL_SOURCE = keys.any_like(keys.deal_source(""))
DEAL_SEQUENCE = keys.any_like(keys.deal_numbers())
DEAL_CLICKS = keys.any_like(keys.clicks(""))
COUNTED_CLICK = keys.any_like(keys.counted_click("", "", "", 0))
SCORE = keys.any_like(keys.score(""))
LOG = keys.any_like(keys.log(""))
SHOP = keys.any_like(keys.shop(""))
DEALS = keys.any_like(keys.counts(ALL_DEALS))
"""The counts of all deals, and nothing else."""

PRODUCT = keys.any_like(keys.product(""))
WORD = keys.any_like(keys.word(""))
WORDS = keys.any_like(keys.words(""))

ENDINGS = keys.any_like(keys.endings())
ENDINGS_OF_DAYS = keys.any_like(keys.ending("", _ANY_TIME, ""))
BEGINNINGS = keys.any_like(keys.beginning(_ANY_TIME, ""))

BRAND_ITEM, CATEGORY_ITEM = TOPICS = tuple(keys.any_like(keys.topic(topic)) for topic in _TOPICS)
BRANDS = keys.any_like(keys.brands())
LIKES = tuple(keys.any_like(keys.like(topic, "")) for topic in _TOPICS)
WATCHES = tuple(keys.any_like(keys.watch(topic, "")) for topic in _TOPICS)

CURATED = tuple(keys.any_like(keys.featured(page)) for page in (FRONT_PAGE, EDITORS_CHOICE))
FEED_CACHES = (keys.any_like(keys.deals_cache(0)), keys.any_like(keys.category_cache("", 0)))
PICKS_CACHES = tuple(keys.any_like(keys.page_cache(page, 0)) for page in (FRONT_PAGE, EDITORS_CHOICE))

FAN_OUT = keys.any_like(keys.fan_out(""))
FAN_OUT_PAGE = keys.any_like(keys.fan_out_page("", "", 0, ""))

USER = keys.any_like(keys.user(""))
"""A user's collection: the account's own item, and the orders."""

ACCOUNT = keys.any_like(keys.account(""))
PASSWORD = keys.any_like(keys.password(""))
USER_EMAIL = keys.any_like(keys.user_email(""))
SESSION = keys.any_like(keys.session(""))
EMAIL_TOKEN = keys.any_like(keys.email_token(""))
DIGEST_RECEIPT = keys.any_like(keys.digest_receipt("", ""))
DIGESTS = keys.any_like(keys.digests(0))
MESSAGES = keys.any_like(keys.messages(""))
"""In the table and, while unread, in GSI1."""

SAVED = keys.any_like(keys.saved("", ""))
VOTES = keys.any_like(keys.vote("", ""))
DRAFTS = keys.any_like(keys.drafts(""))
ALERTS = keys.any_like(keys.alerts(""))
FEED_KEY = keys.any_like(keys.feed_key(""))
FEED = keys.any_like(keys.feed(""))

ORDER_PARTS = keys.any_like(keys.order_item("", ""))
"""In the table an order's items; in GSI1 those and the order."""

SALE = keys.any_like(keys.sale(""))
ORDER_NUMBER = keys.any_like(keys.order_number(0))
ORDER_SEQUENCE = keys.any_like(keys.order_numbers())
ORDER_HISTORY = keys.any_like(keys.order_history(""))
OPEN_ORDERS = keys.any_like(keys.open_orders())
OPEN_ORDERS_OF_DAYS = keys.any_like(keys.order_in_open("", "", 0, "")["GSI3PK"])
CLOSED_ORDERS = keys.any_like(keys.closed_orders_of(""))
CART = keys.any_like(keys.cart(""))
STOCK = keys.any_like(keys.stock(""))

ATTEMPTS = keys.any_like(keys.attempts("", "", 0))
IDEMPOTENCY = keys.any_like(keys.idempotency("", ""))
BACKFILL = keys.any_like(keys.backfill("", 0, 1))

ALL_DEALS_BY_DAY = keys.any_like(keys.feed_partition(ALL_DEALS, ""))
BRAND_BY_MONTH, CATEGORY_BY_DAY = (keys.any_like(keys.feed_partition(feed_of(topic), "")) for topic in _TOPICS)
"""Partitions of GSI1, GSI2 and GSI3 that hold deals."""

CATEGORY_BY_PRICE = keys.any_like(keys.category_prices("", ""))
BRAND_BY_PRICE = keys.any_like(keys.brand_prices("", ""))
CATEGORY_BY_DISCOUNT = keys.any_like(keys.discounts(""))
"""Partitions of GSI3, GSI2 and GSI1 that hold offers of listed deals."""

POPULAR = keys.any_like(keys.popular(""))
"""Partitions of GSI1 that hold the scores of a month's deals by their rank."""

LIKES_OF_USERS = keys.any_like(keys.likes(""))
WATCHES_OF_USERS = keys.any_like(keys.watches(""))
SESSIONS_OF_USERS = keys.any_like(keys.sessions(""))
REMOVALS = keys.any_like(keys.removals())
"""Partitions of GSI1 that hold what is a user's."""

WORDS_ALERTS = keys.any_like(keys.words_alerts(""))
JOINED_ALERTS = keys.any_like(keys.joined_alerts(""))
PRICE_ALERTS = keys.any_like(keys.price_alerts("", ""))
"""Partitions of GSI1 and of GSI2 that say whom to tell of a deal."""

SCRATCH = keys.any_like(keys.scratch("", ""))
"""Partitions that visitors of the textbook write, in the table and its indexes; DynamoDB deletes them after an hour."""

TRACE = keys.any_like(keys.trace(""))
"""The costs of forms, and of what followed; DynamoDB deletes them after ten minutes."""

OPEN: Mapping[str | None, tuple[str, ...]] = {
    None: (
        DEAL, DEAL_NUMBER, DEALS, PRODUCT, WORD, WORDS, ENDINGS_OF_DAYS, *TOPICS, BRANDS, *CURATED, *FEED_CACHES, SCORE,
    ),
    "GSI1": (ALL_DEALS_BY_DAY, CATEGORY_BY_DISCOUNT, POPULAR),
    "GSI2": (BRAND_BY_MONTH, BRAND_BY_PRICE),
    "GSI3": (CATEGORY_BY_DAY, CATEGORY_BY_PRICE),
}  # fmt: skip
"""Partitions of the table (None) and its indexes that hold the catalog, which everybody may read, and nobody's own."""

PERSONAL: Mapping[str | None, tuple[str, ...]] = {
    None: (USER, SALE),
    "GSI1": (ORDER_PARTS,),
    "GSI2": (ORDER_HISTORY,),
    "GSI3": (OPEN_ORDERS_OF_DAYS, CLOSED_ORDERS),
    "UserIndex": (USER,),
}
"""Partitions of the table (None) and its indexes with items of which only ``SHOWN_OF_PEOPLE`` is read."""

VISIBLE: Mapping[str | None, tuple[str, ...]] = {
    None: (
        DEAL, DEAL_NUMBER, DEAL_SOURCE, DEAL_SEQUENCE, DEAL_CLICKS, DEALS, PRODUCT, WORD, WORDS, ENDINGS,
        ENDINGS_OF_DAYS, *TOPICS, BRANDS, *LIKES, *WATCHES, *CURATED, *FEED_CACHES, *PICKS_CACHES, FAN_OUT,
        FAN_OUT_PAGE, MESSAGES, SAVED, ALERTS, ACCOUNT, ORDER_PARTS, ORDER_NUMBER, OPEN_ORDERS, CART, STOCK,
        BACKFILL, SCRATCH, TRACE, SCORE, VOTES, LOG, SHOP, *PERSONAL[None],
    ),
    "GSI1": (
        ALL_DEALS_BY_DAY, CATEGORY_BY_DISCOUNT, POPULAR, MESSAGES, LIKES_OF_USERS, WATCHES_OF_USERS, WORDS_ALERTS,
        SCRATCH, *PERSONAL["GSI1"],
    ),
    "GSI2": (BRAND_BY_MONTH, BRAND_BY_PRICE, PRICE_ALERTS, JOINED_ALERTS, SCRATCH, *PERSONAL["GSI2"]),
    "GSI3": (CATEGORY_BY_DAY, CATEGORY_BY_PRICE, SCRATCH, *PERSONAL["GSI3"]),
    "UserIndex": PERSONAL["UserIndex"],
}  # fmt: skip
"""Partitions of the table (None) and its indexes that stages that show their work draw."""

HIDDEN: Mapping[str | None, Mapping[str, str]] = {
    None: {
        PASSWORD: "a password's hash is read only where passwords are checked",
        SESSION: "its key is made of the token of somebody who is signed in",
        EMAIL_TOKEN: "its key is made of the token in a mail, which is a key to an account",
        FEED_KEY: "its key is made of what opens somebody's feed",
        FEED: "it holds what a feed's key is made of",
        DIGEST_RECEIPT: "it tells who is mailed",
        USER_EMAIL: "its key is somebody's email address",
        ATTEMPTS: "it says from which networks people have tried to sign in",
        COUNTED_CLICK: "it stands for somebody who has clicked",
        IDEMPOTENCY: "a receipt is for whoever sent the request",
        DRAFTS: "a draft is its editor's alone until it is posted",
        BEGINNINGS: "what is planned is nobody's business before its time",
    },
    "GSI1": {
        SESSIONS_OF_USERS: "its keys are made of the tokens of somebody who is signed in",
        DIGESTS: "who is mailed, and when, is nobody else's business",
        REMOVALS: "who is leaving is nobody else's business",
    },
}
"""Partitions of the table (None) and its indexes that are not drawn, each with the reason."""

_LIVES = "where somebody lives"

HIDDEN_OF_PEOPLE: Mapping[str, Mapping[str, str]] = {
    item_types.USER: {
        "Name": "somebody's name",
        "Email": "somebody's email address",
        "Addresses": _LIVES,
        "VerifiedEmail": "somebody's email address",
        "StoppedEmail": "somebody's email address",
        "StoppedBecause": "how somebody's mailbox answers",
        "DigestHour": "when somebody is mailed",
        "DigestKey": "signs links that act for somebody",
        "Generation": "made of a password's hash",
    },
    item_types.ORDER: {"Address": _LIVES},
    item_types.SALE: {"Address": _LIVES},
}
"""Attributes of the items in ``PERSONAL`` partitions that are not drawn, by the items' types, each with the reason."""

SHOWN_OF_PEOPLE = (
    "Type", "Username", "Role", "HotPace", "CreatedAt", "AccountId", "SignOuts", "OrderId", "OrderNumber", "Status",
    "PlacedAt", "ShippedAt", "DeliveredAt", "CancelledAt", "ItemCount", "Pieces", "Shipping", "Tax", "Totals", "Items",
    "CorrelationId", "ItemId", "DealId", "DealNumber", "Title", "Variant", "Brand", "BrandName", "Price", "Currency",
    "Quantity", "Shards", "OpenShard",
)  # fmt: skip
"""Their attributes that are drawn, besides the keys. The role of who draws them can ask for no other."""

COUNTED = ("Type", *KEYS)
"""The attributes of all items that are read to count them."""


def is_like(partition: str, patterns: Iterable[str]) -> bool:
    """Whether a partition key is of one of some kinds."""
    return any(fnmatchcase(partition, pattern) for pattern in patterns)
