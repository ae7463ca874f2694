"""The values of an item's ``Type``. Stream consumers, scans and the filters of the stack distinguish items by it."""

from __future__ import annotations

from collections.abc import Mapping

from shared.models.catalog import BRAND, CATEGORY, EDITORS_CHOICE, FRONT_PAGE, TopicKind

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
