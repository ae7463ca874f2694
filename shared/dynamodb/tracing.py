"""Traces of DynamoDB requests and their capacity, from botocore's events.

The command line prints a trace after each command, and the site at the end of each page on stages that show their work.
Without a trace there is no hook and no cost.
"""

from __future__ import annotations

import re
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from shared.dynamodb.attributes import unmarshal
from shared.dynamodb.capacity import Capacity, inserts, taken
from shared.dynamodb.table import ASKED_FOR, ROUND_TRIPS, Table, gathered
from shared.dynamodb.writes import Write

Json = dict[str, Any]

_PLACEHOLDER = re.compile(r":\w+")
READING = {"GetItem", "Query", "Scan", "BatchGetItem", "TransactGetItems"}
_RECORD = "btd.request"


@dataclass(slots=True)
class Request:
    """One request: its operation, index, keys, consumed capacity and refusal.

    ``capacity`` is None if unknown, as for most refusals. ``items`` counts those read or written. ``partitions`` has
    each key's partition, and "" for a request without a single one. ``source`` is our calling function as
    ``module:function:line``. ``consistent`` is None for a write. ``projection`` names the requested attributes if not
    all. ``writes`` are the arguments of ``Table.write`` or ``Table.transact``, ``reasons`` a transaction's cancellation
    codes, one for each. Requests that ``Table.gather`` sends together share a ``round_trip``, counted from any number.
    """

    operation: str
    index: str | None
    keys: tuple[str, ...]
    began: float
    round_trip: int
    seconds: float = 0.0
    capacity: Capacity | None = None
    by_index: dict[str, Capacity] = field(default_factory=dict)
    refused: str | None = None
    items: int = 0
    partitions: tuple[str, ...] = ()
    source: str = ""
    consistent: bool | None = None
    limit: int | None = None
    projection: tuple[str, ...] = ()
    filter: str = ""
    writes: tuple[Write, ...] = ()
    reasons: tuple[str, ...] = ()

    @property
    def ended(self) -> float:
        """When its answer arrived, on the clock of ``began``."""
        return self.began + self.seconds

    def to_json(self) -> Json:
        return {
            "operation": self.operation,
            "index": self.index,
            "keys": list(self.keys),
            "milliseconds": round(self.seconds * 1000, 1),
            **(self.capacity.to_json() if self.capacity else {"readUnits": None, "writeUnits": None, "basis": None}),
            "byIndex": {name: units.to_json() for name, units in self.by_index.items()},
            "refused": self.refused,
        }


class Trace:
    """The requests of a table's client while this is attached, in order; ``detailed`` keeps each of them.

    ``capacity`` is their sum; ``silent`` counts the requests whose answers didn't report any.
    """

    def __init__(self, *, detailed: bool = True) -> None:
        self.requests: list[Request] = []
        self.count = 0
        self.silent = 0
        self.capacity = Capacity()
        self._detailed = detailed
        self._endpoint = ""
        self._lock = threading.Lock()

    def attach(self, table: Table) -> Trace:
        """Trace a table's client from now on."""
        self._endpoint = table.client.meta.endpoint_url
        for event, hook in self._hooks().items():
            table.client.meta.events.register(event, hook)
        return self

    def detach(self, table: Table) -> None:
        """Stop tracing."""
        for event, hook in self._hooks().items():
            table.client.meta.events.unregister(event, hook)

    def _hooks(self) -> dict[str, Callable[..., None]]:
        return {
            "before-parameter-build.dynamodb": self._before,
            "after-call.dynamodb": self._after,
            "after-call-error.dynamodb": self._broken,
        }

    @property
    def round_trips(self) -> int:
        """How many requests followed one another; requests gathered together count once. Needs ``detailed``."""
        return max(waves(self.requests), default=0)

    def start_over(self) -> None:
        """Forget the requests so far."""
        with self._lock:
            self.requests, self.capacity = [], Capacity()
            self.count = self.silent = 0

    # botocore passes these by name.
    def _before(self, params: Json, model: Any, context: Json, **_others: Any) -> None:
        if "ReturnConsumedCapacity" in model.input_shape.members:
            params["ReturnConsumedCapacity"] = "INDEXES" if self._detailed else "TOTAL"
        places = list(_places(params)) if self._detailed else []
        keys = tuple(key for key, _ in places)
        request = Request(model.name, params.get("IndexName"), keys, time.perf_counter(), ROUND_TRIPS.get() + 1)
        if self._detailed:
            request.partitions = tuple(partition for _, partition in places)
            request.source = _source()
            request.items = len(keys)
            if model.name in READING:  # one of an index never is
                asked = (params, *params.get("RequestItems", {}).values())
                request.consistent = any(each.get("ConsistentRead", False) for each in asked)
            request.limit = params.get("Limit")
            request.projection = _projection(params)
            request.filter = params.get("FilterExpression", "")
            request.writes = ASKED_FOR.get() if request.consistent is None else ()
        # Several traces may watch one client, so each has its own record.
        context[f"{_RECORD} {id(self)}"] = (request, params)
        with self._lock:
            self.count += 1
            if self._detailed:
                self.requests.append(request)

    def _after(self, parsed: Json, context: Json, **_others: Any) -> None:
        request, asked = context.get(f"{_RECORD} {id(self)}", (None, {}))
        if request is None:
            return  # it began before this was attached
        request.seconds = time.perf_counter() - request.began
        ROUND_TRIPS.set(request.round_trip)
        request.refused = parsed["Error"]["Code"] if "Error" in parsed else None
        request.reasons = tuple(reason.get("Code", "None") for reason in parsed.get("CancellationReasons", ()))
        request.items = _items(parsed, request.items)
        units = taken(request.operation, asked, parsed, self._endpoint)
        if units is not None:
            request.capacity, request.by_index = sum(units.values(), Capacity()), units
        with self._lock:
            if request.capacity is None:
                self.silent += 1
            else:
                self.capacity += request.capacity

    def _broken(self, exception: Exception, context: Json, **_others: Any) -> None:
        """Record that no answer came: the consumed capacity is unknown."""
        request, _ = context.get(f"{_RECORD} {id(self)}", (None, {}))
        if request is not None:
            request.seconds = time.perf_counter() - request.began
            ROUND_TRIPS.set(request.round_trip)
            request.refused = type(exception).__name__

    def lose(self, context: Json) -> None:
        """Record that an answer was dropped on purpose; ``context`` is botocore's of that request."""
        request, _ = context.get(f"{_RECORD} {id(self)}", (None, {}))
        if request is not None:
            request.refused = "no answer"


