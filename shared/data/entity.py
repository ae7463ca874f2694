"""The row of an item type (``entities.py`` has the rows), and templates of keys.

Templates come from the functions that make the real keys, called with names such as ``<DealId>`` for values: an
attribute of the item, a part of its key, or a value that ``invariants.py`` derives.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from shared.data import keys
from shared.dynamodb.schema import PARTITION_KEY, SORT_KEY, TTL_ATTRIBUTE, Index, Key, key_names


class Shown(Enum):
    """Who may see the items of a partition in the table or an index."""

    OPEN = "everyone: the catalog"
    WHOLE = "who opens the browser of the table"
    PARTLY = "the same, without the attributes that the row hides"
    HIDDEN = "nobody"


class Exported(Enum):
    """What an export has of a type's items, if it is to have no personal data."""

    NOTHING = "nothing: a new type is left out until its row says more"
    DESCRIBED = "the attributes of its models that are not personal"
    WHOLE = "all of it, except for attributes that its model calls personal: such an item names no person"


When = tuple[str, Container[Any]]
"""An attribute, and the values for which something applies; None means that it is absent."""


@dataclass(frozen=True, slots=True)
class Place:
    """A key template in the table (``index`` None) or an index, and what its partition is.

    ``patterns`` are the README's numbers of the access patterns that read it; ``because`` says why it is hidden. Only
    items that meet ``when`` are in it.
    """

    forms: Key
    index: Index | None = None
    kind: str = ""
    patterns: str = ""
    shown: Shown = Shown.WHOLE
    because: str = ""
    when: When | None = None

    @property
    def partition(self) -> str:
        return self.forms[key_names(self.index)[0]]

    @property
    def keys(self) -> tuple[str, str]:
        """The partition and sort key as the chart shows them; an empty text for no sort key."""
        partition, sort = key_names(self.index)
        return _shown(self.forms[partition]), _shown(self.forms.get(sort or "", ""))


@dataclass(frozen=True, slots=True)
class Partner:
    """An item that must exist for another, under a key made from the other's values, if ``when`` holds.

    ``says`` are attributes that it must have. If there are any, a missing partner can be rewritten, with ``new``
    attributes (not compared) made from the other's values; but not if it ``is_lost`` with data of its own.
    """

    key: Key
    says: Mapping[str, str] = field(default_factory=dict)
    new: Mapping[str, str] = field(default_factory=dict)
    when: When | None = None
    is_lost: bool = False


@dataclass(frozen=True, slots=True)
class Entity:
    """One item type with one key template.

    ``needs`` names attributes that each item has besides those of ``says``, which repeat its key. For items that are
    partly shown, ``may`` names further attributes that are drawn, ``hides`` those that aren't, with reasons. ``places``
    are its index places. A ``computed`` item follows from others (``invariants.py``). ``owned`` items belong to the
    account in ``Username`` and are removed with it (``removal.py``): either a partition, all of whose items name the
    account, or by a ``remover`` (``hooks.Removal``) if other items count or point to them. ``removed_before`` names the
    types whose items are removed only when its own are gone. A ``claimed`` item must be the partner of another.
    """

    type: str
    own: Place
    places: tuple[Place, ...] = ()
    needs: str = ""
    may: str = ""
    hides: Mapping[str, str] = field(default_factory=dict)
    says: Mapping[str, str] = field(default_factory=dict)
    partners: tuple[Partner, ...] = ()
    owned: bool = False
    remover: bool = False
    removed_before: tuple[str, ...] = ()
    claimed: bool = False
    computed: bool = False
    expires: bool = False
    exported: Exported = Exported.NOTHING

    @property
    def key(self) -> Key:
        """Its primary key's template, as the chart shows it."""
        return dict(zip((PARTITION_KEY, SORT_KEY), self.own.keys, strict=True))

    @property
    def required(self) -> tuple[str, ...]:
        """The attributes that each item has besides its keys."""
        return (*self.needs.split(), *self.says, *((TTL_ATTRIBUTE,) if self.expires else ()))

    def at(self, index: Index | None) -> list[tuple[str, str]]:
        """Its partition and sort key templates in the table or an index, as the chart shows them."""
        return [place.keys for place in (self.own, *self.places) if place.index == index]


EVERYTHING_ELSE = "*"
"""In ``removed_before``: all types whose rows don't say so themselves."""


def in_order_of_removal(rows: Iterable[Entity]) -> tuple[Entity, ...]:
    """The owned rows, in the order in which an account's items are removed; the order of ``rows`` doesn't matter.

    Among those that may come next, types with a function come first, and else the alphabet decides. Raises ValueError
    for a row that names no owned type, and for rows that wait for each other.
    """
    owned = sorted((row for row in rows if row.owned), key=lambda row: (not row.remover, row.type))
    types = dict.fromkeys(row.type for row in owned)
    of_all = {row.type for row in owned if EVERYTHING_ELSE in row.removed_before}
    waits: dict[str, set[str]] = {type_: of_all - {type_} if type_ not in of_all else set() for type_ in types}
    for row in owned:
        for later in row.removed_before:
            if later == EVERYTHING_ELSE:
                continue
            if later not in types:
                raise ValueError(f"{row.type} items are removed before {later} items, of which no account has any.")
            waits[later].add(row.type)
    left, order = dict(waits), []
    while left:
        ready = next((type_ for type_, first in left.items() if left.keys().isdisjoint(first)), None)
        if ready is None:
            raise ValueError(f"No items of {', '.join(left)} can be removed first: each waits for another.")
        order += [row for row in owned if row.type == ready]
        del left[ready]
    return tuple(order)


class _Name(str):
    """A name that stands for a value and keeps the value's format."""

    __slots__ = ()

    def __format__(self, spec: str) -> str:
        return f"{self[:-1]}:{spec}>" if spec else str(self)


def named(name: str) -> Any:
    """A placeholder for functions that take a text, a number or a time."""
    return _Name(f"<{name}>")


_NAMED = (
    (re.compile(r"\b0001-01\b"), "<Month>"),
    (re.compile(r"\b0001\b"), "<Year>"),
    (re.compile(r"\b[0-9a-f]{32,64}\b"), "<Hash>"),
    (re.compile(r"<\w+:\.2>"), "<FirstLetters>"),
)
"""Parts of keys that are hashed, calculated or cut, and the names that stand for them."""

_FORMAT = re.compile(r":\w+(?=>)|(?<=>)T00:00:00")


def _shown(form: str) -> str:
    return _FORMAT.sub("", form)


def at(
    forms: Key,
    kind: str = "",
    patterns: str = "",
    shown: Shown = Shown.WHOLE,
    *,
    index: Index | None = None,
    because: str = "",
    when: When | None = None,
) -> Place:
    """A place in the table or an index; ``forms`` may hold attributes of other indexes, too."""
    found = {attribute: form for attribute, form in forms.items() if attribute in key_names(index)}
    for part, name in _NAMED:
        found = {attribute: part.sub(name, form) for attribute, form in found.items()}
    return Place(found, index, kind, patterns, Shown.HIDDEN if because else shown, because, when)


DEAL_ID = named("DealId")
SAYS_DEAL, SAYS_USER = {"DealId": "<DealId>"}, {"Username": "<Username>"}
OF_DEAL = Partner(keys.deal(DEAL_ID))

SCRATCH = "Scratch item"
"""The name for items in scratch partitions, whatever their ``Type``."""
