"""What a function may be allowed to do with the table, as data: rights to partitions, and the one kind of scan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from shared.dynamodb.schema import PARTITION_KEY, SORT_KEY, Index

_NAMES_KEYS = {
    "GetItem", "BatchGetItem", "Query", "ConditionCheckItem", "PutItem", "UpdateItem", "DeleteItem", "PartiQLInsert",
}  # fmt: skip
"""Operations whose requests name partition keys, says AWS's service authorization reference."""


@dataclass(frozen=True, slots=True)
class Right:
    """One operation on the items of some partitions, of the table or of an index.

    ``partitions`` are patterns of partition keys. IAM holds every key that a request names against them, and each
    request of such an operation names at least one, so ``ForAllValues`` never holds for want of any. A transaction is
    authorized as the operations in it, and PartiQL's INSERT is ``PartiQLInsert``. ``attributes``, where any are named,
    are all that may be asked for of an item besides its key.
    """

    operation: str
    partitions: tuple[str, ...]
    index: Index | None = None
    attributes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.operation not in _NAMES_KEYS or not self.partitions:
            raise ValueError(f"{self.operation} cannot be cut to partitions")

    @property
    def conditions(self) -> Mapping[str, Mapping[str, Any]]:
        keys: dict[str, Mapping[str, Any]] = {
            "ForAllValues:StringLike": {"dynamodb:LeadingKeys": list(self.partitions)},
        }
        return keys | (_only(self.attributes, PARTITION_KEY, SORT_KEY) if self.attributes else {})


@dataclass(frozen=True, slots=True)
class Scan:
    """Scanning an index for some attributes of its items; a Scan names no keys that it could be cut to.

    ``dynamodb:Attributes`` holds what a request asks for, and is missing where it asks for whole items, which
    ``dynamodb:Select`` tells. DynamoDB wants the keys to be among the attributes.
    """

    attributes: tuple[str, ...]
    index: Index
    operation: str = field(default="Scan", init=False)

    @property
    def conditions(self) -> Mapping[str, Mapping[str, Any]]:
        keys = (PARTITION_KEY, SORT_KEY, self.index.partition_key, self.index.sort_key)
        return _only(self.attributes, *filter(None, keys))


def _only(attributes: tuple[str, ...], *keys: str) -> dict[str, Mapping[str, Any]]:
    """The conditions that a request asks for these attributes, and for no whole item."""
    return {
        "ForAllValues:StringEquals": {"dynamodb:Attributes": [*keys, *attributes]},
        "StringEqualsIfExists": {"dynamodb:Select": "SPECIFIC_ATTRIBUTES"},
    }


Access = tuple[Right | Scan, ...]
"""What a function does with the table."""
