"""Where moto departs from DynamoDB, and what makes it right. ``tests/demo`` holds each against the laptop's engine.

Two corrections change no answer, but only the time to it: moto copies the whole table for a transaction, and looks
through the whole table for a query.
"""

from __future__ import annotations

import copy
import inspect
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from moto.dynamodb import comparisons
from moto.dynamodb.exceptions import ConditionalCheckFailed, InvalidTokenException, MockValidationException
from moto.dynamodb.models import DynamoDBBackend
from moto.dynamodb.models.dynamo_type import DynamoType
from moto.dynamodb.models.table import Table
from moto.dynamodb.models.utilities import dynamo_json_dump
from moto.dynamodb.responses import DynamoHandler

from shared.dynamodb import capacity
from shared.dynamodb.capacity import Basis, Capacity, inserts

Make = Callable[[Any], Any]
Images = tuple[dict[str, Any] | None, dict[str, Any] | None]
CORRECTIONS: list[tuple[Any, str, Make]] = []
"""What is corrected, the name of the method, and what makes the right one of moto's own."""
IN_BATCH: list[bool] = []
"""Filled while the writes of a batch are made, one after another."""
WRITTEN: list[Images] = []
"""What the last request wrote: each item before and after it, as DynamoDB sends items."""


@contextmanager
def applied() -> Iterator[None]:
    """moto with all corrections."""
    before = [(owner, name, vars(owner).get(name)) for owner, name, _ in CORRECTIONS]
    for owner, name, make in CORRECTIONS:
        setattr(owner, name, make(vars(owner).get(name)))
    try:
        yield
    finally:
        for owner, name, own in reversed(before):
            setattr(owner, name, own) if own is not None else delattr(owner, name)


def _corrects(owner: Any, name: str) -> Callable[[Make], Make]:
    def register(make: Make) -> Make:
        CORRECTIONS.append((owner, name, make))
        return make

    return register


def _image(item: Any) -> Any:
    """An item as it is now; None where there is none."""
    return json.loads(dynamo_json_dump(item.to_json()["Attributes"])) if item is not None else None


def _noted(own: Any) -> Any:
    asked = inspect.signature(own).bind

    @wraps(own)
    def write(self: Any, *args: Any, **named: Any) -> Any:
        table, key, *_ = asked(self, *args, **named).args[1:]
        place = (self.tables[table], *(DynamoType(key[name]) for name in self.tables[table].table_key_attrs))
        before = _image(place[0].items.get(place[1], {}).get(place[2]))
        found = own(self, *args, **named)
        image = (before, _image(place[0].items.get(place[1], {}).get(place[2])))
        WRITTEN[:] = [*(WRITTEN if IN_BATCH else ()), image]
        return found

    return write


# moto says the same units of each write: they are counted from what was written.
for write in ("put_item", "update_item", "delete_item"):
    _corrects(DynamoDBBackend, write)(_noted)


@_corrects(DynamoHandler, "batch_write_item")
def _all_of_a_batch(own: Any) -> Any:
    def batch_write_item(self: Any) -> Any:
        WRITTEN.clear()
        IN_BATCH.append(True)
        try:
            return own(self)
        finally:
            IN_BATCH.clear()

    return batch_write_item


@_corrects(DynamoDBBackend, "transact_write_items")
def _refused_whole(own: Any) -> Any:
    """A transaction that is refused leaves nothing behind: here its items alone are copied, and put back."""

    def transact_write_items(self: Any, transact_items: list[dict[str, Any]]) -> None:
        before = []
        for each in transact_items:
            (op,) = each.values()
            table, named = self.tables[op["TableName"]], op.get("Key") or op["Item"]
            at, below = (DynamoType(named[name]) for name in table.table_key_attrs)
            before.append((table, at, below, copy.deepcopy(table.items.get(at, {}).get(below))))
        streamed = [
            (table.stream_shard.items, len(table.stream_shard.items)) for table, *_ in before if table.stream_shard
        ]
        images = [_image(item) for *_, item in before]
        try:
            own(self, transact_items)
            after = (_image(table.items.get(at, {}).get(below)) for table, at, below, _ in before)
            WRITTEN[:] = zip(images, after, strict=True)
        except BaseException:
            for table, at, below, item in before:
                if item is not None:
                    table.items[at][below] = item
                else:
                    table.items.get(at, {}).pop(below, None)
            for records, many in streamed:
                del records[many:]
            raise

    return transact_write_items


@_corrects(Table, "__deepcopy__")
def _never_copied(_: Any) -> Any:
    return lambda self, _memo: self


