"""The rights of each function to the table. A function that needs more says so here, in one line.

``tests/e2e/test_privilege.py`` compares this with what the functions do: everything they do is allowed, and every right
is used.
"""

from __future__ import annotations

from infra.access import Access, Right, Scan
from shared.data.partitions import (
    ALL_DEALS_BY_DAY,
    ATTEMPTS,
    BRAND_BY_MONTH,
    BRAND_ITEM,
    BRANDS,
    CART,
    CATEGORY_BY_DAY,
    CATEGORY_ITEM,
    CURATED,
    DEAL,
    DEAL_CLICKS,
    DEAL_NUMBER,
    DEAL_SEQUENCE,
    DEAL_SOURCE,
    DEALS,
    ENDINGS,
    ENDINGS_OF_DAYS,
    FAN_OUT,
    FAN_OUT_PAGE,
    FEED_CACHES,
    IDEMPOTENCY,
    LIKES,
    LIKES_OF_USERS,
    MESSAGES,
    OPEN_ORDERS,
    OPEN_ORDERS_OF_DAYS,
    ORDER_HISTORY,
    ORDER_PARTS,
    PASSWORD,
    PICKS_CACHES,
    PRODUCT,
    SAVED,
    SESSION,
    SESSIONS_OF_USERS,
    STOCK,
    TOPICS,
    USER,
    USER_EMAIL,
    VISIBLE,
    WATCHES,
    WATCHES_OF_USERS,
    WORD,
    WORDS,
)
from shared.dynamodb.schema import GSI1, GSI2, GSI3, PARTITION_KEY, SORT_KEY, USER_INDEX

CATALOG: Access = (
    Right("GetItem", (DEAL, DEAL_NUMBER, BRANDS, *TOPICS, *CURATED)),
    Right("BatchGetItem", (CATEGORY_ITEM, *FEED_CACHES, *PICKS_CACHES)),
    Right("Query", (DEALS, ENDINGS_OF_DAYS, *TOPICS)),
    Right("Query", (ALL_DEALS_BY_DAY,), GSI1),
    Right("Query", (BRAND_BY_MONTH,), GSI2),
    Right("Query", (CATEGORY_BY_DAY,), GSI3),
)

ACCOUNT_OF_SESSION = ("Role", "Generation", "SignOuts")
"""Attributes of an account that tell whether a session still counts, and its role."""

AUTHORIZER: Access = (
    Right("GetItem", (SESSION,)),
    Right("GetItem", (USER,), attributes=ACCOUNT_OF_SESSION),
)

KEY_ONLY = (PARTITION_KEY, SORT_KEY)
"""Attributes that a deletion names. BatchWriteItem also puts items: without other attributes, only empty ones."""

ACCOUNTS: Access = (
    Right("GetItem", (SESSION, USER, PASSWORD, BRANDS)),
    Right("BatchGetItem", (*LIKES, *WATCHES)),
    Right("ConditionCheckItem", (USER, PASSWORD)),
    Right("PutItem", (USER, USER_EMAIL, PASSWORD, SESSION)),
    Right("UpdateItem", (USER, PASSWORD, ATTEMPTS, *TOPICS)),
    Right("DeleteItem", (USER, USER_EMAIL, PASSWORD, SESSION, ORDER_PARTS, CART, *LIKES, *WATCHES)),
    Right("BatchWriteItem", (SESSION, MESSAGES, SAVED), attributes=KEY_ONLY),
    Right("Query", (USER, CART, MESSAGES, SAVED)),
    Right("Query", (SESSIONS_OF_USERS,), GSI1),
)

MEMBERS: Access = (
    Right("GetItem", TOPICS),
    Right("ConditionCheckItem", (USER,)),
    Right("PutItem", (*LIKES, *WATCHES)),
    Right("UpdateItem", (MESSAGES, *TOPICS)),
    Right("DeleteItem", (*LIKES, *WATCHES)),
    Right("Query", (MESSAGES,)),
    Right("Query", (MESSAGES, WATCHES_OF_USERS), GSI1),
)

