"""What the shop adds to deals (how much is left), to accounts (open orders) and to notifications."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from shared.hooks import News
from shared.values.stored import Attribute

if TYPE_CHECKING:
    from shared.models.catalog import Deal


class StockLevel(StrEnum):
    """How much is left of a deal that the site sells itself, as readers see it."""

    AVAILABLE = "available"
    LOW = "low"
    SOLD_OUT = "sold-out"


STORED = (Attribute("Stock", StockLevel),)


def level_of(deal: Deal) -> StockLevel | None:
    """How much is left of a deal; None if the site doesn't sell it."""
    return deal.own(StockLevel)


IN_ANSWERS: Mapping[str, Callable[[Deal], str | None]] = {"stock": level_of}
"""The field of a deal's JSON: a level is its own text."""

_REMARKS = {StockLevel.AVAILABLE: "Sold here", StockLevel.LOW: "Few left here"}


def on_card(deal: Deal, *, active: bool) -> Mapping[str, Any]:
    """The shop's values of a deal's card."""
    level = level_of(deal) if active else None
    return {"stock": level and level.value, "remark": level and _REMARKS.get(level)}


NEWS = (
    News(
        thing="order",
        kinds=("placed", "sent", "delivered", "cancelled", "corrected"),
        page="/shop/orders",
        why="Your order",
    ),
)
