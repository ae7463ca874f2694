"""The fields of a deal's card, for the services that answer with the front page in HTML."""

from __future__ import annotations

from datetime import datetime
from typing import Any


def card(deal: Any) -> dict[str, Any]:
    """The card of a row that any of the ORMs has read."""
    whole, _, cents = deal.price.partition(".")
    created = datetime.fromisoformat(deal.createdAt)
    ends = datetime.fromisoformat(deal.expiresAt) if deal.expiresAt else None
    return {
        "number": deal.dealNumber,
        "title": deal.title,
        "brand": deal.brandSlug,
        "brand_name": deal.brandName,
        "category": deal.category,
        "image": deal.image,
        "price": deal.price,
        "whole": f"${int(whole):,}",
        "cents": cents,
        "list_price": f"${float(deal.listPrice):,.2f}" if deal.listPrice and deal.discountPercent else None,
        "off": deal.discountPercent,
        "hot": deal.hot,
        "at": deal.createdAt,
        "clock": f"{created:%H:%M}",
        "day": f"{created:%A}, {created.day} {created:%B}",
        "ends": deal.expiresAt,
        "ends_day": f"{ends.day} {ends:%B}" if ends else None,
    }
