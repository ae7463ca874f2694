"""The settings of the shop: what is added to orders, and how their rush and their delay are handled."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from infra.bounds import Bound
from infra.options import Option
from shared.values import money

_PERCENTS = re.compile(r"[0-9]{1,2}(\.[0-9]{1,3})?")


STUCK = Bound(3 * 24 * 3600, minutes=60)
"""Seconds since the oldest open order was placed. Three days are a weekend and a day to send it: an order that waits
longer was overlooked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shop(Option):
    """What a stage adds to orders, and how it spreads open ones; ``docs/deploying.md`` explains each setting.

    ``stuck`` is the bound of the alarm on orders that wait. A stage without this setting adds nothing.
    """

    shipping: Mapping[str, str] = field(default_factory=dict)
    tax: str = "0"
    open_order_shards: int = 1
    stuck: Bound = STUCK

    def __post_init__(self) -> None:
        if not all(
            name in money.currencies() and money.AMOUNT.fullmatch(text) and not money.fault(text, name)
            for name, text in self.shipping.items()
        ):
            raise ValueError('shipping must have an amount with two decimals for each currency: {"USD": "4.90"}.')
        if not _PERCENTS.fullmatch(self.tax):
            raise ValueError("tax must be a number of percents, such as 8.1.")
        if self.open_order_shards < 1:
            raise ValueError("open_order_shards must be 1 or more.")

    @property
    def variables(self) -> dict[str, str]:
        """The environment of a function that makes orders."""
        return {
            **({"SHIPPING": " ".join(map("=".join, self.shipping.items()))} if self.shipping else {}),
            **({"TAX": self.tax} if float(self.tax) else {}),
            **({"OPEN_ORDER_SHARDS": str(self.open_order_shards)} if self.open_order_shards > 1 else {}),
        }


NO_TERMS = Shop()
