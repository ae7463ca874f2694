"""What a run may cost at most, before it is sent; and a network's units in an hour.

A visitor writes the request, and one request may write hundreds of units: ``{long}`` stands for 426 bytes, a
text of it is copied by each clause of an update, and each index takes the item again. So a bound is counted from the
request and the items that it may meet, by the rules of ``shared/dynamodb/capacity.py``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from features.scratch import running
from features.scratch.keys import UNITS
from features.scratch.running import Given
from features.scratch.steps import Script, Step
from shared.data.members import rate_limits
from shared.dynamodb.attributes import marshal_item
from shared.dynamodb.capacity import size_of
from shared.dynamodb.schema import INDEXES
from shared.dynamodb.table import Table
from shared.dynamodb.tracing import Trace

MOST_TYPED = 60
"""Write units of the requests that a visitor typed."""

MOST_AN_HOUR = 5_000
"""Write units of all runs from a network: some 15 of the largest, or hundreds of others."""

AN_HOUR = 3600

_WORDS = re.compile(r"[#:]?\w+")
_NO_NAMES = {"SET", "ADD", "REMOVE", "DELETE", "LIST_APPEND", "IF_NOT_EXISTS"}


def of_requests(steps: Sequence[Step], begun: Sequence[Mapping[str, Any]], given: Given) -> int:
    """The most write units that requests may take, sent to a partition with these items."""
    largest = max((_bytes(item) for item in begun), default=0)
    indexes = max(map(_indexes, begun), default=0)
    units = 0
    for step in steps:
        transactional = step.operation.startswith("Transact")
        for kind, write in _writes(step, running.arguments_of(step, given)):
            size = max(largest, _after(kind, write, largest))
            indexes = max(indexes, _indexes(write.get("Item", {})))
            # Two entries where an index's key moves, and an end for an item that an update made (``running``).
            times = (2 if transactional else 1) + 2 * indexes
            units += -(-max(size, 1) // 1024) * times * (2 if kind == "Update" else 1)
            largest = size
    return units


def of_run(script: Script, given: Given) -> int:
    """The most write units of a run, with the items that it begins with."""
    begun = [*running.filled_items(script, given)]
    beginning = sum(-(-_bytes(item) // 1024) * (1 + _indexes(item)) for item in begun)
    versions = [steps for steps in (script.common, script.ours) if steps]
    return sum(beginning + of_requests(steps, begun, given) for steps in versions)


def spend(table: Table, address: str, units: int, now: datetime, trace: Trace) -> None:
    """Count the units of a run for the networks around an address. Raises SlowDown. The page doesn't list it."""
    trace.detach(table)
    try:
        rate_limits.add(table, rate_limits.around(address, MOST_AN_HOUR, UNITS), now, by=units, seconds=AN_HOUR)
    finally:
        trace.attach(table)


def _writes(step: Step, arguments: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The single writes of a request, each with its kind."""
    if step.operation in ("PutItem", "UpdateItem", "DeleteItem"):
        yield step.operation.removesuffix("Item"), arguments
    for each in (*arguments.get("TransactItems", ()), *arguments.get("Requests", ())):
        for kind, write in each.items():
            if kind != "Get":
                yield kind.removesuffix("Request"), write


def _after(kind: str, write: Mapping[str, Any], largest: int) -> int:
    """The most bytes of an item after a write: an update copies its values and attributes as often as it names them."""
    if kind == "Put":
        return _bytes(write.get("Item", {}))  # DynamoDB refuses one without
    if kind != "Update":
        return largest
    expression: str = write.get("UpdateExpression", "")
    words = _WORDS.findall(expression)
    values = {name: _bytes({"": value}) for name, value in write.get("ExpressionAttributeValues", {}).items()}
    named = sum(not word.startswith(":") and word.upper() not in _NO_NAMES for word in words)
    copied = max(0, named - expression.count("="))  # those that aren't set
    texts = [expression, *write.get("ExpressionAttributeNames", {}).values()]
    return largest * (1 + copied) + sum(values.get(word, 0) for word in words) + sum(map(len, texts)) + 100


def _bytes(item: Mapping[str, Any]) -> int:
    return size_of(marshal_item(item))


def _indexes(item: Mapping[str, Any]) -> int:
    return sum(index.partition_key in item for index in INDEXES)