def waves(requests: Sequence[Request]) -> list[int]:
    """The round trip of each request, counted from 1."""
    before = min((request.round_trip for request in requests), default=0) - 1
    return [request.round_trip - before for request in requests]


def _places(params: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The keys in a request's arguments, each with its partition in the table or index."""
    if "KeyConditionExpression" in params:
        condition, values = params["KeyConditionExpression"], params["ExpressionAttributeValues"]
        first = _PLACEHOLDER.findall(condition)[0]  # the partition's, as all of ours have it
        filled = _PLACEHOLDER.sub(lambda match: str(unmarshal(values[match.group()])), condition)
        yield filled, str(unmarshal(values[first]))
    elif "Segment" in params:
        yield f"segment {params['Segment'] + 1} of {params['TotalSegments']}", ""
    for write, item in _named(params):
        named = [str(unmarshal(item.get(name, {"S": ""}))) for name in ("PK", "SK")]  # a trial request may name half
        yield f"{write}{' / '.join(dict.fromkeys(named))}", named[0]


def _named(params: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The items or keys that a request names one by one, each with its operation in a transaction."""
    if "Key" in params or "Item" in params:
        yield "", params.get("Key") or params["Item"]
    for batch in params.get("RequestItems", {}).values():
        if "Keys" in batch:
            yield from (("", key) for key in batch["Keys"])
        else:
            yield from (("", each.get("Key") or each["Item"]) for write in batch for each in write.values())
    for write in params.get("TransactItems", ()):
        yield from ((f"{operation} ", each.get("Key") or each["Item"]) for operation, each in write.items())
    yield from (("", item) for item in inserts(params))


def _projection(params: Mapping[str, Any]) -> tuple[str, ...]:
    """The attributes that a read asks for, without placeholders."""
    for each in (params, *params.get("RequestItems", {}).values()):
        if "ProjectionExpression" in each:
            names = each.get("ExpressionAttributeNames", {})
            return tuple(names.get(name, name) for name in each["ProjectionExpression"].split(", "))
    return ()


def _items(parsed: Mapping[str, Any], written: int) -> int:
    """How many items an answer holds; for a write, how many were sent."""
    if "Items" in parsed:
        return len(parsed["Items"])
    if "Responses" in parsed and isinstance(parsed["Responses"], dict):
        return sum(len(items) for items in parsed["Responses"].values())
    if "Count" in parsed:
        return int(parsed["Count"])
    return 1 if "Item" in parsed else written


def _source() -> str:
    """The outermost data-layer function that made the request, within a gathered request if it is part of one."""
    found = ""
    frame: FrameType | None = sys._getframe()  # noqa: SLF001  # what inspect does, without reading files
    while frame is not None and frame.f_code is not gathered.__code__:
        module = frame.f_globals.get("__name__", "")
        if module.startswith("shared.data.") or (module.startswith("features.") and ".data" in module):
            found = f"{module}:{frame.f_code.co_name}:{frame.f_code.co_firstlineno}"
        frame = frame.f_back
    return found
