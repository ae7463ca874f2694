"""How much is left of a deal that the site sells itself: what the shop adds to deals, their JSON and their cards."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from enum import StrEnum
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from shared.values.stored import stored

if TYPE_CHECKING:
    from shared.models.catalog import Deal


class StockLevel(StrEnum):
    """How much is left of a deal that the site sells itself, as readers see it."""

    AVAILABLE = "available"
    LOW = "low"
    SOLD_OUT = "sold-out"


class Fields:
    """The shop's field of a deal."""

    stock: StockLevel | None = field(default=None, metadata=stored("Stock", StockLevel))


level_of: Callable[[Deal], StockLevel | None] = attrgetter("stock")
"""How much is left of a deal; None where the site does not sell it."""


def at_level(deal: Deal, level: StockLevel) -> Deal:
    """The deal with another level."""
    changed: dict[str, Any] = {"stock": level}
    return replace(deal, **changed)


IN_ANSWERS: Mapping[str, Callable[[Deal], str | None]] = {"stock": level_of}
"""The field of a deal's JSON: a level is its own text."""

_REMARKS = {StockLevel.AVAILABLE: "Sold here", StockLevel.LOW: "Few left here"}


def on_card(deal: Deal, *, active: bool) -> Mapping[str, Any]:
    """What the card of a deal has in addition."""
    level = level_of(deal) if active else None
    return {"stock": level and level.value, "remark": level and _REMARKS.get(level)}
