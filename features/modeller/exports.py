"""A model as files: its JSON, a model for NoSQL Workbench, a CDK table, and the keys as this project writes them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from keyword import iskeyword
from typing import Any

from features.modeller.design import NAMES, Entity, Model, document, keys_of
from features.modeller.evaluation import Evaluation, Made, evaluated, weights
from shared.dynamodb.attributes import marshal_item
from shared.html.views import render

KINDS: Mapping[str, tuple[str, str]] = {
    "json": ("application/json", "json"),
    "workbench": ("application/json", "workbench.json"),
    "cdk": ("text/x-python", "table.py"),
    "keys": ("text/x-python", "keys.py"),
}
"""The files, each with its media type and the end of its name."""

KEYS_HERE = keys_of("")
EACH, MOST_BYTES = 10, 200_000
"""Sample items of each entity in Workbench's model, and their bytes."""


def file(kind: str, model: Model) -> tuple[str, str, str]:
    """A file's name, media type and text."""
    media_type, end = KINDS[kind]
    slug = re.sub("[^a-z0-9]+", "-", model.name.lower()).strip("-") or "table"
    if media_type == "application/json":
        whole = document(model) if kind == "json" else _workbench(evaluated(model))
        return f"{slug}.{end}", media_type, f"{_json(whole)}\n"
    sorts = [each for each in ("", *(index.name for index in model.indexes)) if _sorted(model, each)]
    text = render(
        f"modeller/templates/{kind}.py.txt",
        name=_json(model.name), indexes=model.indexes, sorted=sorts, **_of_code(model, slug),
    )  # fmt: skip
    return end, media_type, f"{text.strip()}\n"


def _json(value: object) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False)


def _of_code(model: Model, slug: str) -> dict[str, Any]:
    """The values of the templates of code: names as Python has them."""
    return {
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
    """The model of NoSQL Workbench: some items of each entity, and the access patterns as its description."""
    model, few = now.model, {each.name: _few(now.sample.items[each.name]) for each in now.model.entities}
    types = {name: next(iter(value)) for items in few.values() for item in items for name, value in item.items()}
    patterns = [f"{each.at + 1}. {each.name}, {each.said}" for each in model.patterns]
    facets = [
        {
            "FacetName": each.name,
            "KeyAttributeAlias": {"PartitionKeyAlias": each.key[0], "SortKeyAlias": each.key[1]},
            "TableData": few[each.name],
            "NonKeyAttributes": sorted({name for item in few[each.name] for name in item} - {*KEYS_HERE}),
            "DataAccess": {"MySql": {}},
        }
        for each in model.entities
        if each.keys
    ]
    indexes = [
        {"IndexName": each.name, "KeyAttributes": _key_attributes(model, each.name), "Projection": each.projection}
        for each in model.indexes
    ]
    table = {
        "TableName": model.name, "KeyAttributes": _key_attributes(model, ""), "TableFacets": facets,
        "GlobalSecondaryIndexes": indexes,
        "NonKeyAttributes": [
            {"AttributeName": name, "AttributeType": types[name]} for name in sorted({*types} - {*KEYS_HERE})
        ],
        "DataAccess": {"MySql": {}}, "BillingMode": "PAY_PER_REQUEST",
    }  # fmt: skip
    about = {"Description": "\n".join(["The access patterns:", *patterns]), "AWSService": "Amazon DynamoDB"}
    return {"ModelName": model.name, "ModelMetadata": about | {"Version": "3.0"}, "DataModel": [table]}


def _key_attributes(model: Model, index: str) -> dict[str, Any]:
    kinds = ("PartitionKey", "SortKey") if _sorted(model, index) else ("PartitionKey",)
    names = zip(kinds, keys_of(index), strict=False)
    return {kind: {"AttributeName": name, "AttributeType": "S"} for kind, name in names}
