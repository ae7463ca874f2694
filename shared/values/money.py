"""Prices: decimal strings with two decimals, counted in hundredths."""

from __future__ import annotations


def cents(money: str) -> int:
    """The hundredths in a price: prices are stored with two decimals, so these need no rounding."""
    return int(money.replace(".", ""))


def money(cents: int) -> str:
    """Hundredths as a price with two decimals."""
    return f"{cents // 100}.{cents % 100:02d}"
