"""Each function's rights to the table, as data. Features have theirs in ``rows/``.

``tests/e2e/test_privilege.py`` checks that the functions' requests are allowed, and that every right is used.
Conditions: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/specifying-conditions.html
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from shared.data import partitions as p
from shared.dynamodb.schema import GSI1, GSI2, GSI3, PARTITION_KEY, SORT_KEY, USER_INDEX, Index, key_names

_NAMES_KEYS = {
    "GetItem", "BatchGetItem", "Query", "ConditionCheckItem", "PutItem", "UpdateItem", "DeleteItem",
    "BatchWriteItem", "PartiQLInsert",
}  # fmt: skip
"""Operations whose requests name partition keys: those that support ``dynamodb:LeadingKeys``.

https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazondynamodb.html
"""

LEADING_KEYS = "dynamodb:LeadingKeys"


@dataclass(frozen=True, slots=True)
class Right:
    """One operation on the items of some partitions, in the table or an index.

    ``partitions`` are patterns; IAM compares every partition key in a request with them. ``ForAllValues`` is true if
    IAM is given no key, so ``Null`` refuses such a request. A transaction is authorized as the operations in it,
    PartiQL's INSERT as ``PartiQLInsert``. ``attributes``, if any, are the only ones that a request may name besides the
    key. ``keyed`` is False on a stage that grants an index as a whole (``rights_by_index`` in ``settings.py``).
    Sources:
    https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-single-vs-multi-valued-context-keys.html
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
            keys["ForAllValues:StringLike"] = {LEADING_KEYS: list(self.partitions)}
            keys["Null"] = {LEADING_KEYS: "false"}
        return keys | (_only(self.attributes, self.index) if self.attributes else {})


@dataclass(frozen=True, slots=True)
class Scan:
    """A scan of the table or an index for some attributes. It names no keys, so no partition can limit it.

    ``dynamodb:Attributes`` holds the attributes that a request names, and must include the keys. It is missing if a
    request reads whole items; ``dynamodb:Select`` says that.
    """

    attributes: tuple[str, ...]
    index: Index | None = None
    operation: str = field(default="Scan", init=False)

    @property
    def conditions(self) -> Mapping[str, Mapping[str, Any]]:
        return _only(self.attributes, self.index)


def _only(attributes: tuple[str, ...], index: Index | None) -> dict[str, Mapping[str, Any]]:
    """The conditions that a request names only these attributes and keys, and neither reads nor returns a whole item.

    A write could otherwise ask for the previous item (``ReturnValues``). A write whose condition fails still can, we
    believe: ``items-returned-by-a-refused-write`` in ``docs/ledger.md``.
    """
    names = dict.fromkeys((PARTITION_KEY, SORT_KEY, *filter(None, key_names(index)), *attributes))
    return {
        "ForAllValues:StringEquals": {"dynamodb:Attributes": [*names]},
        "StringEqualsIfExists": {
            "dynamodb:Select": "SPECIFIC_ATTRIBUTES",
            "dynamodb:ReturnValues": ["NONE", "UPDATED_OLD", "UPDATED_NEW"],
        },
    }


Access = tuple[Right | Scan, ...]
"""One function's rights to the table."""


# Functions of the API.

CATALOG: Access = (
    Right("GetItem", (p.DEAL, p.DEAL_NUMBER, p.BRANDS, *p.TOPICS, *p.CURATED)),
    Right("BatchGetItem", (p.DEAL, p.WORDS, p.CATEGORY_ITEM, *p.FEED_CACHES, *p.PICKS_CACHES)),
    Right("Query", (p.DEALS, p.ENDINGS_OF_DAYS, p.WORD, p.WORDS, *p.TOPICS)),
    Right("Query", (p.ALL_DEALS_BY_DAY, p.CATEGORY_BY_DISCOUNT), GSI1),
    Right("Query", (p.BRAND_BY_MONTH, p.BRAND_BY_PRICE), GSI2),
    Right("Query", (p.CATEGORY_BY_DAY, p.CATEGORY_BY_PRICE), GSI3),
)

ACCOUNT_OF_SESSION = ("AccountId", "Role", "Generation", "SignOuts")
"""Attributes of an account that decide whether a session is valid, and its role."""

