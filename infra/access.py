"""Rights of functions to the table, as data: rights to partitions, and the one kind of scan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from shared.dynamodb.schema import PARTITION_KEY, SORT_KEY, Index

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
    https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/specifying-conditions.html
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
    items; ``dynamodb:Select`` says that. The keys must be among the attributes:
    https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/specifying-conditions.html
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
    https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/specifying-conditions.html
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


def widened(access: Access, more: Access) -> Access:
    """Rights with more of them: partitions join those of a right that is the same otherwise."""
    rights = [*access]
    for new in more:
        for at, right in enumerate(rights):
            if isinstance(right, Right) and isinstance(new, Right) and replace(right, partitions=new.partitions) == new:
                rights[at] = replace(new, partitions=(*right.partitions, *new.partitions))
                break
        else:
            rights.append(new)
    return tuple(rights)
