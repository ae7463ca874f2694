"""Rights of functions to the table, as data: what a right is, and those of each function; ``rows/`` has features'.

``tests/e2e/test_privilege.py`` compares them with what the functions do: all of it is allowed, and every right is used.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/specifying-conditions.html has the conditions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from shared.data import partitions as p
from shared.dynamodb.schema import GSI1, GSI2, GSI3, PARTITION_KEY, SORT_KEY, TTL_ATTRIBUTE, USER_INDEX, Index

_NAMES_KEYS = {
    "GetItem", "BatchGetItem", "Query", "ConditionCheckItem", "PutItem", "UpdateItem", "DeleteItem",
    "BatchWriteItem", "PartiQLInsert",
}  # fmt: skip
"""Operations whose requests name partition keys: according to AWS, those that support ``dynamodb:LeadingKeys``.

https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazondynamodb.html"""


@dataclass(frozen=True, slots=True)
class Right:
    """One operation on the items of some partitions, of the table or of an index.

    ``partitions`` are patterns of partition keys. IAM compares every key that a request names with them. Each request
    of such an operation names at least one key, so ``ForAllValues`` always has one to compare. A transaction is
    authorized as the operations in it, and PartiQL's INSERT is ``PartiQLInsert``. ``attributes``, where any are named,
    are the only ones that a request may ask for, in addition to the key. ``keyed`` is False on a stage that grants an
    index as a whole (``rights_by_index`` in ``settings.py``). Sources:
    https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-iam.html
    https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis-iam.html
    """

    operation: str
    partitions: tuple[str, ...]
    index: Index | None = None
    attributes: tuple[str, ...] = ()
    keyed: bool = True

    def __post_init__(self) -> None:
        if self.operation not in _NAMES_KEYS or not self.partitions:
            raise ValueError(f"{self.operation} cannot be cut to partitions")

    @property
    def conditions(self) -> Mapping[str, Mapping[str, Any]]:
        keys: dict[str, Mapping[str, Any]] = {}
        if self.keyed:
            keys["ForAllValues:StringLike"] = {"dynamodb:LeadingKeys": list(self.partitions)}
        return keys | (_only(self.attributes, PARTITION_KEY, SORT_KEY) if self.attributes else {})


@dataclass(frozen=True, slots=True)
class Scan:
    """A scan of the table or an index for some attributes of its items. It names no keys, so none can cut it down.

    ``dynamodb:Attributes`` holds the attributes that a request asks for. It is missing where a request asks for whole
    items; ``dynamodb:Select`` says that. The keys must be among the attributes.
    """

    attributes: tuple[str, ...]
    index: Index | None = None
    operation: str = field(default="Scan", init=False)

    @property
    def conditions(self) -> Mapping[str, Mapping[str, Any]]:
        of_index = (self.index.partition_key, self.index.sort_key) if self.index else ()
        return _only(self.attributes, PARTITION_KEY, SORT_KEY, *filter(None, of_index))


def _only(attributes: tuple[str, ...], *keys: str) -> dict[str, Mapping[str, Any]]:
    """The conditions that a request names these attributes, and neither reads nor is given a whole item.

    A write could otherwise ask for the item that was there (``ReturnValues``). One whose condition is refused still
    can, we believe: ``items-returned-by-a-refused-write`` in ``docs/ledger.md``.
    """
    return {
        "ForAllValues:StringEquals": {"dynamodb:Attributes": [*dict.fromkeys((*keys, *attributes))]},
        "StringEqualsIfExists": {
            "dynamodb:Select": "SPECIFIC_ATTRIBUTES",
            "dynamodb:ReturnValues": ["NONE", "UPDATED_OLD", "UPDATED_NEW"],
        },
    }


Access = tuple[Right | Scan, ...]
"""The rights of one function to the table."""


# Functions of the API.

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

# Functions that answer pages.

SITE: Access = (*CATALOG, Right("Query", (p.PRODUCT,)))
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

# Functions in the background.

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
