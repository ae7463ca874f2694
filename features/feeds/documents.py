"""JSON: objects of an array, one after the other, or products of JSON-LD, however they are laid out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

import ijson

DEEPEST = 64
"""Arrays and objects within each other."""

_NUMBER = re.compile(rb"[0-9]{400}")


class _Checked:
    """A file without numbers that crash the parser in C."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._last = b""

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        if _NUMBER.search(self._last + data):
            raise ijson.JSONError("a number of more than 400 digits")
        self._last = data[-400:]
        return data


def values(file: BinaryIO) -> Iterator[Any]:
    """The elements of an array, or the values one after the other. Raises ijson.JSONError."""
    builder: Any = None
    depth, base = 0, 0
    for event, value in ijson.basic_parse(_Checked(file), buf_size=4096, multiple_values=True, use_float=True):
        begins, ends = event in ("start_map", "start_array"), event in ("end_map", "end_array")
        if depth == 0 and event == "start_array" and base == 0:
            base = 1
            continue
        if depth == 0 and ends and base == 1:
            base = 0
            continue
        if depth == 0:
            builder = ijson.ObjectBuilder()
        builder.event(event, value)
        depth += begins - ends
        if depth > DEEPEST:
            raise ijson.JSONError(f"more than {DEEPEST} arrays and objects within each other")
        if depth == 0:
            yield builder.value


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
