"""Conversion between Python values and DynamoDB's attribute values, and between dataclasses and items.

boto3's serializer makes a Decimal of every number and a Binary of every byte string, at several times the cost; our
numbers are whole. Types that we never write (null, fractions) are still read as boto3 reads them, so that one such item
doesn't break a page. The format: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_AttributeValue.html

Each attribute's name is written once, next to its field (``shared/values/stored.py``).
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import MISSING, dataclass, fields
from datetime import datetime
from decimal import Decimal
from enum import Enum
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeVar

from shared.values.stored import Attribute, attribute_of
from shared.values.times import from_iso, to_iso

Item = dict[str, Any]
"""An item in plain Python values: str, int, bool, bytes, dict, list, set of str."""


@dataclass(frozen=True, slots=True)
class Typed:
    """A value with its type code, for types that have no plain Python value: NULL, NS and BS."""

    kind: str
    content: Any


def marshal(value: Any) -> dict[str, Any]:
    """A value in DynamoDB's form, such as ``{"S": "shoes"}``. Raises TypeError for an unsupported type."""
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
    """An item in DynamoDB's form, without attributes that are None."""
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


T = TypeVar("T")


class Codec(NamedTuple):
    """How a kind of value is written to an item and read from it."""

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


def _codec_of(kind: type) -> Codec | None:
    """The codec of a kind: times become ISO 8601 texts, enums their values, and kinds with ``parse`` the text that it
    reads; None for values stored unchanged."""
    if kind is datetime:
        return Codec(to_iso, from_iso)
    if issubclass(kind, Enum):
        return Codec(lambda choice: choice.value, kind)
    parse = getattr(kind, "parse", None)
    return Codec(str, parse) if parse else None


class Single:
    """Reads and writes a feature's value that has one attribute. Raises TypeError for a kind without a codec: a text or
    a number has no type of its own to be found by."""

    def __init__(self, attribute: Attribute) -> None:
        codec = _codec_of(attribute.kind)
        if codec is None:
            raise TypeError(f"{attribute.name} needs a type of its own, such as an Enum")
        self._name, self._codec, self._copied = attribute.name, codec, attribute.copied
        self.names = (attribute.name,)
        self.listed = self.names if attribute.listed else ()

    def read(self, item: Mapping[str, Any]) -> Any:
        return self._codec.read(item[self._name])

    def write(self, value: Any) -> Item:
        return {self._name: self._codec.write(value)}

    def copy(self, value: Any) -> Item:
        return self.write(value) if self._copied else {}


