"""What a request reads, and what it may write."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from shared.dynamodb.capacity import Capacity, inserts
from shared.dynamodb.schema import INDEXES, key_names

Wire = dict[str, Any]
"""An item or a key in DynamoDB's form."""

Place = tuple[str, str]
"""An item's key, hashable."""

Token = tuple[str, ...]
"""Something that a request reads or writes: an item, a partition of the table or of an index, all items, a queue."""

ALL: Token = ("all items",)
QUEUE: Token = ("queue",)


@dataclass(frozen=True, slots=True)
class Request:
    """A request that was made: what it read, what it changed, and the units that it consumed."""

    name: str
    reads: frozenset[Token]
    writes: frozenset[Token]
    units: Capacity = field(default_factory=Capacity)

    def meets(self, other: Request) -> bool:
        """Whether the order of the two makes a difference."""
        return not (self.writes.isdisjoint(other.reads) and self.reads.isdisjoint(other.writes))


def place_of(item: Mapping[str, Any]) -> Place:
    """The key of an item in DynamoDB's form."""
    return item["PK"]["S"], item["SK"]["S"]


def tokens_of(place: Place, item: Wire) -> Iterator[Token]:
    """What an item is part of."""
    yield "item", *place
    yield from positions_of(place, item)


def positions_of(place: Place, item: Wire) -> dict[Token, object]:
    """What an item is part of beside others, and where it stands in that."""
    found: dict[Token, object] = {ALL: place, ("partition", "", place[0]): place}
    for index in INDEXES:
        names = [name for name in key_names(index) if name]
        if all(name in item for name in names):
            own = *(str(item[name]) for name in names), place
            found |= {("index", index.name): own, ("partition", index.name, item[names[0]]["S"]): own}
    return found


def touches(called: str, asked: Mapping[str, Any]) -> tuple[frozenset[Token], list[Place]]:
    """What a request reads, and the keys of what it may write. A condition reads its item."""
    if called == "query":
        condition, values = asked["KeyConditionExpression"], asked["ExpressionAttributeValues"]
        first = condition.split(" = ")[1].split(" ")[0]
        return frozenset({("partition", asked.get("IndexName", ""), values[first]["S"])}), []
    if called == "scan":
        return frozenset({("index", asked["IndexName"]) if "IndexName" in asked else ALL}), []
    written: list[Place] = []
    read: list[Place] = []
    for operation, item in named(called, asked):
        read.append(place_of(item))
        if operation not in ("ConditionCheck", "Get"):
            written.append(place_of(item))
    return frozenset(("item", *place) for place in read), written


def named(called: str, asked: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """The items and keys that a request names, each with what it does there."""
    if called == "transact_write_items":
        each_of = [(name, one) for write in asked["TransactItems"] for name, one in write.items()]
        return [(name, one.get("Key") or one["Item"]) for name, one in each_of]
    if called == "batch_get_item":
        return [("Get", key) for batch in asked["RequestItems"].values() for key in batch["Keys"]]
    if called == "batch_execute_statement":
        return [("Put", item) for item in inserts(asked)]
    if called in ("get_item", "put_item", "update_item", "delete_item"):
        return [("Get" if called == "get_item" else "Write", asked.get("Key") or asked["Item"])]
    return []


def left_by(called: str, asked: Mapping[str, Any]) -> dict[Place, Wire | None]:
    """What a request leaves in the places whose items it names whole, if it isn't refused."""
    one = {"put_item": "Put", "delete_item": "Delete"}.get(called)
    writes = [{one: asked}] if one else asked["TransactItems"] if called == "transact_write_items" else []
    puts = {place_of(each["Put"]["Item"]): _answered(each["Put"]["Item"]) for each in writes if "Put" in each}
    return puts | {place_of(each["Delete"]["Key"]): None for each in writes if "Delete" in each}


def read_by(asked: Mapping[str, Any], answer: Any, reads: frozenset[Token]) -> frozenset[Token]:
    """What a request has read of what it may read. An answer with a range of a partition, or of all items, comes from
    these and from where items begin and end to stand there: another item's other attributes make no difference."""
    items = answer.get("Items")
    if items is None or "FilterExpression" in asked or not all("PK" in each and "SK" in each for each in items):
        return reads
    return frozenset({("item", *place_of(item)) for item in items} | {("order", *token) for token in reads})


def changed_by(place: Place, old: Wire | None, new: Wire | None) -> set[Token]:
    """What changes if an item takes the place of another, or of none."""
    before, after = (positions_of(place, item) if item else {} for item in (old, new))
    moved = {("order", *token) for token, _ in before.items() ^ after.items()}
    return {("item", *place), *before, *after, *moved}


def _answered(item: Wire) -> Wire:
    """An item as an answer has it: with base64 for bytes."""
    answered: Wire = json.loads(json.dumps(item, default=lambda value: b64encode(value).decode()))
    return answered
