"""One page of a list, of whatever is listed, and what of a list of deals is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

from shared.values.money import units

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some items of a list, in its order, and the cursor of the next page, or None at the end."""

    items: tuple[T, ...]
    next: str | None


class Sort(StrEnum):
    """By what a brand's or a category's deals are listed."""

    NEWEST = "newest"
    CHEAPEST = "cheapest"
    DISCOUNT = "discount"


@dataclass(frozen=True, slots=True)
class Selection:
    """The deals of a list that are asked for, and their order; ``brand`` is a slug, for some of a category's.

    ``least`` and ``most`` are prices in ``currency``, both included; ``discount`` is the least that is off the list
    price, in percent; ``lowest`` are the deals whose price is the lowest of its product's in 60 days. Prices of two
    currencies cannot be compared: with a currency, deals in another one are left out, and a list that ``is_priced`` is
    shown in one.
    """

    sort: Sort = Sort.NEWEST
    least: str | None = None
    most: str | None = None
    currency: str | None = None
    brand: str | None = None
    discount: int | None = None
    lowest: bool = False

    @property
    def name(self) -> str:
        """All of it in one text: the name under which a list's cursors are its own."""
        more = [*([] if self.discount is None else [self.discount]), *(["lowest"] if self.lowest else [])]
        return "/".join(map(str, (self.sort, self.least, self.most, self.currency, self.brand, *more)))

    def takes(self, price: str, currency: str | None) -> bool:
        """Whether a price is in the currency and between the prices that are asked for."""
        least, most = self.bounds
        return self.currency in (None, currency) and least <= units(price, self.currency or "") <= most

    def admits(self, discount: int | None, *, lowest: bool) -> bool:
        """Whether a discount is as big as is asked for, and a price is the ``lowest`` where that is."""
        return (discount or 0) >= (self.discount or 0) and (lowest or not self.lowest)

    @property
    def bounds(self) -> tuple[int, int]:
        """The lowest and the highest price in units of the currency."""
        return units(self.least or "0", self.currency or ""), units(self.most or "9999999999", self.currency or "")

    @property
    def is_priced(self) -> bool:
        """Whether prices decide what is listed, or in what order."""
        return self.sort is not Sort.NEWEST or self.least is not None or self.most is not None

    @property
    def is_all(self) -> bool:
        """Whether this is the whole list as it is: everything, newest first."""
        return self == Selection()
