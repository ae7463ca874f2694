"""A product's prices over time, for its deals' pages: a table, and a line with gaps while no offer is open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from itertools import zip_longest
from operator import attrgetter
from typing import Any

from shared.data.catalog.deal_pages import DealPage
from shared.html import views
from shared.models.catalog import Deal
from shared.values import money

LEFT, RIGHT, TOP, BOTTOM = 10, 590, 10, 130
"""The box of the line, in units of the drawing. The tag of today's price is to the right of it."""

WORDY = 90
"""The width from which a gap has words in it."""

_BY_PRICE = attrgetter("units")


def shown(_: object, found: DealPage, now: datetime) -> Mapping[str, Any]:
    """The page's values."""
    return {"history": history(found.deal, found.offers, now)}


def history(deal: Deal, earlier: Sequence[Deal], now: datetime) -> dict[str, Any] | None:
    """A product's prices: a row for each day with a new offer, and a line. Withdrawn prices are left out."""
    if deal.withdrawn_at is not None:
        return None
    others = {each.deal_id: each for each in earlier if not each.is_retracted and each.currency == deal.currency}
    offers = list({**others, deal.deal_id: deal}.values())
    lowest: dict[date, Deal] = {}
    for each in offers:
        day = each.created_at.date()
        lowest[day] = min(lowest.get(day, each), each, key=_BY_PRICE)
    if len(lowest) < 2:
        return None
    days = sorted(lowest)
    return {
        "remark": f"{len(days)} prices since {views.day(days[0])} {days[0].year}",
        "rows": [
            {
                "day": f"{views.day(day)} {day.year}",
                "price": views.money(lowest[day].price, deal.currency),
                "off": lowest[day].discount_percent,
            }
            for day in reversed(days)
        ],
        "line": _line(offers, [lowest[day] for day in days], deal.verdict.usual if deal.verdict else (), now),
        "zero": views.money("0", deal.currency).removesuffix(".00"),
        "least": views.money(min(offers, key=_BY_PRICE).price, deal.currency),
        "most": views.money(max(offers, key=_BY_PRICE).price, deal.currency),
    }


def _line(offers: Sequence[Deal], shown: Sequence[Deal], usual: Sequence[int], now: datetime) -> dict[str, Any]:
    """A step line of the cheapest open offer's price until now, in parts where there are gaps.

    The axis begins at zero, so a price that falls by a tenth falls by a tenth of its height. ``points`` are the
    ``shown`` offers, ``high`` is the price at the top, ``today`` that of the offer that is open now and its place.
    """
    first = min(each.created_at for each in offers)
    currency = offers[0].currency
    high = max(1, *usual, *(each.units for each in offers))

    def across(when: datetime) -> int:
        return round(LEFT + (RIGHT - LEFT) * ((when - first) / max(now - first, now.resolution)))

    def height(units: int) -> int:
        return round(BOTTOM - (BOTTOM - TOP) * units / high)

    parts: list[str] = []
    gaps: list[int] = []
    units: int | None = None
    for since, until, cheapest in _cheapest(offers, now):
        start, end = across(since), across(until)
        if cheapest is None:
            gaps += [(start + end) // 2] if end - start >= WORDY else []
        elif units is None:
            parts.append(f"{start} {height(cheapest)}H{end}")
        else:
            parts[-1] += f"V{height(cheapest)}H{end}"
        units = cheapest
    return {
        "path": "".join(f"M{part}" for part in parts),
        "fill": "".join(f"M{part.partition(' ')[0]} {BOTTOM}V{part.partition(' ')[2]}V{BOTTOM}" for part in parts),
        "gaps": gaps,
        "points": [(across(each.created_at), height(each.units)) for each in shown],
        "usual": [height(amount) for amount in usual],
        "high": money.of_units(high, currency),
        "today": None if units is None else (height(units), views.money(money.of_units(units, currency), currency)),
    }


def _cheapest(offers: Sequence[Deal], now: datetime) -> Iterator[tuple[datetime, datetime, int | None]]:
    """The times until now with the units of the cheapest open offer; None where none is open."""
    ends = {each.deal_id: each.over_at or now for each in offers}
    opened = {each.created_at for each in offers}
    changes = sorted(when for when in {*opened, *ends.values()} if min(opened) <= when < now)
    prices = [
        min((each.units for each in offers if each.created_at <= when < ends[each.deal_id]), default=None)
        for when in changes
    ]
    steps = [n for n, price in enumerate(prices) if n == 0 or price != prices[n - 1]]
    for n, after in zip_longest(steps, steps[1:]):
        yield changes[n], now if after is None else changes[after], prices[n]
