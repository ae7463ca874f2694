"""Capacity as it is counted, held against what dynoxide tells of each request that the data layer makes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from shared.dynamodb.capacity import TABLE, Basis, Capacity, taken, units_written
from shared.dynamodb.client import connect
from shared.dynamodb.table import Table
from shared.dynamodb.tracing import Trace
from tests.support.engines import FAKE_CREDENTIALS
from tests.support.wire import hooked

ELSEWHERE = "http://127.0.0.1"
"""An engine that does not tell: its requests are counted."""


def taken_by(table: Table, steps: Mapping[str, Callable[[], object]]) -> dict[str, Capacity]:
    """The capacity that each step takes, one after the other."""
    took = {}
    for name, step in steps.items():
        trace = Trace(detailed=False).attach(table)
        step()
        trace.detach(table)
        took[name] = trace.capacity
    return took


@contextmanager
def compared(table: Table) -> Iterator[list[str]]:
    """Each request of whose capacity the answer says one thing and the count another; at least, where it says so."""
    endpoint = table.client.meta.endpoint_url
    other: Any = connect("none", endpoint_url=endpoint, **FAKE_CREDENTIALS).client
    wrong: list[str] = []

    def images(asked: Mapping[str, Any]) -> list[Any]:
        return [
            other.get_item(TableName=table.name, Key=key, ConsistentRead=True).get("Item") for key in _written(asked)
        ]

    def ask(params: dict[str, Any], context: dict[str, Any], **_: Any) -> None:
        params["ReturnConsumedCapacity"] = "INDEXES"
        context["compared"] = params, images(params)

    def compare(model: Any, parsed: Mapping[str, Any], context: dict[str, Any], **_: Any) -> None:
        asked, before = context["compared"]
        if "ConsumedCapacity" not in parsed:
            return  # refused, or answered by a test
        told = taken(model.name, asked, parsed, endpoint) or {}
        told = {name: units for name, units in told.items() if units != Capacity()}
        untold = {name: value for name, value in parsed.items() if name not in {"ResponseMetadata", "ConsumedCapacity"}}
        counted = taken(model.name, asked, untold, ELSEWHERE) or _of_writes(model.name, before, images(asked))
        if not _agree(told, counted):
            wrong.append(f"{model.name} {asked}: told {told}, counted {counted}")

    with hooked(table, "before-parameter-build.dynamodb", ask), hooked(table, "after-call.dynamodb", compare):
        yield wrong


def _agree(told: Mapping[str, Capacity], counted: Mapping[str, Capacity]) -> bool:
    if any(units.basis is Basis.AT_LEAST for units in counted.values()):
        return all(units.read <= told[name].read and units.write <= told[name].write for name, units in counted.items())
    return told == {name: replace(units, basis=Basis.TOLD) for name, units in counted.items()}


def _of_writes(operation: str, before: list[Any], after: list[Any]) -> dict[str, Capacity]:
    counted: dict[str, Capacity] = {}
    for old, new in zip(before, after, strict=True):
        for name, units in units_written(old, new, transactional=operation == "TransactWriteItems").items():
            counted[name] = counted.get(name, Capacity()) + Capacity(write=units)
    return counted or {TABLE: Capacity()}


def _written(asked: Mapping[str, Any]) -> Iterator[Any]:
    """The keys that a request writes or checks."""
    if "TransactItems" in asked:
        for write in asked["TransactItems"]:
            yield from (_key(arguments) for arguments in write.values())
    elif "UpdateExpression" in asked or "Item" in asked or ("Key" in asked and "ReturnValues" in asked):
        yield _key(asked)
    for wanted in asked.get("RequestItems", {}).values():
        if isinstance(wanted, list):
            yield from (_key(next(iter(each.values()))) for each in wanted)


def _key(arguments: Mapping[str, Any]) -> dict[str, Any]:
    item = arguments.get("Key") or arguments["Item"]
    return {name: item[name] for name in ("PK", "SK")}
