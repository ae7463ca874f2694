"""Amounts that a stage adds to orders: for sending them, and as tax."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal

from shared.values import money

Amounts = Mapping[str, str]
"""An amount in each of some currencies."""


@dataclass(frozen=True, slots=True)
class Bill:
    """The sums of an order, by currency: the goods, sending them, tax, and all together."""

    goods: Amounts
    shipping: Amounts
    tax: Amounts
    totals: Amounts


@dataclass(frozen=True, slots=True)
class Charges:
    """``shipping`` is what sending an order costs in its currency, ``tax`` the percents on goods and shipping."""

    shipping: Amounts = field(default_factory=dict)
    tax: Decimal = Decimal(0)

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Charges:
        """Those of an environment's ``SHIPPING``, such as ``USD=4.90 EUR=5.00``, and ``TAX``; none where neither is."""
        shipping = dict(each.split("=") for each in environment.get("SHIPPING", "").split())
        return cls(shipping, Decimal(environment.get("TAX", "0")))

    def bill(self, items: Iterable[tuple[str, str, int]]) -> Bill:
        """The bill of some items, each a price, its currency and the pieces. What comes to nothing is left out."""
        goods: dict[str, int] = {}
        for price, currency, pieces in items:
            goods[currency] = goods.get(currency, 0) + money.units(price, currency) * pieces
        shipping = {currency: money.units(self.shipping.get(currency, "0.00"), currency) for currency in goods}
        tax = {currency: self._tax(goods[currency] + shipping[currency], currency) for currency in goods}
        totals = {currency: goods[currency] + shipping[currency] + tax[currency] for currency in goods}
        return Bill(_amounts(goods), _amounts(shipping), _amounts(tax), _amounts(totals, also_none=True))

    def _tax(self, units: int, currency: str) -> int:
        """The tax on an amount, rounded half up to what the currency has."""
        smallest: int = money.units("1", currency) // 10 ** money.decimals(currency)
        return int((self.tax * units / 100 / smallest).quantize(Decimal(1), ROUND_HALF_UP)) * smallest


NO_CHARGES = Charges()


def _amounts(sums: Mapping[str, int], *, also_none: bool = False) -> dict[str, str]:
    return {currency: money.of_units(units, currency) for currency, units in sorted(sums.items()) if units or also_none}
