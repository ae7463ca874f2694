"""A pattern as a request to DynamoDB, and whether DynamoDB's rules refuse it.

Rules and engines know the names of this site's keys, so each index of a model is asked as GSI1.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from features.modeller.design import Index, Pattern, is_number, keys_of
from features.scratch import grammar
from shared.dynamodb.schema import GSI1, TTL_ATTRIBUTE

_MEANT = re.compile(rf"(?:Type|times|{TTL_ATTRIBUTE})_*")
"""Names that mean something to the site's stream and TTL, and to lessons' items; and those that they are given."""

_BEGINS = re.compile("(?:Invalid )?(Filter|Projection|Consistent)")
_FIELDS = {"": "key", "Filter": "filter", "Projection": "returns", "Consistent": "consistent"}
"""The fields of a pattern by how DynamoDB's messages about them begin."""

NO_SORT_KEY = "-"
"""The sort key of a key without one, in a table that has one."""

Key = Callable[[str], str]
"""Makes a key of a request's template."""


def stored(name: str) -> str:
    """The name of a model's attribute in the site's own table, where ``Type`` says what an item is to all of it."""
    return f"{name}_" if _MEANT.fullmatch(name) else name


def shown(name: str) -> str:
    """The model's own name of a stored attribute."""
    return name[:-1] if name.endswith("_") and _MEANT.fullmatch(name) else name


def operation(pattern: Pattern) -> str:
    return {"Get": "GetItem"}.get(pattern.operation, pattern.operation)


def arguments(pattern: Pattern, pk: Key = str, sk: Key = str) -> dict[str, Any]:
    """The arguments of a read, with keys made of its templates, and values written plainly."""
    names = keys_of(GSI1.name if pattern.index else "")
    made: dict[str, Any] = {"IndexName": GSI1.name} if pattern.index else {}
    placeholders, values = dict[str, str](), dict[str, Any]()
    if pattern.operation == "Get":
        made["Key"] = {names[0]: pk(pattern.pk), names[1]: sk(pattern.sk[1]) if pattern.sk else NO_SORT_KEY}
    elif pattern.operation == "Query":
        values[":partition"] = pk(pattern.pk)
        condition = f"{names[0]} = :partition"
        if pattern.sk:
            values |= {f":sort{at}": sk(each) for at, each in enumerate(pattern.sk[1:])}
            condition += f" AND {_compared(names[1], pattern.sk[0], [*values][1:])}"
        made["KeyConditionExpression"] = condition
    filtered = []
    for at, (name, compares, value) in enumerate(pattern.terms):
        placeholders[f"#filter{at}"] = stored(name)
        values[f":filter{at}"] = int(value) if is_number(value) else sk(value)
        filtered.append(_compared(f"#filter{at}", compares, [f":filter{at}"]))
    if filtered:
        made["FilterExpression"] = " AND ".join(filtered)
    if pattern.returns:
        placeholders |= {f"#return{at}": stored(name) for at, name in enumerate(pattern.returns)}
        made["ProjectionExpression"] = ", ".join(f"#return{at}" for at in range(len(pattern.returns)))
    made |= {"ConsistentRead": True} if pattern.consistent else {}
    made |= {"Limit": pattern.limit} if pattern.limit and pattern.operation != "Get" else {}
    made |= {"ExpressionAttributeNames": placeholders} if placeholders else {}
    return made | ({"ExpressionAttributeValues": values} if values else {})


def _compared(name: str, compares: str, values: list[str]) -> str:
    if compares in ("begins_with", "contains"):
        return f"{compares}({name}, {values[0]})"
    return f"{name} {compares.upper()} {' AND '.join(values)}"


def refusals(pattern: Pattern, index: Index) -> dict[str, str]:
    """The fields of a read of an index or the table for which DynamoDB refuses it, each with DynamoDB's message."""
    if pattern.operation == "Get" and pattern.index:
        return {"index": "GetItem reads the table. An index is read with a Query."}
    if pattern.operation == "Get" and pattern.terms:
        return {"filter": "GetItem has no filter: it reads one item."}
    # What stands for a value is the least or the largest one, so that a range isn't refused for it.
    sk = (re.sub("<[^>]*>", "~" if at == 2 else "0", each) if at else each for at, each in enumerate(pattern.sk))
    if why := grammar.refusal(operation(pattern), arguments(replace(pattern, sk=tuple(sk)))):
        begins = _BEGINS.match(why)
        return {_FIELDS[begins[1] if begins else ""]: why.replace(GSI1.name, pattern.index or GSI1.name)}
    asked = {"filter": [name for name, _, _ in pattern.terms], "returns": pattern.returns}
    copied = {*(index.copies or ()), *keys_of(""), *keys_of(index.name)}
    lost = (
        {}
        if index.copies is None
        else {field: [name for name in asked[field] if name not in copied] for field in asked}
    )
    says = f"Global secondary index {index.name} does not project"
    return {field: f"{says} [{', '.join(names)}]" for field, names in lost.items() if names}
