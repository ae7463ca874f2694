"""The number of pieces in the cart, in the header of a member's pages."""

from __future__ import annotations

from features.shop.data import carts

COUNTS = {"cart": carts.pieces}
