"""The stored attribute of a model's field: one line has the field's name in Python and in the table.

@dataclass(frozen=True, slots=True)
class Deal:
    source_id: str | None = field(default=None, metadata=stored("SourceId"))
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, dataclass, fields
from typing import Any

_STORED = "stored"


@dataclass(frozen=True, slots=True)
class Attribute:
    """The attribute that holds a field; ``kind`` is the type of its values in Python.

    ``listed`` attributes are read for lists, ``copied`` ones are also in copies. ``personal`` ones identify a person,
    and exports omit them. ``typed`` ones are typed by editors: the API's answers, drafts, the log and the desk's form
    are made from them.
    """

    name: str
    kind: type
    listed: bool
    copied: bool
    personal: bool
    typed: bool


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


def api_names(of: type) -> dict[str, str]:
    """A model's stored fields by their names in the API, which are the attributes' in camelCase."""
    declared: Any = of
    known = ((each.name, attribute_of(each)) for each in fields(declared))
    return {attribute.name[0].lower() + attribute.name[1:]: name for name, attribute in known if attribute}


def attribute_of(field: Field[object]) -> Attribute | None:
    """The attribute of a field, or None if no attribute holds it alone."""
    found: Attribute | None = field.metadata.get(_STORED)
    return found
