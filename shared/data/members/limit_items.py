"""Limits as an item has them, of a watch or of an alert."""

from __future__ import annotations

from shared.dynamodb.attributes import Item
from shared.dynamodb.entities import Entity
from shared.models.alerts import Limits, Pace

_LIMITS = Entity(Limits)

ATTRIBUTES = _LIMITS.names
"""The attributes of an item that hold its limits."""


def to_item(limits: Limits) -> Item:
    """The attributes that hold some limits: none for those that bound nothing."""
    written = _LIMITS.write(limits)
    return {name: value for name, value in written.items() if (name, value) != ("Pace", Pace.AT_ONCE)}


from_item = _LIMITS.read
"""The limits that an item holds; an old one has none."""
