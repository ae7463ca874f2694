"""The kinds of item collections: what each is, and the access patterns that read it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from shared.data import partitions as p
from shared.data.entities import PLACES
from shared.html.patterns import PATTERNS


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of collection: what one is, and the numbers of the access patterns that ask for it (docs/patterns.md)."""

    name: str
    numbers: str = ""

    @property
    def patterns(self) -> list[tuple[str, str]]:
        """The numbers and the names of those patterns."""
        return [(number, PATTERNS[number].name) for number in self.numbers.split()]


KINDS = [
    (
        place.index.name if place.index else None,
        re.sub("<[^>]+>", "*", place.partition),
        Kind(place.kind, place.patterns),
    )
    for place in PLACES
    if place.kind
]
"""The kinds of collections of the table (None) and its indexes, with the patterns of their partition keys."""


def kind_of(partition: str, index: str | None) -> Kind | None:
    """The kind of a collection; None where no key of ours is like this."""
    return next((kind for name, pattern, kind in KINDS if name == index and p.matches(partition, [pattern])), None)


def hidden_because(partition: str, index: str | None) -> str:
    """Why a collection is not drawn, or an empty text."""
    return next(
        (because for pattern, because in p.HIDDEN.get(index, {}).items() if p.matches(partition, [pattern])), ""
    )
