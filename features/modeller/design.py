"""A model of a table: entities with their key templates, indexes and access patterns, and its JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import inf
from typing import Any

from shared.dynamodb.schema import PARTITION_KEY, SORT_KEY

READS, WRITES = ("Get", "Query", "Scan"), ("Write", "Transaction")

NAMES = re.compile(r"<([A-Za-z]\w*)>")
BUSIEST = 0.001
"""The part of the requests that ask for the busiest key, where a model doesn't say it."""

YEAR = 365
"""Days over which items are spread."""


def is_number(value: str) -> bool:
    """Whether a text is a whole number that the generated ones may be compared with."""
    return value.isdecimal() and len(value) < 16


@lru_cache(maxsize=256)
def _specs(attributes: tuple[tuple[str, str], ...]) -> Mapping[str, list[str]]:
    return {name: spec.split() for name, spec in attributes}


@dataclass(frozen=True, slots=True)
class Entity:
    """An item type. ``keys`` has its templates (partition key, sort key) by index, the table's under an empty name."""

    name: str
    count: float
    attributes: tuple[tuple[str, str], ...]
    keys: tuple[tuple[str, tuple[str, str]], ...]
    said: str = ""
    expires: str = ""

    def spec(self, attribute: str) -> list[str]:
        """The words that say which values an attribute has, such as ``text 20``; empty for an unknown attribute."""
        return _specs(self.attributes).get(attribute, [])

    @property
    def key(self) -> tuple[str, str]:
        """The templates of its key in the table; empty if they can't be used."""
        return dict(self.keys).get("", ("", ""))


@dataclass(frozen=True, slots=True)
class Index:
    """A global index: ``only`` items with this value of an attribute, and the attributes it ``copies`` (None: all)."""

    name: str
    only: tuple[str, str] | None = None
    copies: tuple[str, ...] | None = None

    @property
    def projection(self) -> dict[str, Any]:
        """As DynamoDB's CreateTable has it."""
        if self.copies is None:
            return {"ProjectionType": "ALL"}
        include = {"ProjectionType": "INCLUDE", "NonKeyAttributes": [*self.copies]}
        return include if self.copies else {"ProjectionType": "KEYS_ONLY"}


@dataclass(frozen=True, slots=True)
class Change:
    """What a write does to an item: its attributes before and after, as far as they are stated, or None."""

    entity: str
    before: tuple[tuple[str, str], ...] | None
    after: tuple[tuple[str, str], ...] | None


@dataclass(frozen=True, slots=True)
class Pattern:
    """An access pattern. ``rate`` is a second's average, ``busiest`` the part that asks for the busiest key.

    ``sk`` is an operator with its operands, ``terms`` are those of the filter, ``times`` says how often the request is
    sent for one answer.
    """

    name: str
    rate: float
    operation: str
    said: str = ""
    index: str = ""
    pk: str = ""
    sk: tuple[str, ...] = ()
    terms: tuple[tuple[str, str, str], ...] = ()
    returns: tuple[str, ...] = ()
    consistent: bool = False
    limit: int = 0
    times: int = 1
    busiest: float = BUSIEST
    writes: tuple[Change, ...] = ()
    at: int = 0

    @property
    def reads(self) -> bool:
        return self.operation in READS