EDITORS: Access = (
    Right("GetItem", (DEAL, DEAL_NUMBER, BRAND_ITEM, IDEMPOTENCY)),
    Right("BatchGetItem", (DEAL, DEALS, *TOPICS)),
    Right("PutItem", (DEAL, DEAL_NUMBER, DEAL_SOURCE, BRAND_ITEM, ENDINGS_OF_DAYS, IDEMPOTENCY)),
    Right("UpdateItem", (DEAL, DEAL_SEQUENCE, DEALS, BRANDS, *TOPICS, *CURATED)),
    Right("DeleteItem", (ENDINGS_OF_DAYS, DEALS, *TOPICS)),
    Right("Query", (FAN_OUT,)),
)

MINE: Access = (
    Right("GetItem", (SESSION, USER, DEAL, DEAL_NUMBER, SAVED, *LIKES, *WATCHES, *TOPICS)),
    Right("ConditionCheckItem", (USER,)),
    Right("BatchGetItem", (DEAL, *TOPICS)),
    Right("PutItem", (SAVED, *LIKES, *WATCHES)),
    Right("UpdateItem", (MESSAGES, *TOPICS)),
    Right("DeleteItem", (SAVED, *LIKES, *WATCHES)),
    Right("Query", (MESSAGES, SAVED, DEALS, ENDINGS_OF_DAYS)),
    Right("Query", (MESSAGES, LIKES_OF_USERS, WATCHES_OF_USERS, ALL_DEALS_BY_DAY), GSI1),
)

ACCOUNT: Access = (*ACCOUNTS, Right("Query", (MESSAGES,), GSI1))
"""The pages do what the API does for the same people, through the same functions, and count unread messages."""

DESK: Access = (
    Right("GetItem", (SESSION, USER, DEAL, DEAL_NUMBER, BRANDS, IDEMPOTENCY, *TOPICS, *CURATED)),
    Right("BatchGetItem", (DEAL, DEAL_CLICKS, DEALS, *TOPICS)),
    Right("PutItem", (DEAL, DEAL_NUMBER, DEAL_SOURCE, BRAND_ITEM, ENDINGS_OF_DAYS, IDEMPOTENCY)),
    Right("UpdateItem", (DEAL, DEAL_SEQUENCE, DEALS, BRANDS, *TOPICS, *CURATED)),
    Right("DeleteItem", (ENDINGS_OF_DAYS, DEALS, *TOPICS)),
    Right("Query", (FAN_OUT, PRODUCT, ENDINGS_OF_DAYS, DEALS, BRAND_ITEM)),
    Right("Query", (ALL_DEALS_BY_DAY,), GSI1),
    Right("Query", (BRAND_BY_MONTH,), GSI2),
    Scan(("Username",), USER_INDEX),
)

COLLECTIONS: Access = (
    # Of sessions it reads only the one whose token it is given: GetItem names a whole key.
    Right("GetItem", (SESSION, DEAL, DEAL_NUMBER)),
    Right("GetItem", (USER,), attributes=ACCOUNT_OF_SESSION),
    Right("BatchGetItem", (PRODUCT, WORD, MESSAGES, *FEED_CACHES)),
    Right("Query", VISIBLE[None]),
    Right("Query", VISIBLE["GSI1"], GSI1),
    Right("Query", VISIBLE["GSI2"], GSI2),
    Right("Query", VISIBLE["GSI3"], GSI3),
)
"""Only stages that show their work have this function: it shows item collections, but neither accounts nor sessions.

To know whether an editor asks, it reads the one session whose token it is given and three attributes of its account.
"""

_BUYING: Access = (
    Right("BatchGetItem", (DEAL,)),
    Right("PutItem", (USER, ORDER_PARTS, CART, MESSAGES, IDEMPOTENCY)),
    Right("UpdateItem", (USER, STOCK, OPEN_ORDERS)),
    Right("DeleteItem", (CART,)),
    Right("ConditionCheckItem", (USER,)),
    Right("Query", (USER, CART, STOCK)),
    Right("Query", (ORDER_PARTS,), GSI1),
    Right("Query", (ORDER_HISTORY,), GSI2),
)

