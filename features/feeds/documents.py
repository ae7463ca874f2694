"""JSON: objects of an array, one after the other, or products of JSON-LD, however they are laid out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Context, Decimal, localcontext
from typing import Any, BinaryIO, NamedTuple

import ijson

DEEPEST = 64
"""Arrays and objects within each other."""

TOO_DEEP = f"has more than {DEEPEST} arrays and objects within each other"

MOST_DIGITS = 100
"""Digits of a number. The parser in C crashes if there are more than Python's limit (4,300)."""

_TOO_MANY = re.compile(rb"([0-9]{%d})[0-9]+" % (MOST_DIGITS + 1))
_DIGITS = re.compile(rb"[0-9]*\Z")


class Unfit(NamedTuple):
    """A value that isn't read, and why."""

    why: str


class _Cut:
    """A file whose numbers end after ``MOST_DIGITS`` digits and one, which shows that there were more."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._last = b""

    def read(self, size: int = -1) -> bytes:
        while data := self._file.read(size):
            cut = _TOO_MANY.sub(rb"\1", self._last + data)
            new = cut[len(self._last) :]
            self._last = _DIGITS.findall(cut[-MOST_DIGITS - 1 :])[0]
            if new:
                return new
        return b""


def values(file: BinaryIO) -> Iterator[Any]:
    """The elements of an array, or the values one after the other; for one that is too deep or has a number of too
    many digits, Unfit. Raises ijson.JSONError."""
    builder: Any = None
    depth, base, why = 0, 0, ""
    for event, value in _events(file):
        begins, ends = event in ("start_map", "start_array"), event in ("end_map", "end_array")
        if depth == 0 and event == "start_array" and base == 0:
            base = 1
            continue
        if depth == 0 and ends and base == 1:
            base = 0
            continue
        if depth == 0:
            builder, why = ijson.ObjectBuilder(), ""
        depth += begins - ends
        if depth > DEEPEST:
            why = TOO_DEEP
        elif event == "number" and not abs(float(value)) < 10.0**MOST_DIGITS:  # it may be no number at all
            why = f"has a number of more than {MOST_DIGITS} digits"
        if not why:
            builder.event(event, float(value) if isinstance(value, Decimal) else value)
        if depth == 0:
            yield Unfit(why) if why else builder.value


def _events(file: BinaryIO) -> Iterator[tuple[str, Any]]:
    """The parser's events. A number whose exponent no decimal has is NaN, and doesn't end the file."""
    found = iter(ijson.basic_parse(_Cut(file), buf_size=4096, multiple_values=True))
    lenient = Context(traps=[])
    while True:
        with localcontext(lenient):
            each = next(found, None)
        if each is None:
            return
        yield each


def is_deep(value: Any) -> bool:
    """Whether a value is nested deeper than is read."""
    level = [value]
    for _ in range(DEEPEST + 1):
        held = (each.values() if isinstance(each, dict) else each for each in level if isinstance(each, (dict, list)))
        level = [inner for each in held for inner in each]
        if not level:
            return False
    return True


def products(value: Any) -> Iterator[Mapping[str, Any]]:
    """The products of JSON-LD in a value: itself, or those of its graph or list."""
    if isinstance(value, list):
        for each in value:
            yield from products(each)
    elif isinstance(value, dict):
        kinds = value.get("@type", "")
        if "Product" in (kinds if isinstance(kinds, list) else [str(kinds).rsplit("/", 1)[-1]]):
            yield value
        else:
            for name in ("@graph", "itemListElement", "item", "mainEntity"):
                yield from products(value.get(name))


def texts_of(product: Mapping[str, Any]) -> dict[str, str]:
    """The texts of a product by their names: those of its first offer are its own."""
    offers = product.get("offers") or {}
    offer = (offers[0] if offers else {}) if isinstance(offers, list) else offers
    merged = {**product, **(offer if isinstance(offer, dict) else {})}
    if "lowPrice" in merged:
        merged.setdefault("price", merged["lowPrice"])
    merged["name"], merged["url"] = product.get("name"), merged.get("url") or product.get("url") or product.get("@id")
    return {name.lower(): text for name, value in merged.items() if (text := _text(value))}


def _text(value: Any) -> str:
    """A value's text: the first of several, and the name or address of an object."""
    if isinstance(value, list):
        return _text(value[0]) if value else ""
    if isinstance(value, dict):
        return _text(value.get("name") or value.get("url") or value.get("@id") or "")
    return "" if value is None or isinstance(value, bool) else str(value)
