"""Prices: decimal strings with two decimals, counted in hundredths, whatever their currency."""

from __future__ import annotations

WITHOUT_CENTS = frozenset(
    "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF".split()  # noqa: SIM905  # easier to read
)
"""Currencies without a smaller unit (ISO 4217): their prices are stored with two decimals, too, but shown with none."""


def cents(money: str) -> int:
    """The hundredths in a price: prices are stored with two decimals, so these need no rounding."""
    return int(money.replace(".", ""))


def money(cents: int) -> str:
    """Hundredths as a price with two decimals."""
    return f"{cents // 100}.{cents % 100:02d}"
