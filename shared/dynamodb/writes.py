"""Conditional writes as values. Each states its condition, and the domain error to raise when it is refused.

``Table.write`` sends one; ``Table.transact`` sends several in a transaction.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypedDict, Unpack

from shared.dynamodb.attributes import Item, marshal_item
from shared.dynamodb.aws_errors import AGAIN
from shared.dynamodb.schema import Key
from shared.errors import DealsError

EXISTS, ABSENT = "attribute_exists(PK)", "attribute_not_exists(PK)"
"""The conditions that an item with this key exists, and that none does."""

MOST_TOGETHER = 100
"""Writes in a transaction:
https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html"""


@dataclass(frozen=True, slots=True)
class Write:
    """One conditional write: DynamoDB's operation, its arguments, and the error to raise when it is refused.

    ``leaves`` is the item's content after the write, if that identifies the write.
    """

    operation: str
    arguments: Mapping[str, Any]
    refused: DealsError | None
    leaves: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.refused, AGAIN):
            raise TypeError("a refusal lasts, and this error would be tried again")

    def left(self, item: Item) -> bool:
        """True if the item looks as this write leaves it (after a deletion: absent)."""
        if self.operation == "Delete":
            return not item
        left = self.leaves
        return left is not None and marshal_item({name: item.get(name) for name in left}) == marshal_item(left)


class Placeholders(TypedDict, total=False):
    """Values of an expression's placeholders: ``names`` for those with ``#``, ``values`` for those with ``:``."""

    names: Mapping[str, str] | None
    values: Mapping[str, Any] | None


def put_new(item: Mapping[str, Any], *, refused: DealsError) -> Write:
    """Put an item if none has its key."""
    return put_over(item, ABSENT, {}, refused=refused)


def put_over(item: Mapping[str, Any], condition: str, values: Mapping[str, Any], *, refused: DealsError) -> Write:
    """Replace an item that meets a condition."""
    return Write("Put", _arguments("Item", item, condition, values=values), refused, item)


def put(item: Mapping[str, Any], *, because: str) -> Write:
    """Put an item unconditionally; ``because`` says why no condition is needed."""
    return _unconditional("Put", _arguments("Item", item), because)


def delete(key: Key, *, refused: DealsError, condition: str = EXISTS, **filled: Unpack[Placeholders]) -> Write:
    """Delete an item that exists, or that meets a condition."""
    return Write("Delete", _arguments("Key", key, condition, **filled), refused)


def delete_as(item: Item, *, refused: DealsError) -> Write:
    """Delete an item if none of its attributes has changed since it was read."""
    return delete(**_unchanged(item), refused=refused)


def forget(key: Key, *, because: str) -> Write:
    """Delete an item that may be absent; ``because`` says why that is fine."""
    return _unconditional("Delete", _arguments("Key", key), because)


def update(
    key: Key,
    expression: str,
    *,
    refused: DealsError | None,
    condition: str | None = EXISTS,
    **filled: Unpack[Placeholders],
) -> Write:
    """Update an item that exists, or that meets a condition."""
    arguments = _arguments("Key", key, condition, **filled)
    return Write("Update", {**arguments, "UpdateExpression": expression}, refused)


def upsert(key: Key, left: Mapping[str, Any], added: Mapping[str, Any], *, because: str) -> Write:
    """Set and add to attributes of an item, creating it if needed; ``because`` says why no condition is needed."""
    return _unconditional("Update", assign(key, left, added, refused=None, condition=None).arguments, because)


def assign(
    key: Key,
    left: Mapping[str, Any],
    added: Mapping[str, Any] = {},
    *,
    refused: DealsError | None,
    condition: str | None = EXISTS,
    **filled: Unpack[Placeholders],
) -> Write:
    """Set and add to attributes of an item that exists, or that meets a condition; None removes an attribute."""
    numbers = dict(enumerate([*left.items(), *added.items()]))
    clauses = {
        "SET": [f"#n{n} = :v{n}" for n, (name, value) in numbers.items() if value is not None and name not in added],
        "REMOVE": [f"#n{n}" for n, (_, value) in numbers.items() if value is None],
        "ADD": [f"#n{n} :v{n}" for n, (name, _) in numbers.items() if name in added],
    }
    return update(
        key,
        " ".join(f"{verb} {', '.join(parts)}" for verb, parts in clauses.items() if parts),
        refused=refused,
        condition=condition,
        names={**(filled.get("names") or {}), **{f"#n{n}": name for n, (name, _) in numbers.items()}},
        values={**(filled.get("values") or {}), **{f":v{n}": value for n, (_, value) in numbers.items()}},
    )


def require(key: Key, condition: str, *, refused: DealsError, **filled: Unpack[Placeholders]) -> Write:
    """Require a condition of an item that the transaction doesn't write."""
    return Write("ConditionCheck", _arguments("Key", key, condition, **filled), refused)


def change(old: Item, new: Item, *, version: str | None, refused: DealsError) -> Write:
    """Update the attributes that differ between two states of an item, if its ``version`` attribute is unchanged.

    Without ``version``, every attribute of the old state must be unchanged. Attributes that neither state has, such as
    those of a newer release, stay as they are.
    """
    left = {name: new.get(name) for name in sorted(old.keys() | new.keys()) if old.get(name) != new.get(name)}
    return replace(assign(left=left, **_unchanged(old, version), refused=refused), leaves=left)


def _arguments(
    place: str, item: Mapping[str, Any], condition: str | None = None, **filled: Unpack[Placeholders]
) -> dict[str, Any]:
    given = {
        place: marshal_item(item),
        "ConditionExpression": condition,
        "ExpressionAttributeNames": dict(filled.get("names") or {}),
        "ExpressionAttributeValues": marshal_item(filled.get("values") or {}),
    }
    return {name: value for name, value in given.items() if value}


def _unchanged(item: Item, version: str | None = None) -> dict[str, Any]:
    """The key of an item, and the condition that its version, or else every attribute, is as it was read."""
    held = dict(enumerate([version] if version else sorted(item.keys() - {"PK", "SK"})))
    return {
        "key": {name: item[name] for name in ("PK", "SK")},
        "condition": " AND ".join(f"#held{number} = :held{number}" for number in held),
        "names": {f"#held{number}": name for number, name in held.items()},
        "values": {f":held{number}": item[name] for number, name in held.items()},
    }


def _unconditional(operation: str, arguments: Mapping[str, Any], because: str) -> Write:
    if not because:
        raise ValueError("an unconditional write says why it needs no condition")
    return Write(operation, arguments, None)
