"""What a request reads, and what it may write."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping
from typing import Any

from shared.dynamodb.capacity import inserts
from shared.dynamodb.schema import INDEXES, key_names

Wire = dict[str, Any]
"""An item or a key in DynamoDB's form."""

Place = tuple[str, str]
"""An item's key, hashable."""

Token = tuple[str, ...]
"""Something that a request reads or writes: an item, a partition of the table or of an index, all items, a queue."""

ALL: Token = ("all items",)
QUEUE: Token = ("queue",)


def place_of(item: Mapping[str, Any]) -> Place:
    """The key of an item in DynamoDB's form."""
    return item["PK"]["S"], item["SK"]["S"]


def tokens_of(place: Place, item: Wire) -> Iterator[Token]:
    """What an item is part of."""
    yield from (ALL, ("item", *place), ("partition", "", place[0]))
    for index in INDEXES:
        if (name := key_names(index)[0]) in item:
            yield "partition", index.name, item[name]["S"]


def touches(called: str, asked: Mapping[str, Any]) -> tuple[frozenset[Token], list[Place]]:
    """What a request reads, and the keys of what it may write. A condition reads its item."""
    if called == "query":
        condition, values = asked["KeyConditionExpression"], asked["ExpressionAttributeValues"]
        first = condition.split(" = ")[1].split(" ")[0]
        return frozenset({("partition", asked.get("IndexName", ""), values[first]["S"])}), []
    if called == "scan":
        return frozenset({ALL}), []
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


def _answered(item: Wire) -> Wire:
    """An item as an answer has it: with base64 for bytes."""
    answered: Wire = json.loads(json.dumps(item, default=lambda value: b64encode(value).decode()))
    return answered
