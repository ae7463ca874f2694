"""Rows that are added to a model, and what follows an entity or an index that gets another name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from features.modeller.design import Model

Json = dict[str, Any]


def new(kind: str, model: Model) -> Json:
    """A row that is added, which can be used as it is."""
    if kind == "entities":
        taken = [each.name for each in model.entities]
        return _entity(next(name for at in range(1, 20) if (name := f"Thing{at if at > 1 else ''}") not in taken))
    first = next((each.key[0] for each in model.entities if each.keys), "THING#<ThingId>")
    asked = {"name": "A new pattern", "rate": "1 a second", "request": "Query", "key": f"PK = {first}"}
    return asked if kind == "patterns" else {}


def _entity(name: str) -> Json:
    key, own = name.upper(), {f"{name}Id": "id 8", "Text": "text 100"}
    return {"name": name, "items": "1,000", "PK": f"{key}#<{name}Id>", "SK": key, "attributes": own}


def follow(document: Json, before: Mapping[str, Any]) -> None:
    """Change the fields of a model that name an entity or an index by the name that it had before."""
    for kind, followed in (("entities", _entity_follows), ("indexes", _index_follows)):
        for row, old in zip(document[kind], before[kind], strict=False):
            one, other = str(old.get("name", "")), row.get("name", "")
            if one and other and one != other:
                followed(document, row, one, other)


def _entity_follows(document: Json, row: Json, one: str, other: str) -> None:
    """Items, values and writes that name an entity; and its keys, if it has the attributes of a new one."""
    word = re.compile(rf"^(of|put|update|delete|check|.* an?|.* per) {re.escape(one)}\b", re.IGNORECASE)
    added, made = _entity(one), _entity(other)
    if row.get("attributes") == added["attributes"]:
        row |= {name: made[name] for name in ("PK", "SK", "attributes") if row.get(name) == added[name]}
        for asked in (each for each in document["patterns"] if "key" in each):
            asked["key"] = asked["key"].replace(added["PK"], made["PK"])

    def followed(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: followed(each) for name, each in value.items()}
        if isinstance(value, list):
            return [followed(each) for each in value]
        return word.sub(lambda found: f"{found[1]} {other}", value)

    for each in (*document["entities"], *document["patterns"]):
        each.update({name: followed(each[name]) for name in ("items", "attributes", "writes") if name in each})


def _index_follows(document: Json, _: Json, one: str, other: str) -> None:
    """The keys of entities in an index, and the patterns that read it."""
    for row in document["entities"]:
        for part in ("PK", "SK"):
            if f"{one}{part}" in row:
                row[f"{other}{part}"] = row.pop(f"{one}{part}")
    for row in document["patterns"]:
        if row.get("index") == one:
            row["index"] = other