@dataclass(frozen=True, slots=True)
class Model:
    """A table's design. ``peak`` is the busiest second as a multiple of the average. Of a ``partial`` one, an entity
    couldn't be read, which may be the one that a pattern asks for."""

    name: str
    entities: tuple[Entity, ...]
    indexes: tuple[Index, ...]
    patterns: tuple[Pattern, ...]
    peak: float = 1.0
    partial: bool = False

    @property
    def size(self) -> float:
        """Items in the table."""
        return sum(each.count for each in self.entities) or 1.0

    @property
    def rate(self) -> float:
        """Requests a second."""
        return sum(each.rate * each.times for each in self.patterns)

    @property
    def key_names(self) -> set[str]:
        """The names of the keys of the table and of its indexes."""
        return {name for index in ("", *(each.name for each in self.indexes)) for name in keys_of(index)}

    def entity(self, name: str) -> Entity:
        return next(each for each in self.entities if each.name == name)

    def index(self, name: str) -> Index:
        """An index by its name; the table's is empty, and holds everything."""
        return next((each for each in self.indexes if each.name == name), Index(name))

    def spec(self, attribute: str) -> list[str]:
        """The words of an attribute's values, in the first entity that has it."""
        return next((each.spec(attribute) for each in self.entities if each.spec(attribute)), [])

    def values(self, entity: str, attribute: str, n: float) -> float:
        """How many values an attribute has in a table of ``n`` items: as many as parents, or a fixed number."""
        kind, *words = self.entity(entity).spec(attribute)
        fixed = {"one": len(set(words)), "day": YEAR, "after": YEAR, "while": 2}.get(kind)
        most = 10.0 ** int(words[0]) if kind in ("id", "number") else inf
        return fixed or min(max(1.0, self.entity(words[0] if kind == "of" else entity).count * n / self.size), most)


def keys_of(index: str) -> tuple[str, str]:
    """The names of an index's keys, or of the table's for an empty name."""
    return f"{index}{PARTITION_KEY}", f"{index}{SORT_KEY}"


def document(model: Model) -> dict[str, Any]:
    """A model's JSON, which reads as the same model: each row with the fields that aren't empty."""
    rows: dict[str, list[dict[str, Any]]] = {
        "entities": [
            {"name": each.name, "items": each.said}
            | {name: part for index, pair in each.keys for name, part in zip(keys_of(index), pair, strict=True)}
            | {"attributes": dict(each.attributes), "expires": each.expires}
            for each in model.entities
        ],
        "indexes": [
            {
                "name": each.name, "while": " = ".join(each.only or ()),
                "copies": copies_text(each),
            }
            for each in model.indexes
        ],
        "patterns": [_row_of(each) for each in model.patterns],
    }  # fmt: skip
    full = {kind: [{name: value for name, value in row.items() if value} for row in rows[kind]] for kind in rows}
    peak = int(model.peak) if model.peak.is_integer() else model.peak
    return {"name": model.name, "peak": peak, **full}


def copies_text(index: Index) -> str:
    """What an index copies as it is written in a model; an attribute called ``all`` or ``keys`` has a comma."""
    if index.copies is None:
        return ""
    return f"{index.copies[0]}," if index.copies in (("all",), ("keys",)) else ", ".join(index.copies) or "keys"


def _row_of(pattern: Pattern) -> dict[str, Any]:
    return {
        "name": pattern.name, "rate": pattern.said, "request": pattern.operation, "index": pattern.index,
        "key": key_text(pattern), "filter": " and ".join(map(" ".join, pattern.terms)),
        "returns": ", ".join(pattern.returns), "consistent": pattern.consistent,
        "limit": f"{pattern.limit or ''}", "times": f"{pattern.times}" if pattern.times > 1 else "",
        "busiest": f"{pattern.busiest * 100:g}%" if pattern.busiest != BUSIEST else "",
        "writes": [write_text(each) for each in pattern.writes],
    }  # fmt: skip


def key_text(pattern: Pattern) -> str:
    """A key condition as it is written in a model."""
    if not pattern.pk:
        return ""
    sort = f", SK {pattern.sk[0]} {' and '.join(pattern.sk[1:])}" if pattern.sk else ""
    return f"PK = {pattern.pk}{sort}"


def write_text(write: Change) -> str:
    """A write as it is written in a model: ``Update Book Copies 5 to 4``."""
    verb = "Put" if write.before is None else "Delete" if write.after is None else "Update"
    verb = "Check" if write.before == write.after else verb
    before, after = dict(write.before or ()), dict(write.after or ())
    parts = [
        f"{name} {before.get(name, value)}" + (f" to {value}" if before.get(name, value) != value else "")
        for name, value in (after or before).items()
    ]
    return f"{verb} {write.entity} {', '.join(parts)}".strip()
