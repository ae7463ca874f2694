"""What search engines read of a deal."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from shared.data.catalog.deal_pages import DealPage
from shared.html import views
from shared.html.links import absolute
from shared.models.catalog import CATEGORIES, Deal, Status


def shown(_asked: None, found: DealPage, now: datetime) -> dict[str, Any]:
    """The page's values."""
    return {"document": _json_in_html(_as_product(found.deal, now))}


def _as_product(deal: Deal, now: datetime) -> dict[str, Any]:
    """A deal as structured data for search engines (https://schema.org/Product)."""
    offer: dict[str, Any] = {
        "@type": "Offer",
        "url": absolute(f"/deals/{deal.page_id}"),
        "price": deal.price,
        "priceCurrency": deal.currency,
        "availability": f"https://schema.org/{'InStock' if deal.status(now) is Status.ACTIVE else 'Discontinued'}",
    }
    if deal.ends_at:
        offer["priceValidUntil"] = deal.ends_at.date().isoformat()
    return {
        "@context": "https://schema.org",
        "@type": "Product",
        "name": deal.title,
        "brand": {"@type": "Brand", "name": deal.brand_name},
        "category": CATEGORIES.get(deal.category, deal.category),
        **({"image": image} if (image := views.image_address(deal)) else {}),
        "offers": offer,
    }


def _json_in_html(document: Mapping[str, Any]) -> str:
    """JSON for a script element: nothing in it ends the element."""
    text = json.dumps(document, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
