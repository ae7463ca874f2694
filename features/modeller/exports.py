"""A model as files: its JSON, a model for NoSQL Workbench, a CDK table, and the keys as this project writes them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from keyword import iskeyword
from typing import Any

from features.modeller.design import NAMES, Entity, Model, document, keys_of
from features.modeller.evaluation import ITEM_TYPE, Evaluation, Made, evaluated, weights
from shared.dynamodb.attributes import marshal_item
from shared.dynamodb.schema import PARTITION_KEY, SORT_KEY
from shared.html.views import render

KINDS: Mapping[str, tuple[str, str]] = {
    "json": ("application/json", "json"),
    "workbench": ("application/json", "workbench.json"),
    "cdk": ("text/x-python", "table.py"),
    "keys": ("text/x-python", "keys.py"),
}
"""The files, each with its media type and the end of its name."""

EACH, MOST_BYTES = 10, 200_000
"""Sample items of each entity in Workbench's model, and their bytes."""


def file(kind: str, model: Model) -> tuple[str, str, str]:
    """A file's name, media type and text."""
    media_type, end = KINDS[kind]
    slug = re.sub("[^a-z0-9]+", "-", model.name.lower()).strip("-") or "table"
    if kind == "json":
        text = json.dumps(document(model), indent=1, ensure_ascii=False)
    elif kind == "workbench":
        text = json.dumps(_workbench(evaluated(model)), indent=1, ensure_ascii=False)
    else:
        text = render(f"modeller/templates/{kind}.py.txt", **_of_code(model, slug))
    return f"{slug}.{end}" if kind in ("json", "workbench") else end, media_type, f"{text.strip()}\n"


def _of_code(model: Model, slug: str) -> dict[str, Any]:
    """The values of the templates of code: names as Python has them."""
    return {
        "name": json.dumps(model.name, ensure_ascii=False), "indexes": model.indexes,
        "sorted": [each for each in ("", *(index.name for index in model.indexes)) if _sorted(model, each)],
        "expires": next((each.expires for each in model.entities if each.expires), ""),
        "rows": [row for each in model.entities for row in _functions(each)],
        "class": "".join(word.title() for word in slug.split("-") if word.isalpha()) or "Model",
    }  # fmt: skip


def _sorted(model: Model, index: str) -> bool:
    return any(sk for each in model.entities for name, (_, sk) in each.keys if name == index)


def _functions(entity: Entity) -> list[dict[str, str]]:
    """A key of an entity in the table and in each index, as an ``Item`` of templates: ``USER#{username}``."""
    rows = []
    for index, pair in entity.keys:
        names = dict.fromkeys(NAMES.findall("".join(pair)))
        parts = [
            f"{part}={json.dumps(NAMES.sub(lambda found: f'{{{_snake(found[1])}}}', template))}"
            for part, template in zip(keys_of(index), pair, strict=True)
            if template
        ]
        name = _snake(entity.name) + (f"_in_{_snake(index)}" if index else "")
        rows.append({"name": name, "types": ", ".join(["str"] * len(names)) or "()", "parts": ", ".join(parts)})
    return rows


def _snake(name: str) -> str:
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).replace("-", "_").lower()
    return f"{snake}_" if iskeyword(snake) else snake


def _few(made: Sequence[Made]) -> list[dict[str, Any]]:
    """The last items of an entity, as far as they are small enough for a file."""
    few: list[dict[str, Any]] = []
    size = 0
    for item in reversed(made[-EACH:]):
        size += sum(weights(item).values())
        if size > MOST_BYTES:
            break
        few.insert(0, marshal_item(item))
    return few


def _workbench(now: Evaluation) -> dict[str, Any]:
    """A model for NoSQL Workbench, with some items of each entity; its description has the access patterns."""
    model, own = now.model, (PARTITION_KEY, SORT_KEY)
    items = {
        each.name: _few([item for item in now.sample.items if item[ITEM_TYPE] == each.name]) for each in model.entities
    }
    types = {name: next(iter(value)) for each in items.values() for item in each for name, value in item.items()}

    def keys(index: str) -> dict[str, Any]:
        kinds = ("PartitionKey", "SortKey")[: 1 + _sorted(model, index)]
        return {
            each: {"AttributeName": name, "AttributeType": "S"}
            for each, name in zip(kinds, keys_of(index), strict=False)
        }

    facets = [
        {
            "FacetName": each.name,
            "KeyAttributeAlias": dict(zip(("PartitionKeyAlias", "SortKeyAlias"), dict(each.keys)[""], strict=True)),
            "TableData": items[each.name],
            "NonKeyAttributes": sorted({name for item in items[each.name] for name in item} - {*own}),
            "DataAccess": {"MySql": {}},
        }
        for each in model.entities
        if "" in dict(each.keys)
    ]
    indexes = [
        {"IndexName": each.name, "KeyAttributes": keys(each.name), "Projection": _projection(each.copies)}
        for each in model.indexes
    ]
    patterns = [f"{each.at + 1}. {each.name}, {each.said}" for each in model.patterns]
    table = {
        "TableName": model.name, "KeyAttributes": keys(""), "TableFacets": facets, "GlobalSecondaryIndexes": indexes,
        "NonKeyAttributes": [
            {"AttributeName": name, "AttributeType": kind} for name, kind in sorted(types.items()) if name not in own
        ],
        "DataAccess": {"MySql": {}}, "BillingMode": "PAY_PER_REQUEST",
    }  # fmt: skip
    about = {"Description": "\n".join(["The access patterns:", *patterns]), "AWSService": "Amazon DynamoDB"}
    return {"ModelName": model.name, "ModelMetadata": about | {"Version": "3.0"}, "DataModel": [table]}


def _projection(copies: tuple[str, ...] | None) -> dict[str, Any]:
    if copies is None:
        return {"ProjectionType": "ALL"}
    return {"ProjectionType": "INCLUDE", "NonKeyAttributes": [*copies]} if copies else {"ProjectionType": "KEYS_ONLY"}