ORDERS: Access = (
    Right("GetItem", (DEAL, DEAL_NUMBER, USER, ORDER_PARTS, OPEN_ORDERS, IDEMPOTENCY)),
    *_BUYING,
    Right("Query", (OPEN_ORDERS_OF_DAYS,), GSI3),
)
"""It writes no deal, and reads no message, no session and no password's hash.

Orders are in their owners' collections, and one Query reads a user with the newest ones. The hash is kept elsewhere.
"""

SHOP: Access = (
    Right("GetItem", (SESSION, USER, DEAL, DEAL_NUMBER, ORDER_PARTS, OPEN_ORDERS, IDEMPOTENCY)),
    *_BUYING,
    Right("Query", (MESSAGES,), GSI1),
)
"""Members in the shop's pages: the same as ORDERS for the API, without what only editors do. The pages
also count unread messages."""

SALES: Access = (
    Right("GetItem", (SESSION, USER, DEAL, DEAL_NUMBER, ORDER_PARTS, OPEN_ORDERS, IDEMPOTENCY)),
    Right("PutItem", (MESSAGES, IDEMPOTENCY)),
    Right("UpdateItem", (USER, STOCK, OPEN_ORDERS)),
    Right("Query", (STOCK,)),
    Right("Query", (ORDER_PARTS,), GSI1),
    Right("Query", (OPEN_ORDERS_OF_DAYS,), GSI3),
)
"""Editors in the shop: they give any order its next status, and put stock on sale. It writes no deal, which the
desk's own function does, and adds no item to anyone's collection: a new status is an update of an item there."""

SEED: Access = (Right("PutItem", (CATEGORY_ITEM, BRANDS, DEAL_SEQUENCE, ENDINGS)),)

EXPIRY: Access = (
    Right("GetItem", (DEAL, ENDINGS, OPEN_ORDERS)),
    Right("BatchGetItem", (DEALS, *TOPICS)),
    Right("PutItem", (ENDINGS, ENDINGS_OF_DAYS)),
    Right("UpdateItem", (DEAL, DEALS, *TOPICS, OPEN_ORDERS)),
    Right("DeleteItem", (ENDINGS_OF_DAYS, DEALS, *TOPICS)),
    Right("Query", (ENDINGS_OF_DAYS,)),
    Right("Query", (OPEN_ORDERS_OF_DAYS,), GSI3),
)
"""Of orders it reads how long the oldest open one waits, and removes the days that have none from the container."""

ANNOUNCER: Access = ()

MESSENGER: Access = (
    Right("GetItem", (DEAL, FAN_OUT_PAGE)),
    # Whether the readers of a cohort that comes again are still the same.
    Right("BatchGetItem", (USER,), attributes=("Username", "CreatedAt")),
    Right("PutItem", (FAN_OUT_PAGE,)),
    Right("UpdateItem", (FAN_OUT, FAN_OUT_PAGE)),
    Right("PartiQLInsert", (MESSAGES,)),
    Right("Query", WATCHES),
    Scan(("Username",), USER_INDEX),
)

REFRESHER: Access = (
    Right("GetItem", (CATEGORY_ITEM, *CURATED, *FEED_CACHES, *PICKS_CACHES)),
    Right("BatchGetItem", (DEAL, *FEED_CACHES)),
    Right("Query", (DEALS, ENDINGS_OF_DAYS, CATEGORY_ITEM)),
    Right("PutItem", (*FEED_CACHES, *PICKS_CACHES)),
    Right("UpdateItem", (DEAL, CATEGORY_ITEM, *CURATED)),
    Right("Query", (STOCK,)),
    Right("Query", (ALL_DEALS_BY_DAY,), GSI1),
    Right("Query", (CATEGORY_BY_DAY,), GSI3),
)

SITE: Access = (
    *CATALOG,
    Right("BatchGetItem", (DEAL, WORDS)),
    Right("Query", (PRODUCT, WORD, WORDS)),
)
"""The reads of the API's public routes, and those by words, by product, and by a deal's end."""

CLICKS: Access = (
    Right("GetItem", (DEAL, DEAL_NUMBER)),
    Right("UpdateItem", (DEAL_CLICKS,)),
)

INDEXER: Access = (
    Right("PutItem", (PRODUCT, WORD)),
    Right("UpdateItem", (WORD, WORDS)),
    Right("DeleteItem", (PRODUCT, WORD)),
)
