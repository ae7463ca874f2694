"""How a field of a model is stored, said beside the field: one line has its name in Python and its name in the table.

@dataclass(frozen=True, slots=True)
class Deal:
    coupon_code: str | None = field(default=None, metadata=stored("CouponCode"))
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, dataclass

_STORED = "stored"


@dataclass(frozen=True, slots=True)
class Attribute:
    """The attribute that holds a field, and its ``kind``: the type of its values in Python.

    ``listed`` attributes are read for lists, ``copied`` ones are in copies too. ``personal`` ones tell who somebody is:
    an export leaves them out.
    """

    name: str
    kind: type
    listed: bool
    copied: bool
    personal: bool


def stored(
    name: str, kind: type = str, *, listed: bool = True, copied: bool = True, personal: bool = False
) -> Mapping[str, Attribute]:
    """The metadata of a dataclass field that an attribute holds."""
    return {_STORED: Attribute(name, kind, listed, copied, personal)}


def attribute_of(field: Field[object]) -> Attribute | None:
    """The attribute that holds a field, or None for one that no attribute holds alone."""
    found: Attribute | None = field.metadata.get(_STORED)
    return found