NOTES_USE = Right("UpdateItem", (p.SESSION,), attributes=("UsedAt",))
_HAS_ACCOUNT = Right("GetItem", (p.USER,), attributes=ACCOUNT_OF_SESSION)
AUTHORIZER: Access = (Right("GetItem", (p.SESSION,)), _HAS_ACCOUNT, NOTES_USE)

_COUNTS_FOLLOWERS = Right("UpdateItem", p.TOPICS, attributes=("LikesCount", "WatchCount"))
_COUNTS_ALERTS = Right("UpdateItem", (p.ACCOUNT,), attributes=("AccountId", "Alerts"))

REMOVING: Access = (
    Right("GetItem", (p.USER, p.BRANDS)),
    Right("BatchGetItem", (*p.LIKES, *p.WATCHES)),
    Right("ConditionCheckItem", (p.USER,)),
    _COUNTS_FOLLOWERS,
    Right("DeleteItem", (p.USER, p.ALERTS, p.MESSAGES, p.SESSION, *p.LIKES, *p.WATCHES)),
    Right("Query", (p.MESSAGES, p.ALERTS)),
    Right("Query", (p.SESSIONS_OF_USERS,), GSI1),
)  # fmt: skip
"""Removing an account and everything that belongs to it."""

_OF_USER = ("AccountId", "Email", "Name", "HotPace", "Generation", "SignOuts")
_OF_REMOVAL = ("Leaving", "RemovedAt", "GSI1PK", "GSI1SK")

ACCOUNTS: Access = (
    *REMOVING,
    Right("GetItem", (p.SESSION, p.PASSWORD, p.ATTEMPTS, p.USER_EMAIL)),
    Right("ConditionCheckItem", (p.PASSWORD,)),
    Right("PutItem", (p.ACCOUNT, p.USER_EMAIL, p.PASSWORD, p.SESSION)),
    # All of a new account, and what is left of a removed one. 1.1.0 can't read an account without its role.
    Right(
        "PutItem", (p.USER,), attributes=("Type", "Role", "Username", "CreatedAt", "UserIndex", *_OF_USER, *_OF_REMOVAL)
    ),
    Right("UpdateItem", (p.USER,), attributes=_OF_USER),
    Right("UpdateItem", (p.PASSWORD, p.ATTEMPTS)),
    Right("DeleteItem", (p.ACCOUNT, p.USER_EMAIL, p.PASSWORD)),
)

MEMBERS: Access = (
    Right("GetItem", (p.DEAL, p.DEAL_NUMBER, *p.TOPICS)),
    Right("BatchGetItem", (p.WORDS,)),
    Right("ConditionCheckItem", (p.ACCOUNT,)),
    Right("PutItem", (p.ALERTS, *p.LIKES, *p.WATCHES)),
    Right("UpdateItem", (p.MESSAGES, *p.WATCHES)),
    _COUNTS_FOLLOWERS,
    _COUNTS_ALERTS,
    Right("DeleteItem", (p.ALERTS, *p.LIKES, *p.WATCHES)),
    Right("Query", (p.MESSAGES, p.ALERTS)),
    Right("Query", (p.MESSAGES, p.WATCHES_OF_USERS), GSI1),
)

COUNTING: Access = tuple(
    Right("Query", (held,), index)
    for held, index in ((p.ALL_DEALS_BY_DAY, GSI1), (p.BRAND_BY_MONTH, GSI2), (p.CATEGORY_BY_DAY, GSI3))
)
"""Recounting a feed from its index, if its count is damaged."""

EDITORS: Access = (
    *COUNTING,
    Right("GetItem", (p.DEAL, p.DEAL_NUMBER, p.BRAND_ITEM, p.IDEMPOTENCY)),
    Right("BatchGetItem", (p.DEAL, p.DEALS, *p.TOPICS)),
    Right("PutItem", (p.DEAL, p.DEAL_NUMBER, p.DEAL_SOURCE, p.BRAND_ITEM, p.ENDINGS_OF_DAYS, p.IDEMPOTENCY)),
    Right("UpdateItem", (p.DEAL, p.SEQUENCES, p.DEALS, p.BRANDS, *p.CURATED)),
    Right("UpdateItem", p.TOPICS, attributes=p.COUNTS),
    Right("UpdateItem", (p.CATEGORY_ITEM,), attributes=p.PICKS),
    Right("DeleteItem", (p.ENDINGS_OF_DAYS, p.DEALS, *p.TOPICS)),
    Right("Query", (p.FAN_OUT, p.LOG)),
)

