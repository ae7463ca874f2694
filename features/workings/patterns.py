"""The access patterns (all ``patterns.toml``), those of a request by its function, and the kinds of collections."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from shared import features, hooks
from shared.data import partitions as p
from shared.data.entities import PLACES
from shared.data.entity import Place


@dataclass(frozen=True, slots=True)
class Pattern:
    """An access pattern: its name, the data layer's functions that serve it, and a one-sentence answer.

    ``helpers`` are functions that run in their own thread or cache results, each with the function that it serves.
    """

    name: str
    functions: str
    sentence: str
    helpers: Mapping[str, str] = field(default_factory=dict)


_OF_CORE = features.FOLDER.parent / "shared" / "html" / "patterns.toml"


def _patterns() -> Mapping[str, Pattern]:
    """The patterns of the core and the features; a feature may add functions to one of others. Raises Broken."""
    found: dict[str, Pattern] = {}
    for path in (_OF_CORE, *(features.FOLDER / path for path in features.files("patterns.toml"))):
        file = path.relative_to(features.FOLDER.parent)
        try:
            for number, row in tomllib.loads(path.read_text(encoding="utf-8")).items():
                if number in found and row.keys() != {"functions"}:
                    raise hooks.Broken(f"{file} has the access pattern {number}, which another file has, too.")
                before = found.get(number)
                more = before and replace(before, functions=f"{before.functions} {row['functions']}")
                found[number] = more or Pattern(**row)
            found = dict(sorted(found.items(), key=lambda each: int(each[0])))
        except (ValueError, TypeError, AttributeError) as error:
            raise hooks.Broken(f"{file} can't be read: {error}.") from error
    return found


PATTERNS = _patterns()
"""The patterns by their numbers in docs/patterns.md."""

HELPERS = {
    "feeds._due": "feeds.read",
    "feeds._notes": "feeds.upcoming",
    "feeds._query": "feeds.read",
    "feed_counts._books": "feeds.read",
    "feed_counts._topic": "feeds.read",
    "sorting._query": "sorting.cheapest",
    "sorting._first_offer": "sorting.cheapest",
    "sorting._brand": "topics.get",
    "search._begun": "search.find",
    "search._counts": "search.find",
    "alerts._notify_owner": "alerts.cohort",
    "search._newest": "search.find",
    **{helper: served for each in PATTERNS.values() for helper, served in each.helpers.items()},
}
"""All patterns' helpers, and those that serve several."""

_BY_INDEX: Mapping[tuple[str, str | None], str] = {
    ("feeds.read", "GSI1"): "7",
    ("feeds.read", "GSI2"): "10",
    ("feeds.read", "GSI3"): "8",
    ("feeds.of_periods", "GSI1"): "7",
    ("sorting.cheapest", "GSI2"): "44",
    ("sorting.cheapest", "GSI3"): "43",
    ("sorting.discounted", "GSI2"): "44",
    ("messages.latest", None): "18",
    ("messages.latest", "GSI1"): "19",
}
"""Where one function serves several patterns, the index tells which."""


def patterns_of(source: str, index: str | None) -> list[str]:
    """The numbers of the access patterns that a request by a function serves, possibly none."""
    function = function_of(source)
    function = HELPERS.get(function, function)
    if (function, index) in _BY_INDEX:
        return [_BY_INDEX[function, index]]
    return [number for number, pattern in PATTERNS.items() if function in pattern.functions.split()]


def function_of(source: str) -> str:
    """A request's function with its module: ``feeds.read``; empty if it isn't in the data layer."""
    module, _, rest = source.partition(":")
    return f"{module.removesuffix('.data').rpartition('.')[2]}.{rest.partition(':')[0]}" if source else ""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of collection: its description, and the numbers of the access patterns that read it (docs/patterns.md)."""

    name: str
    numbers: str = ""

    @property
    def patterns(self) -> list[tuple[str, str]]:
        """The numbers and names of those patterns that the installed features have."""
        return [(number, PATTERNS[number].name) for number in dict.fromkeys(self.numbers.split()) if number in PATTERNS]


def _partition_of(place: Place) -> tuple[str | None, str]:
    """A place's index (None: the table) and the pattern of its partition key."""
    return place.index.name if place.index else None, re.sub("<[^>]+>", "*", place.partition)


_PARTITIONS = [(_partition_of(place), place) for place in PLACES]

KINDS = [
    (*of, Kind(place.kind, " ".join(each.patterns for other, each in _PARTITIONS if other == of)))
    for of, place in _PARTITIONS
    if place.kind
]
"""The kinds of collections, by index and pattern of partition key. A feature's items may be in a partition of the core:
the patterns that read them are that collection's, too."""


def kind_of(partition: str, index: str | None) -> Kind | None:
    """A collection's kind; None if no key has this form."""
    return next((kind for name, pattern, kind in KINDS if name == index and p.matches(partition, [pattern])), None)


def hidden_because(partition: str, index: str | None) -> str:
    """Why a collection isn't drawn, or an empty text."""
    return next(
        (because for pattern, because in p.HIDDEN.get(index, {}).items() if p.matches(partition, [pattern])), ""
    )
