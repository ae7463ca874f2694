"""Running a script: its items written into a partition of the visitor's own, and its requests sent as they are shown.

A scratch partition is new for each run, so nothing is left of an earlier one, and DynamoDB deletes it after an hour. A
refusal is an answer here: the data layer, where it means a domain error, has no use for ``ask``.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, cast

from botocore import xform_name
from botocore.exceptions import BotoCoreError, ClientError, ParamValidationError
from botocore.validate import validate_parameters

from features.scratch import grammar
from features.scratch.steps import Script, Step
from shared.data import keys
from shared.data.bulk import insert
from shared.dynamodb import aws_errors
from shared.dynamodb.attributes import Item, Typed, marshal_item, unmarshal_item, unmarshal_items
from shared.dynamodb.capacity import Basis, Capacity, size_of, units_read
from shared.dynamodb.schema import INDEXES, PARTITION_KEY, SORT_KEY, TTL_ATTRIBUTE
from shared.dynamodb.table import Table
from shared.dynamodb.tracing import Request, Trace

KEPT = timedelta(hours=1)
TRIES, BETWEEN = 10, 0.1
"""An index follows the table a moment later: a read of one is repeated until it shows the item just written."""

_LONG = "Ships from the shop's own store, and can be sent back within 30 days. " * 6
"""A text of some length, for items whose size is to be seen in units."""

_UNKNOWN = re.compile(r"\{[A-Z]\w+\}")
"""The name of an attribute of an item that came back before, such as ``{DealId}``."""

READS = {"Query", "GetItem", "BatchGetItem", "TransactGetItems"}

_SHORTENING = {"FilterExpression", "ProjectionExpression", "Select"}
"""Arguments that make an answer shorter, and not what is paid for."""

_PLACEHOLDERS = ("ExpressionAttributeNames", "ExpressionAttributeValues")

_PARTITION_KEYS = {PARTITION_KEY, *(index.partition_key for index in INDEXES)}

Given = dict[str, str | int]
"""The values of the names in braces, such as ``{scratch}``."""


@dataclass(frozen=True, slots=True)
class Done:
    """A sent request, with its result and its cost.

    ``read`` are the items that a Query read, those that its filter dropped included;
    ``scratch`` is the partition of the run.
    """

    step: Step
    arguments: Mapping[str, Any]
    reply: Reply
    took: Request | None
    read: Sequence[Item] = ()
    scratch: str = ""


@dataclass(frozen=True, slots=True)
class Run:
    """The results of the common version and of ours, and the items that lie in the scratch partition of each then."""

    common: Sequence[Done]
    ours: Sequence[Done]
    common_left: Sequence[Item] = ()
    ours_left: Sequence[Item] = ()


def run(
    table: Table, script: Script, value: str, visitor: str, run_id: str, now: datetime, trace: Trace, *,
    typed: bool = False,
) -> Run:  # fmt: skip
    """Run a script with a value that its ``Value`` allows; ``typed`` says that a reader wrote requests of it.

    Raises Busy.
    """
    both: list[list[Done]] = []
    left: list[Sequence[Item]] = []
    for version, steps in (("a", script.common), ("b", script.ours)):
        given = names(script, value, keys.scratch(visitor, f"{run_id}-{version}"), now)
        begun = [*filled_items(script, given)]
        if steps and begun:
            insert(table, begun)
        both.append(_sent(table, steps, given, begun, trace, typed=typed))
        left.append(_left(table, given, trace) if any(step.operation not in READS for step in steps) else [])
        if typed:
            _expire(table, left[-1], given, trace)
    return Run(both[0], both[1], left[0], left[1])


def names(script: Script, value: str, scratch: str, now: datetime) -> Given:
    """The values of the names in braces."""
    return {
        "scratch": scratch,
        "value": int(value) if script.value and script.value.kind in {"number", "few"} else value,
        "padded": value.zfill(2),
        "day": f"{now:%Y-%m-%d}",
        "month": f"{now:%Y-%m}-01",
        "two": value[:2],
        "long": _LONG,
        "now": int(now.timestamp()),
        "expires": int((now + KEPT).timestamp()),
    }


def filled_items(script: Script, given: Given) -> Iterator[dict[str, Any]]:
    """A script's first items; one with ``times`` stands for several, numbered ``{n}`` and ``{nn}``."""
    for item in script.items:
        template = {name: content for name, content in item.items() if name != "times"}
        for n in range(1, item.get("times", 1) + 1):
            yield _scratch(fill(template, {**given, "n": n, "nn": f"{n:02d}"}), given)


def fill(template: Any, given: Given) -> Any:
    """A template with its names filled in; a text that is a name alone becomes the value with its type."""
    match template:
        case str():
            for name, content in given.items():
                if template == f"{{{name}}}":
                    return content
                template = template.replace(f"{{{name}}}", str(content))
            return template
        case {"set": [*members]}:
            return set(fill(members, given))
        case Mapping():
            return {name: fill(content, given) for name, content in template.items()}
        case [*members]:
            return [fill(member, given) for member in members]
    return template


