"""What a command asks of DynamoDB and what that costs, by botocore's events and ReturnConsumedCapacity."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from shared.dynamodb.attributes import unmarshal

if TYPE_CHECKING:
    from shared.dynamodb.table import Table

Json = dict[str, Any]

_PLACEHOLDER = re.compile(r":\w+")
_WRITES = ("Put", "Update", "Delete", "ConditionCheck")
_WRITING = {"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"}
_RECORD = "btd.request"
_BEFORE, _AFTER = "before-parameter-build.dynamodb", "after-call.dynamodb"


@dataclass(frozen=True, slots=True)
class Capacity:
    """Consumed capacity, in read and write request units."""

    read: float = 0.0
    write: float = 0.0

    def __add__(self, other: Capacity) -> Capacity:
        return Capacity(self.read + other.read, self.write + other.write)

    def __str__(self) -> str:
        amounts = ((self.read, "RRU"), (self.write, "WRU"))
        parts = [f"{amount:,.1f}".removesuffix(".0") + f" {unit}" for amount, unit in amounts if amount]
        return " + ".join(parts) or "0"


@dataclass(slots=True)
class Request:
    """One request: its operation, the index it reads, the keys it names, what it consumed, and how it was refused.

    ``capacity`` is None where the answer does not say: refusals never do.
    """

    operation: str
    index: str | None
    keys: tuple[str, ...]
    began: float
    seconds: float = 0.0
    capacity: Capacity | None = None
    by_index: dict[str, Capacity] = field(default_factory=dict)
    refused: str | None = None

    def to_json(self) -> Json:
        return {
            "operation": self.operation,
            "index": self.index,
            "keys": list(self.keys),
            "milliseconds": round(self.seconds * 1000, 1),
            "readUnits": self.capacity.read if self.capacity else None,
            "writeUnits": self.capacity.write if self.capacity else None,
            "byIndex": {name: {"readUnits": c.read, "writeUnits": c.write} for name, c in self.by_index.items()},
            "refused": self.refused,
        }


class Trace:
    """The requests that a table's client makes while this is attached, in order; ``detailed`` keeps each of them.

    ``capacity`` is their sum, without the ``silent`` ones whose answers did not say what they consumed.
    """

    def __init__(self, *, detailed: bool = True) -> None:
        self.requests: list[Request] = []
        self.count = 0
        self.silent = 0
        self.capacity = Capacity()
        self._detailed = detailed
        self._lock = threading.Lock()

    def attach(self, table: Table) -> Trace:
        """Watch a table's client from now on."""
        table.client.meta.events.register(_BEFORE, self._before)
        table.client.meta.events.register(_AFTER, self._after)
        return self

    # botocore passes these by name.
    def _before(self, params: Json, model: Any, context: Json, **_others: Any) -> None:
        if "ReturnConsumedCapacity" in model.input_shape.members:
            params["ReturnConsumedCapacity"] = "INDEXES" if self._detailed else "TOTAL"
        keys = tuple(_keys(params)) if self._detailed else ()
        request = Request(model.name, params.get("IndexName"), keys, time.perf_counter())
        context[_RECORD] = request
        with self._lock:
            self.count += 1
            if self._detailed:
                self.requests.append(request)

    def _after(self, parsed: Json, context: Json, **_others: Any) -> None:
        request: Request = context[_RECORD]
        request.seconds = time.perf_counter() - request.began
        request.refused = parsed["Error"]["Code"] if "Error" in parsed else None
        consumed = parsed.get("ConsumedCapacity") or []
        for part in consumed if isinstance(consumed, list) else [consumed]:
            request.capacity = (request.capacity or Capacity()) + _units(part, request.operation)
            for name, units in _parts(part):
                known = request.by_index.get(name, Capacity())
                request.by_index[name] = known + _units(units, request.operation)
        with self._lock:
            if request.capacity is None:
                self.silent += 1
            else:
                self.capacity += request.capacity


def _units(consumed: Mapping[str, Any], operation: str) -> Capacity:
    """Transactions tell reads from writes; elsewhere the operation does."""
    if "ReadCapacityUnits" in consumed or "WriteCapacityUnits" in consumed:
        return Capacity(consumed.get("ReadCapacityUnits", 0.0), consumed.get("WriteCapacityUnits", 0.0))
    units = consumed.get("CapacityUnits", 0.0)
    return Capacity(write=units) if operation in _WRITING else Capacity(read=units)


def _parts(consumed: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if "Table" in consumed:
        yield "table", consumed["Table"]
    yield from sorted(consumed.get("GlobalSecondaryIndexes", {}).items())


def _keys(params: Mapping[str, Any]) -> Iterator[str]:
    """What a request's arguments say of the keys it reads or writes."""
    if "KeyConditionExpression" in params:
        yield _filled(params["KeyConditionExpression"], params["ExpressionAttributeValues"])
    elif "Key" in params or "Item" in params:
        yield _key(params.get("Key") or params["Item"])
    elif "Segment" in params:
        yield f"segment {params['Segment'] + 1} of {params['TotalSegments']}"
    for wanted in params.get("RequestItems", {}).values():
        yield from map(_key, wanted["Keys"])
    for write in params.get("TransactItems", ()):
        for operation in _WRITES:
            if operation in write:
                arguments = write[operation]
                yield f"{operation} {_key(arguments.get('Key') or arguments['Item'])}"
    for statement in params.get("Statements", ()):
        yield statement["Statement"].split(" VALUE ")[0]


def _key(item: Mapping[str, Any]) -> str:
    partition, sort = unmarshal(item["PK"]), unmarshal(item["SK"])
    return str(partition) if partition == sort else f"{partition} / {sort}"


def _filled(expression: str, values: Mapping[str, Any]) -> str:
    """A key condition with its values in place of their placeholders."""
    return _PLACEHOLDER.sub(lambda match: str(unmarshal(values[match.group()])), expression)
