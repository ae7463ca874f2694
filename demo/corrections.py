"""Corrections of moto where it differs from DynamoDB. ``tests/demo`` compares each with the laptop's engine.

moto reports the same units for every request, so the project counts them from what was written (``capacity.py``).
"""

from __future__ import annotations

import base64
import inspect
import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from moto.core.responses import ActionResult
from moto.dynamodb import comparisons
from moto.dynamodb.exceptions import (
    ConditionalCheckFailed,
    DynamodbException,
    InvalidTokenException,
    MockValidationException,
)
from moto.dynamodb.models import DynamoDBBackend
from moto.dynamodb.models.dynamo_type import DynamoType, Item
from moto.dynamodb.models.table import Table
from moto.dynamodb.models.utilities import dynamo_json_dump
from moto.dynamodb.responses import DynamoHandler, DynamoResult

from shared.dynamodb import capacity
from shared.dynamodb.capacity import Basis, Capacity, inserts

Json = dict[str, Any]
Make = Callable[[Any], Any]
CORRECTIONS: list[tuple[Any, str, Make]] = []
"""The class to correct, the method's name, and a function that makes the right method from moto's."""
WRITTEN: list[tuple[Json | None, Json | None]] = []
"""The last request's writes: each item before and after, in DynamoDB's form."""


@contextmanager
def applied() -> Iterator[None]:
    """moto with all corrections."""
    before = [(owner, name, vars(owner).get(name)) for owner, name, _ in CORRECTIONS]
    for owner, name, make in CORRECTIONS:
        setattr(owner, name, make(vars(owner).get(name)))
    try:
        with capacity.counted_by(_by_what_was_written):
            yield
    finally:
        for owner, name, own in reversed(before):
            setattr(owner, name, own) if own is not None else delattr(owner, name)


def _corrects(owner: Any, *names: str) -> Callable[[Make], Make]:
    def register(make: Make) -> Make:
        CORRECTIONS.extend((owner, name, make) for name in names)
        return make

    return register


def place(table: Any, at: DynamoType, below: DynamoType, image: Json | None) -> None:
    """Put an item (in DynamoDB's form) into a moto table without a stream record; None removes the item."""
    if image is None:
        table.items.get(at, {}).pop(below, None)
    else:
        item = table.items[at][below] = Item(at, below, {})
        item.attrs.update({name: DynamoType(value) for name, value in image.items()})  # without measuring its size


@_corrects(DynamoDBBackend, "put_item", "update_item", "delete_item", "transact_write_items")
def _noted(own: Any) -> Any:
    """Record the written items, from which units are counted, and roll a refused transaction back by restoring its own
    items (moto copies its tables for that)."""
    asked = inspect.signature(own).bind

    @wraps(own)
    def write(self: Any, *args: Any, **named: Any) -> Any:
        first, *rest = asked(self, *args, **named).args[1:]
        transaction = isinstance(first, list)
        parts = [part for each in first for part in each.values()] if transaction else [{"TableName": first}]
        places = list[tuple[Any, DynamoType, DynamoType]]()
        for part in parts:
            table = self.tables[part["TableName"]]
            key = (part.get("Key") or part["Item"]) if transaction else rest[0]
            at, below = (DynamoType(key[name]) for name in table.table_key_attrs)
            places.append((table, at, below))

        def image(table: Any, at: DynamoType, below: DynamoType) -> Json | None:
            item = table.items.get(at, {}).get(below)
            return json.loads(dynamo_json_dump(item.to_json()["Attributes"])) if item is not None else None

        before = [image(*each) for each in places]
        shards = {id(table): table.stream_shard.items for table, *_ in places if table.stream_shard}.values()
        streamed = [(records, len(records)) for records in shards]
        try:
            found = own(self, *args, **named)
        except BaseException:
            for each, item in zip(places, before, strict=True):
                if image(*each) != item:
                    place(*each, item)
            for records, many in streamed:
                del records[many:]
            raise
        images = [(item, image(*each)) for item, each in zip(before, places, strict=True)]
        WRITTEN[:] = images if transaction else [*WRITTEN, *images]  # moto's transaction calls the other writes
        return found

    return write


@_corrects(Table, "__deepcopy__")
def _never_copied(_: Any) -> Any:
    return lambda self, _memo: self


@_corrects(Table, "query")
def _in_one_partition(own: Any) -> Any:
    """Query one partition: moto sorts the whole table for each query, which was half of a page's time."""

    def query(self: Any, hash_key: Any, *args: Any, **named: Any) -> Any:
        ((name, wanted), *_) = named.get("hash_key_conditions") or [(self.hash_key_attr, hash_key)]
        held = [self.items.get(wanted, {})] if name == self.hash_key_attr else self.items.values()
        items = [item for each in held for item in each.values()]
        items = [item for item in items if name in item.attrs and item.attrs[name].value == wanted.value]
        part: Any = object.__new__(type(self))
        vars(part).update(vars(self), all_items=lambda: items)
        return own(part, hash_key, *args, **named)

    return query


