"""A row of the types of items (``entities.py`` has the rows), and how forms of keys are written.

Keys are made by the functions that make the real ones, of names such as ``<DealId>`` in the place of values: of an
attribute of the item, of a part of its key, or of what ``invariants.py`` derives.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from shared.data import keys
from shared.dynamodb.schema import PARTITION_KEY, SORT_KEY, TTL_ATTRIBUTE, Index, Key, key_names


class Shown(Enum):
    """The readers of the items of a partition of the table or of an index."""

    OPEN = "everyone: the catalog"
    WHOLE = "who opens the browser of the table"
    PARTLY = "the same, without the attributes that the row hides"
    HIDDEN = "nobody"


class Exported(Enum):
    """The part of a type's items that ``btd export`` writes without ``--personal``."""

    NOTHING = "nothing: a new type is left out until its row says more"
    DESCRIBED = "the attributes of its models that are not personal"
    WHOLE = "all of it, except for attributes that its model calls personal: such an item names no person"


When = tuple[str, Container[Any]]
"""An attribute, and its values for which something holds; None means that it is absent."""


@dataclass(frozen=True, slots=True)
class Place:
    """The form of items' keys in the table (``index`` None) or in an index, and what a partition there is.

    ``patterns`` are the README's numbers of the access patterns that read it; ``because`` is why it is hidden.
    Only items for which ``when`` holds stand there.
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
        """Partition key and sort key as the chart shows them; no sort key is an empty text."""
        partition, sort = key_names(self.index)
        return _shown(self.forms[partition]), _shown(self.forms.get(sort or "", ""))


@dataclass(frozen=True, slots=True)
class Partner:
    """An item that must exist for another one, under a key made of the other's values, when ``when`` holds.

    ``says`` are attributes that it must have. Where there are any, the missing item can be written, with ``new`` ones
    also, which are not compared, of the values that they name; but not one that ``is_lost`` with what only it knew.
    """

    key: Key
    says: Mapping[str, str] = field(default_factory=dict)
    new: Mapping[str, str] = field(default_factory=dict)
    when: When | None = None
    is_lost: bool = False


@dataclass(frozen=True, slots=True)
class Entity:
    """One type of items in one form of key.

    ``needs`` names the attributes that each item has, in addition to those of ``says``, which repeat its key. Of items
    that are partly shown, ``may`` names the others that are drawn, and ``hides`` those that are not, each with the
    reason. ``places`` are its places in indexes; a ``computed`` item follows as a whole from others
    (``invariants.py``). ``owned``: it belongs to the account that ``Username`` names, and is removed with it
    (``removal.py``): all that is in its partition of the table or of an index, which must name that account, or what
    the function ``remover`` takes (``module:name``), where others count such items or point to them. A ``claimed``
    item must be the partner of some other.
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
    remover: str = ""
    claimed: bool = False
    computed: bool = False
    expires: bool = False
    exported: Exported = Exported.NOTHING

    @property
    def key(self) -> Key:
        """The form of its primary key, as the chart shows it."""
        return dict(zip((PARTITION_KEY, SORT_KEY), self.own.keys, strict=True))

    @property
    def required(self) -> tuple[str, ...]:
        """The attributes that each item has in addition to its keys."""
        return (*self.needs.split(), *self.says, *((TTL_ATTRIBUTE,) if self.expires else ()))

    def at(self, index: Index | None) -> list[tuple[str, str]]:
        """The forms of its partition key and sort key in the table or an index, as the chart shows them."""
        return [place.keys for place in (self.own, *self.places) if place.index == index]


class _Name(str):
    """A name in the place of a value: the format that the value would have stays in it."""

    __slots__ = ()

    def __format__(self, spec: str) -> str:
        return f"{self[:-1]}:{spec}>" if spec else str(self)


def named(name: str) -> Any:
    """The name of a value, for functions that take a text, a number or a time."""
    return _Name(f"<{name}>")


_NAMED = (
    (re.compile(r"\b0001-01\b"), "<Month>"),
    (re.compile(r"\b0001\b"), "<Year>"),
    (re.compile(r"\b[0-9a-f]{32,64}\b"), "<Hash>"),
    (re.compile(r"\b0999999999\b"), "<Rank>"),
    (re.compile(r"<\w+:\.2>"), "<FirstLetters>"),
)
"""Parts of keys that are hashed, calculated or cut off, and the names that stand for them."""

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
    """A place in the table or an index, of attributes that may include those of other indexes."""
    found = {attribute: form for attribute, form in forms.items() if attribute in key_names(index)}
    for part, name in _NAMED:
        found = {attribute: part.sub(name, form) for attribute, form in found.items()}
    return Place(found, index, kind, patterns, Shown.HIDDEN if because else shown, because, when)


DEAL_ID = named("DealId")
SAYS_DEAL, SAYS_USER = {"DealId": "<DealId>"}, {"Username": "<Username>"}
OF_DEAL = Partner(keys.deal(DEAL_ID))

SCRATCH = "Scratch item"
"""What items of partitions for trial requests are called, whatever their ``Type``."""
