"""Between Python values and DynamoDB's attribute values.

boto3's own serializer makes a Decimal of every number and a Binary of every byte string, at several times the cost;
our numbers are all whole.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping
from typing import Any

Item = dict[str, Any]
"""An item in plain Python values: str, int, bool, bytes, dict, list, set of str."""


def marshal(value: Any) -> dict[str, Any]:
    """A value as DynamoDB wants it, for example ``{"S": "shoes"}``. Raises TypeError for what it cannot hold."""
    match value:
        case str():
            return {"S": value}
        case bool():
            return {"BOOL": value}
        case int():
            return {"N": str(value)}
        case bytes():
            return {"B": value}
        case Mapping():
            return {"M": marshal_item(value)}
        case list() | tuple():
            return {"L": [marshal(element) for element in value]}
        case set() | frozenset() if value:
            return {"SS": sorted(value)}
    raise TypeError(f"DynamoDB cannot hold {value!r}")


def marshal_item(item: Mapping[str, Any]) -> dict[str, Any]:
    """An item as DynamoDB wants it; attributes that are None are left out."""
    return {name: marshal(value) for name, value in item.items() if value is not None}


def unmarshal(value: Mapping[str, Any]) -> Any:
    """The Python value of a DynamoDB attribute value."""
    ((kind, content),) = value.items()
    try:
        return content if kind == "S" else _READERS[kind](content)
    except KeyError as error:
        raise TypeError(f"no attribute of ours has type {kind}") from error


def unmarshal_item(item: Mapping[str, Any]) -> Item:
    """An item in plain Python values."""
    return {name: value["S"] if "S" in value else unmarshal(value) for name, value in item.items()}


def unmarshal_items(items: Iterable[Mapping[str, Any]]) -> list[Item]:
    return [unmarshal_item(item) for item in items]


_READERS: dict[str, Callable[[Any], Any]] = {
    "N": int,
    "BOOL": bool,
    # bytes from botocore's own parser, base64 from ours and from streams
    "B": lambda content: content if isinstance(content, bytes) else base64.b64decode(content),
    "M": unmarshal_item,
    "L": lambda content: [unmarshal(element) for element in content],
    "SS": set,
}
