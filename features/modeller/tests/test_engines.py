"""The rules against Amazon's own engine: what a write of one item of each kind, and each read, consume."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from typing import Any

import pytest

from features.modeller import engine, modeller, parsing
from features.modeller.design import Change, Model, Pattern
from features.modeller.evaluation import Evaluation, evaluated
from features.scratch.running import wire
from shared.dynamodb.attributes import marshal_item
from shared.dynamodb.schema import PARTITION_KEY, SORT_KEY
from tests.support.engines import DYNAMODB_LOCAL_ENGINE


@contextmanager
def table_of(model: Model) -> Iterator[tuple[Any, str]]:
    """A table with a model's indexes and projections, and the client that knows it."""

    def schema(index: str) -> list[dict[str, str]]:
        keys = [keys for each in model.entities for name, keys in each.keys if name == index]
        names = [PARTITION_KEY] + ([SORT_KEY] if any(sk for _, sk in keys) else [])
        kinds = zip(names, ("HASH", "RANGE"), strict=False)
        return [{"AttributeName": f"{index}{name}", "KeyType": kind} for name, kind in kinds]

    indexes: list[dict[str, Any]] = [
        {"IndexName": each.name, "KeySchema": schema(each.name), "Projection": each.projection}
        for each in model.indexes
    ]
    every = [each["AttributeName"] for keys in (schema(""), *(i["KeySchema"] for i in indexes)) for each in keys]
    name = f"model-{secrets.token_hex(4)}"
    with DYNAMODB_LOCAL_ENGINE.bare_table() as table:
        client: Any = table.client
        client.create_table(
            TableName=name,
            KeySchema=schema(""),
            AttributeDefinitions=[{"AttributeName": each, "AttributeType": "S"} for each in every],
            BillingMode="PAY_PER_REQUEST",
            **({"GlobalSecondaryIndexes": indexes} if indexes else {}),
        )
        yield client, name
        client.delete_table(TableName=name)


def consumed(answer: Mapping[str, Any]) -> dict[str, float]:
    """The units of the table, under an empty name, and of each index that took some."""
    taken = answer["ConsumedCapacity"]
    indexes = {name: each["CapacityUnits"] for name, each in taken.get("GlobalSecondaryIndexes", {}).items()}
    units = {"": taken.get("Table", {}).get("CapacityUnits", 0.0), **indexes}
    return {name: each for name, each in units.items() if each}


def by_rules(now: Evaluation, write: Change) -> dict[str, float]:
    written = now.written(Pattern("", 1, "Write", writes=(write,)))
    return {index: sum(units for (at, _), units in written.items() if at == index) for index, _ in written}


@pytest.mark.thorough
@pytest.mark.parametrize("name", [name for name in modeller.starts() if name != "empty"])
def test_the_rules_say_what_dynamodb_local_consumes(name: str) -> None:
    now = evaluated(parsing.read(modeller.starts()[name]).model)
    with table_of(now.model) as (client, table):
        for entity in now.model.entities:
            item = now.sample.items[entity.name][0]
            stated = tuple((each, str(item[each])) for each, spec in entity.attributes if spec.startswith("while"))
            put = client.put_item(TableName=table, Item=marshal_item(item), ReturnConsumedCapacity="INDEXES")
            gone = client.delete_item(
                TableName=table,
                Key=marshal_item({each: item[each] for each in (PARTITION_KEY, SORT_KEY)}),
                ReturnConsumedCapacity="INDEXES",
            )

            assert consumed(put) == by_rules(now, Change(entity.name, None, stated)), entity.name
            assert consumed(gone) == by_rules(now, Change(entity.name, stated, None)), entity.name
        for pattern in now.model.patterns:
            for write in pattern.writes:
                if write.before is not None and write.after is not None:
                    assert consumed(_updated(client, table, now, write)) == by_rules(now, write), pattern.name
            if pattern.reads and pattern.operation != "Scan":
                _read(client, table, now, pattern)


def _updated(client: Any, table: str, now: Evaluation, write: Change) -> Mapping[str, Any]:
    """Put the item that the rules take before a write over it, then the one after it."""
    answer: Mapping[str, Any] = {}
    for image in now.images(write):
        assert image is not None
        answer = client.put_item(TableName=table, Item=marshal_item(image), ReturnConsumedCapacity="INDEXES")
    return answer


def _read(client: Any, table: str, now: Evaluation, pattern: Pattern) -> None:
    """Put the items of one partition that a pattern reads, and compare what reading them consumes."""
    met = next(each for each in now.met(pattern) if each.lie)
    found = met.place.items[met.lie[0]]
    names = [f"{pattern.index}{part}" for part in (PARTITION_KEY, SORT_KEY)]
    lie = [each for each in chain(*now.sample.items.values()) if each.get(names[0]) == found[names[0]]]
    for item in lie:
        client.put_item(TableName=table, Item=marshal_item(item))
    each = engine._asked(now, engine._read(now, pattern, 2_000, 10**9))
    step = each.script.ours[0]
    arguments = _of_table(step.arguments, names)
    answer = getattr(client, "get_item" if step.operation == "GetItem" else "query")(
        **wire(table, step.operation, arguments) | {"ReturnConsumedCapacity": "INDEXES"}
    )

    assert sum(consumed(answer).values()) == each.units, pattern.name


def _of_table(arguments: Mapping[str, Any], names: list[str]) -> dict[str, Any]:
    """The arguments of a request to the scratch partition's index, as of the model's own."""
    made = dict(arguments)
    prefix = names[0].removesuffix(PARTITION_KEY)
    if prefix:
        made["IndexName"] = prefix
        made["KeyConditionExpression"] = made["KeyConditionExpression"].replace("GSI1", prefix)
    for kind in ("Key", "ExpressionAttributeValues"):
        if kind in made:
            made[kind] = {
                name: value.removeprefix("{scratch}:") if isinstance(value, str) else value
                for name, value in made[kind].items()
            }
    return made