def arguments_of(step: Step, given: Given) -> dict[str, Any]:
    """The arguments of a request, filled in."""
    arguments: dict[str, Any] = fill(step.arguments, given)
    parts = [*arguments.get("TransactItems", ()), *arguments.get("Requests", ())]
    writes = [write for each in parts for write in each.values()]
    for write in [arguments, *writes]:
        if "Item" in write:
            write["Item"] = _scratch(write["Item"], given)
        if "Key" in write:
            write["Key"] = {PARTITION_KEY: given["scratch"], **write["Key"]}
    if "Keys" in arguments:
        arguments["Keys"] = [{PARTITION_KEY: given["scratch"], **key} for key in arguments["Keys"]]
    return arguments


def as_sent(step: Step, arguments: Mapping[str, Any]) -> str:
    """A request as text, an argument a line."""
    lines = [f"    {name}={_literal(content, 4)}," for name, content in arguments.items()]
    return "\n".join([f"{step.operation}(", *lines, ")"])


def _literal(content: Any, indent: int) -> str:
    """A value as Python code, on several lines if it is long."""
    match content:
        case Mapping():
            parts = [f"{json.dumps(name)}: {_literal(inner, indent + 4)}" for name, inner in content.items()]
        case list():
            parts = [_literal(inner, indent + 4) for inner in content]
        case set():
            parts = [json.dumps(inner) for inner in sorted(content)]
        case bool() | bytes():
            return str(content)
        case Typed():
            return _literal({content.kind: content.content}, indent)
        case _:
            return json.dumps(content, ensure_ascii=False)
    opening, closing = "[]" if isinstance(content, list) else "{}"
    flat = ", ".join(parts)
    if len(flat) + indent <= 50 and "\n" not in flat:
        return f"{opening}{flat}{closing}"
    return "\n".join([opening, *(f"{' ' * (indent + 4)}{part}," for part in parts), f"{' ' * indent}{closing}"])


def _scratch(item: Mapping[str, Any], given: Given) -> dict[str, Any]:
    """An item of a scratch partition: with its partition key and its end, and in no partition of others."""
    whole = {PARTITION_KEY: given["scratch"], **item, TTL_ATTRIBUTE: given["expires"]}
    places = {name: str(place) for name, place in whole.items() if name in _PARTITION_KEYS}
    wrong = [name for name, place in places.items() if not place.startswith(keys.scratches())]
    if wrong:
        raise ValueError(f"{wrong} must be in the scratch partition")
    return whole


def _examined(arguments: Mapping[str, Any], reply: Reply, begun: Sequence[Item]) -> Sequence[Item]:
    """The items that a Query with a filter read, of those that the run began with. DynamoDB charges for all of them.

    The answer has only their number. They are the first ones of the partition, because no such Query of a script names
    a sort key or an index, and nothing is written before it.
    """
    in_order = sorted(begun, key=lambda item: str(item[SORT_KEY]).encode())
    return in_order[:: 1 if arguments.get("ScanIndexForward", True) else -1][: reply.examined]


def _whole(table: Table, arguments: Mapping[str, Any], reply: Reply, trace: Trace) -> Sequence[Item]:
    """The items that any Query read, by the same Query without its filter and projection."""
    condition = str(arguments.get("KeyConditionExpression"))
    plain = {name: content for name, content in arguments.items() if name not in {*_SHORTENING, *_PLACEHOLDERS}}
    for kind in _PLACEHOLDERS:
        named = {name: each for name, each in arguments.get(kind, {}).items() if re.search(rf"{name}\b", condition)}
        plain |= {kind: named} if named else {}
    return unseen(table, "Query", {**plain, "Limit": reply.examined}, trace).items if reply.examined else ()


def _left(table: Table, given: Given, trace: Trace) -> Sequence[Item]:
    """The items of a scratch partition."""
    condition = {"KeyConditionExpression": "PK = :partition", "ConsistentRead": True}
    values = {"ExpressionAttributeValues": {":partition": given["scratch"]}}
    return unseen(table, "Query", {**condition, **values}, trace).items


def _expire(table: Table, left: Sequence[Item], given: Given, trace: Trace) -> None:
    """Give an end to items that an update made."""
    for item in left:
        if TTL_ATTRIBUTE not in item:
            key = {name: item[name] for name in (PARTITION_KEY, SORT_KEY)}
            ends = {"UpdateExpression": f"SET {TTL_ATTRIBUTE} = :end", "ConditionExpression": "attribute_exists(PK)"}
            values = {"ExpressionAttributeValues": {":end": given["expires"]}}
            unseen(table, "UpdateItem", {"Key": key, **ends, **values}, trace)


def unseen(table: Table, operation: str, arguments: Mapping[str, Any], trace: Trace) -> Reply:
    """Make a request that is no part of the script, so that the page does not list it."""
    trace.detach(table)
    try:
        return ask(table, operation, arguments)
    finally:
        trace.attach(table)


