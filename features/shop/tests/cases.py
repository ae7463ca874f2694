"""The shop in tests of all features."""

from __future__ import annotations

from features.shop.rights import NO_TERMS

BOUNDS = {"orders_are_stuck": NO_TERMS.stuck}
ESSENTIAL = ("orders_are_stuck",)