@_corrects(Item, "project")
def _attributes_as_they_are(own: Any) -> Any:
    """Project without JSON: for each requested attribute, moto writes and parses the whole item."""

    def project(self: Any, expressions: list[list[str]]) -> Item:
        if any(len(path) > 1 for path in expressions):
            return own(self, expressions)  # type: ignore[no-any-return]
        found = Item(self.hash_key, self.range_key, {})
        found.attrs.update({name: self.attrs[name] for (name,) in expressions if name in self.attrs})
        return found

    return project


@_corrects(DynamoResult, "execute_result")
def _as_it_is_sent(_: Any) -> Any:
    """Send a read's result as it is: moto looks for each name under seven others."""

    def execute_result(self: Any, context: Any) -> Any:
        if context.operation_model.name not in ("BatchGetItem", "GetItem", "Query"):
            return ActionResult.execute_result(self, context)
        body = json.dumps(self.result, default=lambda each: base64.b64encode(each).decode())
        return 200, {"Content-Type": "application/x-amz-json-1.0"}, body

    return execute_result


@_corrects(DynamoHandler, "transact_write_items")
def _once(own: Any) -> Any:
    """Answer a transaction repeated with its token within ten minutes without writing.

    https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
    """
    done: dict[str, tuple[float, Json, Any]] = {}

    def transact_write_items(self: Any) -> Any:
        token = self.body.get("ClientRequestToken")
        until, body, answer = done.get(token, (0.0, {}, None))
        if time.time() < until:
            if body != self.body:
                kind = "com.amazonaws.dynamodb.v20120810#IdempotentParameterMismatchException"
                raise DynamodbException(kind, "The same token was sent with another transaction")
            return answer
        answer = own(self)
        if token:
            done[token] = (time.time() + 600, self.body, answer)
        return answer

    return transact_write_items


@_corrects(DynamoDBBackend, "batch_execute_statement")
def _inserts(own: Any) -> Any:
    """Accept PartiQL's ``INSERT`` with a parameter for each attribute, which moto's parser can't read."""

    def batch_execute_statement(self: Any, statements: list[Json]) -> list[Json]:
        if not all(each["Statement"].startswith("INSERT") for each in statements):
            return list(own(self, statements))
        responses = []
        for each, item in zip(statements, inserts({"Statements": statements}), strict=True):
            response: Json = {"TableName": re.findall('"(.+?)"', each["Statement"])[0]}
            try:
                self.put_item(response["TableName"], item, condition_expression="attribute_not_exists(PK)")
            except ConditionalCheckFailed:
                error = {"Code": "DuplicateItem", "Message": "Duplicate primary key exists in table"}
                response["Error"] = error
            responses.append(response)
        return responses

    return batch_execute_statement


@_corrects(DynamoDBBackend, "update_item")
def _one_clause_after_another(own: Any) -> Any:
    """Refuse a comma between an update's clauses: moto overlooks one before ``REMOVE``."""
    asked = inspect.signature(own).bind

    def update_item(self: Any, *args: Any, **named: Any) -> Any:
        text = asked(self, *args, **named).arguments["update_expression"]
        found = re.search(r",\s*(SET|REMOVE|ADD|DELETE)\s.*", text or "")
        if found:
            raise InvalidTokenException(found[1], found[0])
        return own(self, *args, **named)

    return update_item


READS, WRITES = ("query", "get_item", "batch_get_item"), ("put_item", "update_item", "delete_item", "batch_write_item")


@_corrects(DynamoHandler, *READS, *WRITES, "transact_write_items")
def _refusing(own: Any) -> Any:
    """Start each request with nothing written, and refuse a request that moto can't parse, as DynamoDB would: readers
    may write some."""

    @wraps(own)
    def action(self: Any) -> Any:
        WRITTEN.clear()
        try:
            return own(self)
        except (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise MockValidationException(f"The request cannot be read: {error}") from error

    return action


def _otherwise(error: type[Exception], result: Any) -> Make:
    def make(own: Any) -> Any:
        def expr(self: Any, item: Any) -> Any:
            try:
                return own(self, item)
            except error:
                return result

        return expr

    return make


# Text and a number have no order, so comparing them is false; moto fails.
for kind in ("OpLessThan", "OpGreaterThan", "OpLessThanOrEqual", "OpGreaterThanOrEqual", "FuncBetween"):
    _corrects(getattr(comparisons, kind), "expr")(_otherwise(TypeError, result=False))

# A missing attribute, or a number, has no size, so comparing it is false; moto fails.
_corrects(comparisons.FuncSize, "expr")(_otherwise(ValueError, result=None))


def _by_what_was_written(operation: str, _asked: Any, _answer: Any) -> dict[str, Capacity] | None:
    """The units of the last request's writes."""
    if operation not in ("PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"):
        return None
    found: dict[str, Capacity] = {}
    for before, after in WRITTEN:
        units = capacity.units_written(before, after, transactional=operation == "TransactWriteItems")
        for name, write in units.items():
            found[name] = found.get(name, Capacity()) + Capacity(write=write, basis=Basis.COUNTED)
    return found
