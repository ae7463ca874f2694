"""The rights to the table of the functions that answer pages, then of those in the background.

``rights.py`` has those of the API's functions.
"""

from __future__ import annotations

from infra.access import Access, Right, Scan
from infra.rights import ACCOUNT_OF_SESSION, ACCOUNTS, CATALOG, COUNTING, REMOVING, VOTING
from shared.data import partitions as p
from shared.dynamodb.schema import GSI1, GSI2, GSI3, TTL_ATTRIBUTE, USER_INDEX

SITE: Access = (
    *CATALOG,
    Right("Query", (p.PRODUCT,)),
)
"""The reads of the API's public routes, and those by product."""

CLICKS: Access = (
    Right("GetItem", (p.DEAL, p.DEAL_NUMBER)),
    Right("UpdateItem", (p.DEAL_CLICKS,)),
    Right("PutItem", (p.COUNTED_CLICK,), attributes=("Type", TTL_ATTRIBUTE)),
)
"""It cannot read the notes of readers who clicked, nor write anything else into them; no other function can do
either."""

MINE: Access = (
    *VOTING,
    Right("GetItem", (p.ALERTS, p.FEED, p.FEED_KEY)),
    Right("GetItem", (p.SESSION, p.DEAL, p.DEAL_NUMBER, p.SAVED, p.VOTES, *p.LIKES, *p.WATCHES, *p.TOPICS)),
    Right("GetItem", (p.USER,), attributes=(*ACCOUNT_OF_SESSION, "HotPace")),
    Right("ConditionCheckItem", (p.ACCOUNT,)),
    Right("ConditionCheckItem", (p.USER,), attributes=ACCOUNT_OF_SESSION),
    Right("BatchGetItem", (p.DEAL, p.WORDS, *p.TOPICS)),
    Right("PutItem", (p.SAVED, p.ALERTS, p.FEED, p.FEED_KEY, *p.LIKES, *p.WATCHES)),
    Right("UpdateItem", (p.MESSAGES, p.ACCOUNT, *p.TOPICS, *p.WATCHES)),
    Right("DeleteItem", (p.SAVED, p.ALERTS, p.FEED, p.FEED_KEY, *p.LIKES, *p.WATCHES)),
    Right("Query", (p.MESSAGES, p.SAVED, p.ALERTS, p.DEALS, p.ENDINGS_OF_DAYS)),
    Right("Query", (p.MESSAGES, p.LIKES_OF_USERS, p.WATCHES_OF_USERS, p.ALL_DEALS_BY_DAY), GSI1),
)

ACCOUNT: Access = (*ACCOUNTS, Right("Query", (p.MESSAGES,), GSI1))
"""The pages do what the API does for the same people, through the same functions, and count unread messages."""

DESK: Access = (
    Right("GetItem", (p.DRAFTS,)),
    Right("ConditionCheckItem", (p.ACCOUNT,)),
    Right("PutItem", (p.DRAFTS, p.BEGINNINGS)),
    Right("DeleteItem", (p.DRAFTS, p.BEGINNINGS)),
    Right("Query", (p.DRAFTS,)),
    Right("GetItem", (p.SESSION, p.DEAL, p.DEAL_NUMBER, p.BRANDS, p.SHOP, p.IDEMPOTENCY, *p.TOPICS, *p.CURATED)),
    Right("GetItem", (p.USER,), attributes=ACCOUNT_OF_SESSION),
    Right("BatchGetItem", (p.DEAL, p.DEAL_CLICKS, p.DEALS, *p.TOPICS)),
    Right("PutItem", (p.DEAL, p.DEAL_NUMBER, p.DEAL_SOURCE, p.BRAND_ITEM, p.ENDINGS_OF_DAYS, p.IDEMPOTENCY)),
    Right("UpdateItem", (p.DEAL, p.SEQUENCES, p.DEALS, p.BRANDS, *p.TOPICS, *p.CURATED)),
    Right("DeleteItem", (p.ENDINGS_OF_DAYS, p.DEALS, *p.TOPICS)),
    Right("Query", (p.FAN_OUT, p.LOG, p.PRODUCT, p.ENDINGS_OF_DAYS, p.DEALS, p.BRAND_ITEM)),
    *COUNTING,
    Scan(("Username",), USER_INDEX),
)