# Functions that answer pages.

SITE: Access = (*CATALOG, Right("Query", (p.PRODUCT,)))
"""The reads of the API's public routes, and reads by product."""

MINE: Access = (
    NOTES_USE,
    Right("GetItem", (p.SESSION, p.ALERTS, p.DEAL, p.DEAL_NUMBER, *p.LIKES, *p.WATCHES, *p.TOPICS)),
    Right("GetItem", (p.USER,), attributes=(*ACCOUNT_OF_SESSION, "HotPace")),
    Right("ConditionCheckItem", (p.ACCOUNT,)),
    Right("BatchGetItem", (p.DEAL, p.WORDS, *p.TOPICS)),
    Right("PutItem", (p.ALERTS, *p.LIKES, *p.WATCHES)),
    Right("UpdateItem", (p.MESSAGES, *p.WATCHES)),
    _COUNTS_FOLLOWERS,
    _COUNTS_ALERTS,
    Right("DeleteItem", (p.ALERTS, *p.LIKES, *p.WATCHES)),
    Right("Query", (p.MESSAGES, p.ALERTS, p.DEALS, p.ENDINGS_OF_DAYS, p.PRODUCT)),
    Right("Query", (p.MESSAGES, p.LIKES_OF_USERS, p.WATCHES_OF_USERS, p.ALL_DEALS_BY_DAY), GSI1),
)

ACCOUNT: Access = (*ACCOUNTS, NOTES_USE, Right("Query", (p.MESSAGES,), GSI1))
"""The rights of the API's account routes, and the count of unread messages."""

# Functions in the background.

SEED: Access = (Right("PutItem", (p.CATEGORY_ITEM, p.BRANDS, p.SEQUENCES, p.ENDINGS)),)

EXPIRY: Access = (
    *COUNTING,
    Right("GetItem", (p.DEAL, p.ENDINGS)),
    Right("BatchGetItem", (p.DEALS, *p.TOPICS)),
    Right("PutItem", (p.ENDINGS, p.ENDINGS_OF_DAYS)),
    Right("UpdateItem", (p.DEAL, p.DEALS)),
    Right("UpdateItem", p.TOPICS, attributes=p.COUNTS),
    Right("DeleteItem", (p.ENDINGS_OF_DAYS, p.DEALS, *p.TOPICS)),
    Right("Query", (p.ENDINGS_OF_DAYS,)),
)

MESSENGER: Access = (
    Right("GetItem", (p.DEAL, p.FAN_OUT_PAGE)),
    # News of many deals at once.
    Right("BatchGetItem", (p.DEAL,)),
    # For a cohort that is delivered again: whether its readers still have the same accounts.
    Right("BatchGetItem", (p.USER,), attributes=("Username", "CreatedAt")),
    # Whether an existing message waits for the digest.
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
    # Only the front page shows other deals next to its picks.
    Right("BatchGetItem", (p.DEAL, p.CATEGORY_ITEM, *p.CURATED, *p.FEED_CACHES, p.PICKS_CACHES[0])),
    Right("Query", (p.DEALS, p.ENDINGS_OF_DAYS, p.CATEGORY_ITEM, p.WORD)),
    Right("PutItem", (*p.FEED_CACHES, *p.PICKS_CACHES)),
    Right("UpdateItem", (p.CATEGORY_ITEM, *p.CURATED), attributes=("Featured", "FeaturedVersion")),
    Right("Query", (p.ALL_DEALS_BY_DAY, p.CATEGORY_BY_DISCOUNT), GSI1),
    Right("Query", (p.CATEGORY_BY_DAY, p.CATEGORY_BY_PRICE), GSI3),
)

PUBLISHER: Access = (
    # The offers of a product, and the price verdicts that are written into its deals, and nothing else of a deal.
    Right("Query", (p.PRODUCT,)),
    *(Right(each, (p.DEAL,), attributes=("Link", "Verdict")) for each in ("BatchGetItem", "UpdateItem")),
    Right("PutItem", (p.PRODUCT, p.WORD, p.LOG, p.SHOP)),
    Right("UpdateItem", (p.WORDS,)),
    Right("DeleteItem", (p.PRODUCT, p.WORD)),
)

REMOVER: Access = (*REMOVING, Right("Query", (p.REMOVALS,), GSI1))
