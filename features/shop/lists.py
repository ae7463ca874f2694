"""The list of deals sold here."""

from __future__ import annotations

from features.shop.data import sold_here
from shared.hooks import DealList

LISTS = (
    DealList(
        path="/sold-here",
        read=sold_here.listed,
        summary="List deals sold on this site",
        template="shop/templates/sold-here.html",
        description="The deals that you can buy on this site, newest first.",
    ),
)