class Entity(Generic[T]):
    """Reads and writes a dataclass with slots as an item.

    ``forms`` has codecs for single fields; ``apart`` names the fields that no attribute holds alone. ``more`` declares
    the features' values that the field ``more`` has by their types: an attribute, or a dataclass with stored fields.
    Raises TypeError for a field that is neither stored nor apart, and for an attribute that two of them have.
    """

    def __init__(
        self,
        of: type[T],
        *,
        forms: Mapping[str, Codec] = MappingProxyType({}),
        apart: frozenset[str] = frozenset(),
        more: Iterable[Attribute | type] = (),
    ) -> None:
        declared: Any = of
        held = [(field, attribute_of(field)) for field in fields(declared)]
        if {field.name for field, attribute in held if attribute is None} != apart:
            raise TypeError(f"each field of {of.__name__} must be stored or apart")
        self._of, self._extended = of, "more" in apart
        rows = [
            (field, attribute, forms.get(field.name) or _codec_of(attribute.kind))
            for field, attribute in held
            if attribute is not None
        ]
        own = {each.kind if isinstance(each, Attribute) else each: each for each in more}
        self._more: tuple[tuple[type, Single | Entity[Any]], ...] = tuple(
            (kind, Single(each) if isinstance(each, Attribute) else Entity(each)) for kind, each in own.items()
        )
        owned = [name for _, part in self._more for name in part.names]
        self.names: tuple[str, ...] = (*(attribute.name for _, attribute, _ in rows), *owned)
        if len(set(self.names)) < len(self.names):
            twice = sorted({name for name in self.names if self.names.count(name) > 1})
            raise TypeError(f"two fields of {of.__name__} have the same attribute: {', '.join(twice)}")
        listed = [attribute.name for _, attribute, _ in rows if attribute.listed]
        self.listed: tuple[str, ...] = (*listed, *(name for _, part in self._more for name in part.listed))
        plain = [(_setter(of, f.name), a.name, a.kind, f.default) for f, a, form in rows if form is None]
        self._required = tuple((put, name, kind) for put, name, kind, default in plain if default is MISSING)
        self._optional = tuple(each for each in plain if each[-1] is not MISSING)
        self._formed = tuple((_setter(of, f.name), a.name, form.read, f.default) for f, a, form in rows if form)
        self._apart = tuple((_setter(of, f.name), f.name, f.default) for f, attribute in held if attribute is None)
        self._each = tuple((f.name, a.name, a.kind, form.read if form else None, f.default) for f, a, form in rows)
        self._written = tuple((f.name, a.name, form.write if form else None) for f, a, form in rows)
        self._copied = tuple(row for row, (_, a, _) in zip(self._written, rows, strict=True) if a.copied)

    def write(self, entity: T) -> Item:
        """The attributes of an object, except those that are None."""
        item = _write(entity, self._written)
        for value, part in self._own(entity):
            item |= part.write(value)
        return item

    def copy(self, entity: T) -> Item:
        """The attributes of an object that copies hold."""
        item = _write(entity, self._copied)
        for value, part in self._own(entity):
            item |= part.copy(value)
        return item

    def _own(self, entity: Any) -> Iterator[tuple[object, Single | Entity[Any]]]:
        """The features' values of an object, each with how it is written."""
        return ((entity.more[kind], part) for kind, part in self._more if kind in entity.more)

    def salvage(self, item: Mapping[str, Any]) -> tuple[dict[str, Any], set[str]]:
        """The readable fields of a damaged item by name, and the names of the unreadable ones."""
        left: dict[str, Any] = {}
        for field, name, kind, read, default in self._each:
            value = item.get(name)
            if value is None and default is not MISSING:
                left[field] = default
            elif read is not None:
                with suppress(ValueError, TypeError, AttributeError, OverflowError):
                    left[field] = read(value)
            elif type(value) is kind and value != "":
                left[field] = value
        if self._extended:
            left["more"] = {}
            for kind, part in self._more:
                with suppress(ValueError, TypeError, AttributeError, OverflowError):
                    left["more"] |= {kind: part.read(item)} if _holds(item, part.names) else {}
        return left, {field for field, *_ in self._each} - left.keys()

    def read(self, item: Mapping[str, Any], **apart: Any) -> T:
        """The object that an item holds; ``apart`` gives the fields that it doesn't hold.

        Raises KeyError for a missing attribute, ValueError or TypeError for one of the wrong type or a required text
        that is empty.

        Sets fields as a frozen dataclass's ``__init__`` does, but through slots looked up once: 4 instead of 6
        microseconds for a deal's fields (without the type checks). The plain form is ``self._of(**values)``.
        """
        made = object.__new__(self._of)
        for put, name, kind in self._required:
            value = item[name]
            if type(value) is not kind or value == "":  # not isinstance: a bool is an int
                raise ValueError(f"{name} is no {kind.__name__}, or empty")
            put(made, value)
        for put, name, kind, default in self._optional:
            value = item.get(name)
            if value is None:
                value = default
            elif type(value) is not kind:
                raise ValueError(f"{name} is no {kind.__name__}")
            put(made, value)
        for put, name, read, default in self._formed:
            value = item.get(name)
            put(made, read(item[name]) if value is not None or default is MISSING else default)
        if self._extended:
            apart["more"] = {kind: part.read(item) for kind, part in self._more if _holds(item, part.names)}
        for put, field, default in self._apart:
            put(made, apart[field] if field in apart or default is MISSING else default)
        return made


def _holds(item: Mapping[str, Any], names: Iterable[str]) -> bool:
    return any(item.get(name) is not None for name in names)


def _setter(of: type, field: str) -> Callable[[Any, Any], None]:
    setter: Callable[[Any, Any], None] = getattr(of, field).__set__
    return setter


def _write(entity: object, rows: tuple[tuple[str, str, Callable[[Any], Any] | None], ...]) -> Item:
    item = {}
    for field, name, write in rows:
        value = getattr(entity, field)
        if value is not None:
            item[name] = value if write is None else write(value)
    return item
