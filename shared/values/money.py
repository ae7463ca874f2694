"""Prices: decimal strings with two decimals, counted in hundredths, whatever their currency."""

from __future__ import annotations

import re

WITHOUT_CENTS = frozenset(
    "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF".split()  # noqa: SIM905  # easier to read
)
"""Currencies without a smaller unit (ISO 4217): their prices are stored with two decimals, too, but shown with none."""


AMOUNT = re.compile(r"[0-9]{1,12}\.[0-9]{2}")
"""An amount as it is stored."""


def amount(stored: str) -> str:
    """An amount as it was stored. Raises ValueError, TypeError where it is none."""
    if not AMOUNT.fullmatch(stored):
        raise ValueError(f"{stored} is no amount")
    return stored


def cents(money: str) -> int:
    """The hundredths in a price: prices are stored with two decimals, so these need no rounding."""
    return int(money.replace(".", ""))


def money(cents: int) -> str:
    """Hundredths as a price with two decimals."""
    return f"{cents // 100}.{cents % 100:02d}"
