"""Writes as values: each states its condition, and carries the domain error that its refusal means.

The same write goes alone (``Table.write``) or with others in a transaction (``Table.transact``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from shared.dynamodb.attributes import Item, marshal_item
from shared.dynamodb.schema import Key
from shared.dynamodb.trouble import AGAIN
from shared.errors import DealsError

MOST_TOGETHER = 100
"""Writes of one transaction.

https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html"""


@dataclass(frozen=True, slots=True)
class Write:
    """One conditional write: DynamoDB's operation, its arguments, and the error that its refusal means.

    ``leaves`` is what its item holds afterwards, where that identifies the write.
    """

    operation: str
    arguments: Mapping[str, Any]
    refused: DealsError | None
    leaves: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.refused, AGAIN):
            raise TypeError("a refusal lasts, and this error would be tried again")

    def left(self, item: Item) -> bool:
        """True if the item looks as this write leaves it; a deletion leaves none."""
        if self.operation == "Delete":
            return not item
        if self.leaves is None:
            return False
        return marshal_item({name: item.get(name) for name in self.leaves}) == marshal_item(self.leaves)


def put_new(item: Mapping[str, Any], *, refused: DealsError) -> Write:
    """Put an item whose key is not taken."""
    return Write("Put", {"Item": marshal_item(item), "ConditionExpression": "attribute_not_exists(PK)"}, refused, item)


def put_new_or(item: Mapping[str, Any], over: str, values: Mapping[str, Any], *, refused: DealsError) -> Write:
    """Put an item whose key is not taken, or over one that meets a condition; ``values`` fill its placeholders."""
    return put_over(item, f"attribute_not_exists(PK) OR {over}", values, refused=refused)


def put(item: Mapping[str, Any], *, because: str) -> Write:
    """Put an item whatever was there; ``because`` says why no condition is needed."""
    _reasoned(because)
    return Write("Put", {"Item": marshal_item(item)}, None)


def put_over(item: Mapping[str, Any], condition: str, values: Mapping[str, Any], *, refused: DealsError) -> Write:
    """Put an item in place of one that meets a condition; ``values`` fill its placeholders."""
    arguments = {
        "Item": marshal_item(item),
        "ConditionExpression": condition,
        "ExpressionAttributeValues": marshal_item(values),
    }
    return Write("Put", arguments, refused, item)


def delete(
    key: Key,
    *,
    refused: DealsError,
    condition: str = "attribute_exists(PK)",
    names: Mapping[str, str] | None = None,
    values: Mapping[str, Any] | None = None,
) -> Write:
    """Delete an item that must exist, or meet a condition; ``names`` and ``values`` fill the placeholders."""
    return Write("Delete", _arguments(key, condition, names, values), refused)


def delete_as(item: Item, *, refused: DealsError) -> Write:
    """Delete an item that is still as it was read, in all attributes."""
    condition, names, values = _unchanged(item, sorted(item.keys() - {"PK", "SK"}))
    key = {name: item[name] for name in ("PK", "SK")}
    return delete(key, condition=condition, names=names, values=values, refused=refused)


def forget(key: Key, *, because: str) -> Write:
    """Delete an item if it is there; ``because`` says why it may be gone."""
    _reasoned(because)
    return Write("Delete", _arguments(key), None)


def update(
    key: Key,
    expression: str,
    *,
    refused: DealsError | None,
    condition: str | None = "attribute_exists(PK)",
    names: Mapping[str, str] | None = None,
    values: Mapping[str, Any] | None = None,
) -> Write:
    """Update an item that must exist, or meet a condition; ``names`` and ``values`` fill the placeholders."""
    arguments = _arguments(key, condition, names, values)
    return Write("Update", {**arguments, "UpdateExpression": expression}, refused)


def assign(
    key: Key,
    left: Mapping[str, Any],
    *,
    refused: DealsError,
    condition: str = "attribute_exists(PK)",
    names: Mapping[str, str] | None = None,
    values: Mapping[str, Any] | None = None,
) -> Write:
    """Set attributes of an item, and remove those that are None, if it exists or meets a condition."""
    numbers = dict(enumerate(left.items()))
    clauses = {
        "SET": [f"#n{n} = :v{n}" for n, (_, value) in numbers.items() if value is not None],
        "REMOVE": [f"#n{n}" for n, (_, value) in numbers.items() if value is None],
    }
    return update(
        key,
        " ".join(f"{verb} {', '.join(parts)}" for verb, parts in clauses.items() if parts),
        condition=condition,
        names={**(names or {}), **{f"#n{n}": name for n, (name, _) in numbers.items()}},
        values={**(values or {}), **{f":v{n}": value for n, (_, value) in numbers.items() if value is not None}},
        refused=refused,
    )


def require(key: Key, condition: str, *, refused: DealsError, values: Mapping[str, Any] | None = None) -> Write:
    """Require a condition of an item that a transaction does not write."""
    return Write("ConditionCheck", _arguments(key, condition, values=values), refused)


def change(old: Item, new: Item, *, version: str | None, refused: DealsError) -> Write:
    """Update what differs between two states of one item, if its version attribute is still the old one's.

    Without a version, all attributes of the old state must still be as they were.

    Attributes that neither state knows, such as a newer release's, are left alone.
    """
    differing = sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))
    left = {name: new.get(name) for name in differing}
    condition, names, values = _unchanged(old, [version] if version else sorted(old.keys() - {"PK", "SK"}))
    key = {name: old[name] for name in ("PK", "SK")}
    made = assign(key, left, condition=condition, names=names, values=values, refused=refused)
    return replace(made, leaves=left)


def _arguments(
    key: Key,
    condition: str | None = None,
    names: Mapping[str, str] | None = None,
    values: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    given = {
        "Key": marshal_item(key),
        "ConditionExpression": condition,
        "ExpressionAttributeNames": names and dict(names),
        "ExpressionAttributeValues": values and marshal_item(values),
    }
    return {name: value for name, value in given.items() if value}


def _unchanged(item: Item, held: Sequence[str]) -> tuple[str, dict[str, str], dict[str, Any]]:
    """The condition that some attributes are as in an item, and what fills its placeholders."""
    names = {f"#held{number}": name for number, name in enumerate(held)}
    values = {f":held{number}": item[name] for number, name in enumerate(held)}
    return " AND ".join(f"{name} = {value}" for name, value in zip(names, values, strict=True)), names, values


def _reasoned(because: str) -> None:
    if not because:
        raise ValueError("an unconditional write says why it needs no condition")
