"""The stored attribute of a model's field: one line has the field's name in Python and in the table.

@dataclass(frozen=True, slots=True)
class Deal:
    source_id: str | None = field(default=None, metadata=stored("SourceId"))

Features keep values of their own in such an item, each under an attribute that its type declares (``Extended``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, fields
from typing import Any, NamedTuple, TypeVar

_STORED = "stored"

V = TypeVar("V")


class Attribute(NamedTuple):
    """The attribute that holds a field; ``kind`` is the type of its values in Python.

    ``listed`` attributes are read for lists, ``copied`` ones are also in copies. ``personal`` ones identify a person,
    and exports omit them. ``typed`` ones are typed by editors: the API's answers, drafts, the log and forms
    are made from them.
    """

    name: str
    kind: type
    listed: bool = True
    copied: bool = True
    personal: bool = False
    typed: bool = False


def stored(
    name: str,
    kind: type = str,
    *,
    listed: bool = True,
    copied: bool = True,
    personal: bool = False,
    typed: bool = False,
) -> Mapping[str, Attribute]:
    """The metadata of a dataclass field: the attribute that stores it."""
    return {_STORED: Attribute(name, kind, listed, copied, personal, typed)}


class Extended:
    """A model whose item also holds values of features. ``more`` has them by their types."""

    __slots__ = ()

    more: Mapping[type, object]

    def own(self, kind: type[V]) -> V | None:
        """The value of a feature's type, or None if the item has none."""
        value = self.more.get(kind)
        return value if isinstance(value, kind) else None


def api_names(of: type) -> dict[str, str]:
    """A model's stored fields by their names in the API, which are the attributes' in camelCase."""
    declared: Any = of
    known = ((each.name, attribute_of(each)) for each in fields(declared))
    return {attribute.name[0].lower() + attribute.name[1:]: name for name, attribute in known if attribute}


def names_of(declared: Any) -> list[str]:
    """The attributes that something declares: itself one, or a model with stored fields."""
    if isinstance(declared, Attribute):
        return [declared.name]
    return [attribute.name for field in fields(declared) if (attribute := attribute_of(field))]


def attribute_of(field: Field[object]) -> Attribute | None:
    """The attribute of a field, or None if no attribute holds it alone."""
    found: Attribute | None = field.metadata.get(_STORED)
    return found
