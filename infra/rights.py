"""The rights of the API's functions to the table; ``other_rights.py`` has the others', ``rows/`` those of features.

``tests/e2e/test_privilege.py`` compares them with what the functions do: all of it is allowed, and every right is used.
"""

from __future__ import annotations

from infra.access import Access, Right
from shared.data import partitions as p
from shared.dynamodb.schema import GSI1, GSI2, GSI3

CATALOG: Access = (
    Right("GetItem", (p.DEAL, p.DEAL_NUMBER, p.SCORE, p.BRANDS, *p.TOPICS, *p.CURATED)),
    Right("BatchGetItem", (p.DEAL, p.WORDS, p.CATEGORY_ITEM, *p.FEED_CACHES, *p.PICKS_CACHES)),
    Right("Query", (p.DEALS, p.ENDINGS_OF_DAYS, p.WORD, p.WORDS, *p.TOPICS)),
    Right("Query", (p.ALL_DEALS_BY_DAY, p.CATEGORY_BY_DISCOUNT, p.POPULAR), GSI1),
    Right("Query", (p.BRAND_BY_MONTH, p.BRAND_BY_PRICE), GSI2),
    Right("Query", (p.CATEGORY_BY_DAY, p.CATEGORY_BY_PRICE), GSI3),
)

ACCOUNT_OF_SESSION = ("AccountId", "Role", "Generation", "SignOuts")
"""Attributes of an account that say whether a session is valid, and its role."""

AUTHORIZER: Access = (Right("GetItem", (p.SESSION,)), Right("GetItem", (p.USER,), attributes=ACCOUNT_OF_SESSION))

REMOVING: Access = (
    Right("GetItem", (p.USER, p.BRANDS, p.FEED)),
    Right("BatchGetItem", (*p.LIKES, *p.WATCHES)),
    Right("ConditionCheckItem", (p.USER,)),
    Right("UpdateItem", (p.SCORE, *p.TOPICS)),
    Right("DeleteItem", (
        p.USER, p.SAVED, p.VOTES, p.ALERTS, p.FEED, p.FEED_KEY, p.DRAFTS, p.BEGINNINGS, p.MESSAGES, p.SESSION,
        *p.LIKES, *p.WATCHES,
    )),
    Right("Query", (p.USER, p.MESSAGES, p.SAVED, p.VOTES, p.ALERTS, p.DRAFTS)),
    Right("Query", (p.SESSIONS_OF_USERS,), GSI1),
)  # fmt: skip
"""Removing an account, with all that goes with it."""

ACCOUNTS: Access = (
    *REMOVING,
    Right("GetItem", (p.SESSION, p.PASSWORD, p.ATTEMPTS)),
    Right("ConditionCheckItem", (p.PASSWORD,)),
    Right("PutItem", (p.USER, p.ACCOUNT, p.USER_EMAIL, p.PASSWORD, p.SESSION)),
    Right("UpdateItem", (p.USER, p.PASSWORD, p.ATTEMPTS)),
    Right("DeleteItem", (p.ACCOUNT, p.USER_EMAIL, p.PASSWORD)),
)

VOTING: Access = (
    # A vote, and when its member's account was made: nothing else of the account.
    Right(
        "BatchGetItem",
        (p.VOTES, p.USER),
        attributes=("Type", "Username", "DealId", "Vote", "Worth", "VotedAt", "CreatedAt"),
    ),
    *(Right(each, (p.VOTES,)) for each in ("PutItem", "DeleteItem")),
    Right("UpdateItem", (p.VOTES, p.SCORE)),
)

MEMBERS: Access = (
    *VOTING,
    Right("GetItem", (p.DEAL, p.DEAL_NUMBER, p.SCORE, p.FEED, *p.TOPICS)),
    *(Right(each, (p.USER,), attributes=ACCOUNT_OF_SESSION) for each in ("GetItem", "ConditionCheckItem")),
    Right("BatchGetItem", (p.WORDS,)),
    Right("ConditionCheckItem", (p.ACCOUNT,)),
    Right("PutItem", (p.ALERTS, p.FEED, p.FEED_KEY, *p.LIKES, *p.WATCHES)),
    Right("UpdateItem", (p.MESSAGES, p.ACCOUNT, *p.TOPICS, *p.WATCHES)),
    Right("DeleteItem", (p.ALERTS, p.FEED, p.FEED_KEY, *p.LIKES, *p.WATCHES)),
    Right("Query", (p.MESSAGES, p.ALERTS)),
    Right("Query", (p.MESSAGES, p.WATCHES_OF_USERS), GSI1),
)

COUNTING: Access = tuple(
    Right("Query", (held,), index)
    for held, index in ((p.ALL_DEALS_BY_DAY, GSI1), (p.BRAND_BY_MONTH, GSI2), (p.CATEGORY_BY_DAY, GSI3))
)
"""Counting anew what a feed's index holds, where its count is damaged."""

EDITORS: Access = (
    *COUNTING,
    Right("GetItem", (p.DEAL, p.DEAL_NUMBER, p.BRAND_ITEM, p.IDEMPOTENCY, p.DRAFTS)),
    Right("BatchGetItem", (p.DEAL, p.DEALS, *p.TOPICS)),
    Right("PutItem", (p.DEAL, p.DEAL_NUMBER, p.DEAL_SOURCE, p.BRAND_ITEM, p.ENDINGS_OF_DAYS, p.IDEMPOTENCY)),
    Right("PutItem", (p.DRAFTS, p.BEGINNINGS)),
    Right("UpdateItem", (p.DEAL, p.SEQUENCES, p.DEALS, p.BRANDS, *p.TOPICS, *p.CURATED)),
    Right("DeleteItem", (p.ENDINGS_OF_DAYS, p.DEALS, *p.TOPICS, p.DRAFTS, p.BEGINNINGS)),
    Right("ConditionCheckItem", (p.ACCOUNT,)),
    Right("Query", (p.FAN_OUT, p.LOG, p.DRAFTS)),
)
