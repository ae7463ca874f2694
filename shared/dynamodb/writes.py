"""Writes as values: each states its condition, and carries the domain error that its refusal means.

The same write goes alone (``Table.write``) or with others in a transaction (``Table.transact``).
"""

from __future__ import annotations

from collections.abc import Mapping
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
    arguments = {
        "Item": marshal_item(item),
        "ConditionExpression": f"attribute_not_exists(PK) OR {over}",
        "ExpressionAttributeValues": marshal_item(values),
    }
    return Write("Put", arguments, refused, item)


def put(item: Mapping[str, Any], *, because: str) -> Write:
    """Put an item whatever was there; ``because`` says why no condition is needed."""
    _reasoned(because)
    return Write("Put", {"Item": marshal_item(item)}, None)


def delete(
    key: Key,
    *,
    refused: DealsError,
    condition: str = "attribute_exists(PK)",
    names: Mapping[str, str] | None = None,
    values: Mapping[str, Any] | None = None,
) -> Write:
    """Delete an item that must exist, or meet a condition; ``names`` and ``values`` fill the placeholders."""
    arguments: dict[str, Any] = {"Key": marshal_item(key), "ConditionExpression": condition}
    if names:
        arguments["ExpressionAttributeNames"] = dict(names)
    if values:
        arguments["ExpressionAttributeValues"] = marshal_item(values)
    return Write("Delete", arguments, refused)


def forget(key: Key, *, because: str) -> Write:
    """Delete an item if it is there; ``because`` says why it may be gone."""
    _reasoned(because)
    return Write("Delete", {"Key": marshal_item(key)}, None)


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
    arguments: dict[str, Any] = {"Key": marshal_item(key), "UpdateExpression": expression}
    if condition:
        arguments["ConditionExpression"] = condition
    if names:
        arguments["ExpressionAttributeNames"] = dict(names)
    if values:
        arguments["ExpressionAttributeValues"] = marshal_item(values)
    return Write("Update", arguments, refused)


def require(key: Key, condition: str, *, refused: DealsError, values: Mapping[str, Any] | None = None) -> Write:
    """Require a condition of an item that a transaction does not write."""
    arguments: dict[str, Any] = {"Key": marshal_item(key), "ConditionExpression": condition}
    if values:
        arguments["ExpressionAttributeValues"] = marshal_item(values)
    return Write("ConditionCheck", arguments, refused)


def change(old: Item, new: Item, *, version: str | None, refused: DealsError) -> Write:
    """Update what differs between two states of one item, if its version attribute is still the old one's.

    Without a version, all attributes of the old state must still be there, unchanged.

    Attributes that neither state knows, such as a newer release's, are left alone.
    """
    assignments: list[str] = []
    removals: list[str] = []
    held = [version] if version else sorted(old.keys() - {"PK", "SK"})
    names: dict[str, str] = {f"#held{number}": name for number, name in enumerate(held)}
    values: dict[str, Any] = {f":held{number}": old[name] for number, name in enumerate(held)}
    condition = " AND ".join(f"#held{number} = :held{number}" for number in range(len(held)))
    differing = sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))
    for number, name in enumerate(differing):
        names[f"#n{number}"] = name
        if new.get(name) is None:
            removals.append(f"#n{number}")
        else:
            assignments.append(f"#n{number} = :v{number}")
            values[f":v{number}"] = new[name]
    expression = " ".join(
        clause
        for clause in (
            f"SET {', '.join(assignments)}" if assignments else "",
            f"REMOVE {', '.join(removals)}" if removals else "",
        )
        if clause
    )
    key = {name: old[name] for name in ("PK", "SK")}
    made = update(key, expression, condition=condition, names=names, values=values, refused=refused)
    return replace(made, leaves={name: new.get(name) for name in differing})


def _reasoned(because: str) -> None:
    if not because:
        raise ValueError("an unconditional write says why it needs no condition")
