"""Between Python values and DynamoDB's attribute values.

boto3's own serializer makes a Decimal of every number and a Binary of every byte string, at several times the cost;
our numbers are all whole. Types that we never write are still read, as boto3 does: one item that holds a null or a
fraction must not make a whole page unreadable. The format:
https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_AttributeValue.html
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

Item = dict[str, Any]
"""An item in plain Python values: str, int, bool, bytes, dict, list, set of str."""


@dataclass(frozen=True, slots=True)
class Typed:
    """A value with the code of its type, for the types that no plain value stands for: NULL, NS and BS."""

    kind: str
    content: Any


def marshal(value: Any) -> dict[str, Any]:
    """A value as DynamoDB wants it, for example ``{"S": "shoes"}``. Raises TypeError for what it cannot hold."""
    match value:
        case str():
            return {"S": value}
        case bool():
            return {"BOOL": value}
        case int() | Decimal():
            return {"N": str(value)}
        case bytes():
            return {"B": value}
        case Mapping():
            return {"M": marshal_item(value)}
        case list() | tuple():
            return {"L": [marshal(element) for element in value]}
        case set() | frozenset() if value:
            return {"SS": sorted(value)}
        case Typed():
            return {value.kind: value.content}
    raise TypeError(f"DynamoDB cannot hold {value!r}")


def marshal_item(item: Mapping[str, Any]) -> dict[str, Any]:
    """An item as DynamoDB wants it; attributes that are None are left out."""
    return {name: marshal(value) for name, value in item.items() if value is not None}


def unmarshal(value: Mapping[str, Any]) -> Any:
    """The Python value of a DynamoDB attribute value."""
    ((kind, content),) = value.items()
    return content if kind == "S" else _READERS[kind](content)


def unmarshal_item(item: Mapping[str, Any]) -> Item:
    """An item in plain Python values."""
    return {name: value["S"] if "S" in value else unmarshal(value) for name, value in item.items()}


def unmarshal_items(items: Iterable[Mapping[str, Any]]) -> list[Item]:
    return [unmarshal_item(item) for item in items]


def _number(content: str) -> int | Decimal:
    try:
        return int(content)
    except ValueError:
        return Decimal(content)


def _bytes(content: bytes | str) -> bytes:
    """Bytes from botocore's own parser; base64 from ours, and from streams."""
    return content if isinstance(content, bytes) else base64.b64decode(content)


_READERS: dict[str, Callable[[Any], Any]] = {
    "N": _number,
    "BOOL": bool,
    "B": _bytes,
    "M": unmarshal_item,
    "L": lambda content: [unmarshal(element) for element in content],
    "SS": set,
    "NULL": lambda _: None,
    "NS": lambda content: {_number(each) for each in content},
    "BS": lambda content: {_bytes(each) for each in content},
}