def _sent(
    table: Table, steps: Sequence[Step], given: Given, begun: Sequence[Item], trace: Trace, *, typed: bool
) -> list[Done]:
    done = []
    for step in steps:
        arguments = arguments_of(step, given)
        if _UNKNOWN.search(as_sent(step, arguments)):
            break  # what it needs of an item was not found
        for _ in range(TRIES):
            before = len(trace.requests)
            reply = ask(table, step.operation, arguments, by_rules=True)
            expected = min(step.finds or 0, arguments.get("Limit", step.finds or 0))
            if "IndexName" not in arguments or len(reply.items) >= expected:
                break
            time.sleep(BETWEEN)
        took = trace.requests[before] if len(trace.requests) > before else None
        read = reply.items if step.operation in READS else ()
        if step.operation == "Query" and not reply.code and _SHORTENING & arguments.keys():
            if typed:
                read = _whole(table, arguments, reply, trace)
            elif "FilterExpression" in arguments:
                read = _examined(arguments, reply, begun)
            if read is not reply.items and took and took.capacity and took.capacity.basis is Basis.AT_LEAST:
                size = sum(size_of(marshal_item(item)) for item in read)
                units = units_read(size, consistent=arguments.get("ConsistentRead", False))
                took = replace(took, capacity=Capacity(units, basis=Basis.COUNTED))
        done.append(Done(step, arguments, reply, took, read, str(given["scratch"])))
        if reply.items:
            texts = {name: text for name, text in reply.items[0].items() if isinstance(text, str)}
            given = given | {name: text for name, text in texts.items() if _UNKNOWN.fullmatch(f"{{{name}}}")}
    return done


SHOWN = (
    aws_errors.REFUSED
    | aws_errors.INVALID
    | {"TransactionCanceledException", "IdempotentParameterMismatchException"}  # another request's token
)
"""Codes of refusals that are an answer; every other error is trouble, as anywhere else."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to a request: the items that came back, ``examined`` before a filter, and whether there are more.

    ``code`` and ``message`` are those of a refusal, as DynamoDB or boto3 worded them.
    """

    items: Sequence[Item] = ()
    examined: int = 0
    more: bool = False
    code: str = ""
    message: str = ""


def ask(table: Table, operation: str, arguments: Mapping[str, Any], *, by_rules: bool = False) -> Reply:
    """Send a request with plain Python values; the table's name is added.

    ``by_rules`` has AWS's rules refuse it before an engine sees it. boto3 checks names of arguments before it sends
    anything. Clients here leave that out, so it is done here.
    Raises Busy, NoAnswer, Unavailable.
    """
    sent = wire(table.name, operation, arguments)
    shape = table.client.meta.service_model.operation_model(operation).input_shape
    try:
        validate_parameters(sent, cast("Any", shape))
    except ParamValidationError as error:
        return Reply(code="ParamValidationError", message=str(error))
    if by_rules and (wrong := grammar.refusal(operation, arguments)):
        return Reply(code="ValidationException", message=wrong)
    request = getattr(table.client, xform_name(operation))

    def once() -> Reply:
        try:
            return _read(table.name, request(**sent))
        except ClientError as error:
            code = error.response["Error"]["Code"]
            if code not in SHOWN:
                raise aws_errors.domain_error(error, "The table") from error
            return Reply(code=code, message=error.response["Error"].get("Message", ""))
        except BotoCoreError as error:
            raise aws_errors.domain_error(error, "The table") from error

    return table.retry(once, when=aws_errors.AGAIN)


def wire(name: str, operation: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments as boto3's client takes them: values with their types, and the table's name."""
    match operation:
        case "BatchGetItem":
            return {"RequestItems": {name: {"Keys": [marshal_item(key) for key in arguments["Keys"]]}}}
        case "BatchWriteItem":
            return {"RequestItems": {name: [_each(write, _marshal_values) for write in arguments["Requests"]]}}
        case "TransactWriteItems" | "TransactGetItems":
            items = [_each(each, lambda asked: _typed(name, asked)) for each in arguments["TransactItems"]]
            return {**arguments, "TransactItems": items}
    return _typed(name, arguments)


def _each(write: Mapping[str, Any], typed: Callable[[Mapping[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    """One operation of a batch or a transaction: its kind and its parameters, with typed values."""
    return {kind: typed(asked) for kind, asked in write.items()}


def _typed(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    return _marshal_values({"TableName": name, **arguments})


def _marshal_values(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of a request with typed values in place of plain ones."""
    typed = {**arguments}
    for values in ("Item", "Key", "ExclusiveStartKey", "ExpressionAttributeValues"):
        if values in typed:
            typed[values] = marshal_item(typed[values])
    return typed


def _read(name: str, answer: Mapping[str, Any]) -> Reply:
    found = answer.get("Items", [])
    responses = answer.get("Responses")
    if isinstance(responses, list):  # of a transaction: an answer for each part
        found = [each["Item"] for each in responses if "Item" in each]
    elif responses is not None:
        found = responses.get(name, [])
    for one in ("Item", "Attributes"):
        if answer.get(one):
            return Reply([unmarshal_item(answer[one])], examined=1)
    return Reply(unmarshal_items(found), answer.get("ScannedCount", len(found)), bool(answer.get("LastEvaluatedKey")))
