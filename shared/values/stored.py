"""How a field of a model is stored, said beside the field: one line has its name in Python and its name in the table.

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
    """The attribute that holds a field, and its ``kind``: the type of its values in Python.

    ``listed`` attributes are read for lists, ``copied`` ones are in copies too. ``personal`` ones identify a person:
    an export leaves them out. ``typed`` ones are typed by editors and shown as they are: in the API's answers, drafts,
    the log and the desk's form, which are made of them.
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
    """The metadata of a dataclass field that an attribute holds."""
    return {_STORED: Attribute(name, kind, listed, copied, personal, typed)}


def api_names(of: type) -> dict[str, str]:
    """The stored fields of a model by their names in the API: those of their attributes in camelCase."""
    declared: Any = of
    known = ((each.name, attribute_of(each)) for each in fields(declared))
    return {attribute.name[0].lower() + attribute.name[1:]: name for name, attribute in known if attribute}


def attribute_of(field: Field[object]) -> Attribute | None:
    """The attribute that holds a field, or None for one that no attribute holds alone."""
    found: Attribute | None = field.metadata.get(_STORED)
    return found