@_corrects(Table, "all_items")
def _of_the_partition(own: Any) -> Any:
    return lambda self: own(self) if getattr(self, "narrow", None) is None else self.narrow


@_corrects(Table, "query")
def _within_the_partition(own: Any) -> Any:
    asked = inspect.signature(own).bind

    def query(self: Any, *args: Any, **named: Any) -> Any:
        found = asked(self, *args, **named).arguments
        if found.get("index_name") is None:
            self.narrow = list(self.items.get(found["hash_key"], {}).values())
        else:
            ((name, value),) = found["hash_key_conditions"]
            items = (item for below in self.items.values() for item in below.values())
            self.narrow = [each for each in items if name in each.attrs and each.attrs[name].value == value.value]
        try:
            return own(self, *args, **named)
        finally:
            self.narrow = None

    return query


@_corrects(DynamoType, "cast_value")
def _text_as_it_is(own: Any) -> Any:
    return property(lambda self: self.value if self.type == "S" else own.fget(self))


@_corrects(DynamoDBBackend, "batch_execute_statement")
def _inserts(own: Any) -> Any:
    """PartiQL's ``INSERT`` takes a parameter for each attribute, which moto's parser cannot read."""

    def batch_execute_statement(self: Any, statements: list[dict[str, Any]]) -> list[dict[str, Any]]:
        if not all(each["Statement"].startswith("INSERT") for each in statements):
            return list(own(self, statements))
        responses = []
        for each, item in zip(statements, inserts({"Statements": statements}), strict=True):
            table = re.findall('"(.+?)"', each["Statement"])[0]
            response: dict[str, Any] = {"TableName": table}
            try:
                self.put_item(table, item, condition_expression="attribute_not_exists(PK)")
            except ConditionalCheckFailed:
                error = {"Code": "DuplicateItem", "Message": "Duplicate primary key exists in table"}
                response["Error"] = error
            responses.append(response)
        return responses

    return batch_execute_statement


@_corrects(DynamoDBBackend, "update_item")
def _one_clause_after_another(own: Any) -> Any:
    """Clauses of an update have no comma between them: moto overlooks one before ``REMOVE``."""
    asked = inspect.signature(own).bind

    def update_item(self: Any, *args: Any, **named: Any) -> Any:
        text = asked(self, *args, **named).arguments["update_expression"]
        found = re.search(r",\s*(SET|REMOVE|ADD|DELETE)\s.*", text or "")
        if found:
            raise InvalidTokenException(found[1], found[0])
        return own(self, *args, **named)

    return update_item


def _false_where(error: type[Exception], otherwise: Any) -> Make:
    def make(own: Any) -> Any:
        def expr(self: Any, item: Any) -> Any:
            try:
                return own(self, item)
            except error:
                return otherwise

        return expr

    return make


# Text and a number are in no order, so each comparison of them is false; moto's fails.
for name in ("OpLessThan", "OpGreaterThan", "OpLessThanOrEqual", "OpGreaterThanOrEqual", "FuncBetween"):
    _corrects(getattr(comparisons, name), "expr")(_false_where(TypeError, otherwise=False))

# An attribute that is not there, or a number, has no size, and no comparison with it is true; moto's fails.
_corrects(comparisons.FuncSize, "expr")(_false_where(ValueError, otherwise=None))


def _refusing(own: Any) -> Any:
    """A request that moto cannot read is one that DynamoDB refuses: of an exercise, whose requests readers write."""

    @wraps(own)
    def action(self: Any) -> Any:
        try:
            return own(self)
        except (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise MockValidationException(f"The request cannot be read: {error}") from error

    return action


for name in ("query", "get_item", "batch_get_item", "put_item", "update_item", "delete_item", "transact_write_items"):
    _corrects(DynamoHandler, name)(_refusing)


@_corrects(capacity, "_counted")
def _by_what_was_written(own: Any) -> Any:
    def counted(operation: str, asked: Any, answer: Any) -> Any:
        if operation not in ("PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"):
            return own(operation, asked, answer)
        found: dict[str, Capacity] = {}
        for before, after in WRITTEN:
            units = capacity.units_written(before, after, transactional=operation == "TransactWriteItems")
            for name, write in units.items():
                found[name] = found.get(name, Capacity()) + Capacity(write=write, basis=Basis.COUNTED)
        return found

    return counted


@_corrects(capacity, "_tells_truly")
def _counted(_: Any) -> Any:
    """moto says the same units of each request: the project's own count is used, as on the laptop."""
    return lambda *_: False