SEED: Access = (Right("PutItem", (p.CATEGORY_ITEM, p.BRANDS, p.SEQUENCES, p.ENDINGS)),)

EXPIRY: Access = (
    *COUNTING,
    Right("GetItem", (p.DEAL, p.ENDINGS, p.DRAFTS, p.BRAND_ITEM, p.IDEMPOTENCY)),
    Right("BatchGetItem", (p.DEALS, *p.TOPICS)),
    Right("ConditionCheckItem", (p.USER,), attributes=("AccountId", "Role")),
    Right("PutItem", (p.DEAL, p.DEAL_NUMBER, p.ENDINGS, p.ENDINGS_OF_DAYS, p.IDEMPOTENCY)),
    Right("UpdateItem", (p.DEAL, p.SEQUENCES, p.DEALS, p.DRAFTS, *p.TOPICS)),
    Right("DeleteItem", (p.ENDINGS_OF_DAYS, p.DEALS, *p.TOPICS, p.DRAFTS, p.BEGINNINGS)),
    Right("Query", (p.ENDINGS_OF_DAYS, p.BEGINNINGS)),
)
"""It posts the drafts that are due, whose author must still be an editor."""

MESSENGER: Access = (
    Right("GetItem", (p.DEAL, p.FAN_OUT_PAGE)),
    # Whether the readers of a cohort that comes again are still the same.
    Right("BatchGetItem", (p.USER,), attributes=("Username", "CreatedAt")),
    # Whether a message that exists waits for its hour.
    Right("BatchGetItem", (p.MESSAGES,), attributes=("ShownAt",)),
    Right("PutItem", (p.FAN_OUT_PAGE, p.MESSAGES)),
    Right("UpdateItem", (p.FAN_OUT, p.FAN_OUT_PAGE, p.MESSAGES, p.ALERTS)),
    Right("PartiQLInsert", (p.MESSAGES,)),
    Right("ConditionCheckItem", (p.ACCOUNT, p.ALERTS)),
    Right("Query", p.WATCHES),
    Right("Query", (p.WORDS_ALERTS,), GSI1),
    Right("Query", (p.PRICE_ALERTS, p.JOINED_ALERTS), GSI2),
    Scan(("Username", "HotPace"), USER_INDEX),
)

REFRESHER: Access = (
    Right("GetItem", (p.CATEGORY_ITEM, *p.CURATED, *p.FEED_CACHES, *p.PICKS_CACHES)),
    # Of the pages of picks, the front page alone has deals beside them.
    Right("BatchGetItem", (p.DEAL, p.SCORE, p.CATEGORY_ITEM, *p.CURATED, *p.FEED_CACHES, p.PICKS_CACHES[0])),
    Right("Query", (p.DEALS, p.ENDINGS_OF_DAYS, p.CATEGORY_ITEM)),
    Right("PutItem", (*p.FEED_CACHES, *p.PICKS_CACHES)),
    Right("UpdateItem", (p.DEAL, p.SCORE, p.CATEGORY_ITEM, *p.CURATED)),
    Right("Query", (p.ALL_DEALS_BY_DAY, p.POPULAR), GSI1),
    Right("Query", (p.CATEGORY_BY_DAY,), GSI3),
)

PUBLISHER: Access = (
    # The offers of a product, and what its deals say of their prices: that alone is written into a deal.
    Right("Query", (p.PRODUCT,)),
    *(Right(each, (p.DEAL,), attributes=("Link", "Verdict")) for each in ("BatchGetItem", "UpdateItem")),
    Right("PutItem", (p.PRODUCT, p.WORD, p.LOG, p.SHOP)),
    Right("UpdateItem", (p.WORDS,)),
    Right("DeleteItem", (p.PRODUCT, p.WORD)),
)

REMOVER: Access = (*REMOVING, Right("Query", (p.REMOVALS,), GSI1))
