"""A deal as templates show it: its price in parts, its times in words, and deals of one product as one card."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any

from shared.html.links import absolute
from shared.models.catalog import CATEGORIES, Deal, Status
from shared.values import links
from shared.values.counts import counted
from shared.values.money import WITHOUT_CENTS
from shared.values.times import to_iso

Card = dict[str, Any]

SYMBOLS = {"USD": "$", "GBP": "£", "EUR": "€", "JPY": "¥"}

_MONTHS = (
    "January February March April May June July August September October November December".split()  # noqa: SIM905  # easier to read
)
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()  # noqa: SIM905  # easier to read
_OVER = {Status.EXPIRED: "Ended", Status.WITHDRAWN: "Withdrawn"}

_MINUS = "\N{MINUS SIGN}"

SOON = timedelta(days=2)
"""How near an end is said to be soon."""


def money(amount: str, currency: str) -> str:
    """An amount as it is read: ``$1,299.99``, ``CHF 20.00``, ``¥1,200``."""
    whole, cents = _parts(amount, currency)
    return f"{whole}.{cents}" if cents else whole


def list_price(deal: Deal) -> str | None:
    """The list price of a deal as it is read, where the deal is cheaper by at least one percent."""
    return money(deal.list_price, deal.currency) if deal.list_price and deal.discount_percent else None


def score(of: int | None) -> str | None:
    """A score as it is read: ``+12``, ``0``, and below that with a minus sign; None where it is not shown."""
    if not of:
        return None if of is None else "0"
    return f"+{of:,}" if of > 0 else f"{_MINUS}{-of:,}"


def day(when: date, now: datetime | None = None) -> str:
    """A day in words: ``31 July``; beside a ``now`` in another year, with its year: ``31 July 2025``."""
    return f"{when.day} {_MONTHS[when.month - 1]}{_other_year(when, now)}"


def long_day(when: date) -> str:
    """A day with its name: ``Friday 31 July``."""
    return f"{_DAYS[when.weekday()]} {day(when)}"


def month(when: date) -> str:
    """A month with its year: ``July 2026``."""
    return f"{_MONTHS[when.month - 1]} {when.year}"


def clock(when: datetime) -> str:
    """The time of a day in UTC: ``19:42``."""
    return f"{when:%H:%M}"


def moment(when: datetime) -> str:
    """A time with its zone: ``31 July 2026, 19:42 UTC``."""
    return f"{day(when)} {when.year}, {clock(when)} UTC"


def short_moment(when: datetime, now: datetime) -> str:
    """A time with its zone: ``31 Jul, 19:42 UTC``, and in another year ``31 Jul 2027, 19:42 UTC``."""
    return f"{when.day} {_MONTHS[when.month - 1][:3]}{_other_year(when, now)}, {clock(when)} UTC"


def number(deal: Deal) -> int | str:
    """The last part of a deal page's address: its number, or its id where it has none yet."""
    return deal.number or deal.deal_id


def picture(deal: Deal) -> Card | None:
    """A deal's own picture as tiles show it: its files' paths with their widths, its size and its colour."""
    if deal.picture is None:
        return None
    shown = deal.picture
    files = {f"/{name}": width for name, width in shown.files.items()}
    return {"files": files, "src": [*files][-1], "width": shown.width, "height": shown.height, "colour": shown.colour}


def image(deal: Deal, width: int) -> str | None:
    """The address of a deal's picture at another host, where it has none of ours and the stage lets browsers ask there.

    That host would learn who reads what: the setting is ``pictures_of_others``.
    """
    shown = deal.picture is None and os.environ.get("PICTURES_OF_OTHERS") == "true"
    return links.picture(deal.image, width) if shown else None


def picture_address(deal: Deal) -> str | None:
    """The address of a deal's picture for readers outside the site, such as search engines."""
    shown = picture(deal)
    return absolute(shown["src"]) if shown else image(deal, 720)


def card(deal: Deal, now: datetime, *, variants: int = 1, width: int = 360, dated: bool = True) -> Card:
    """A deal as a card shows it; ``variants`` is how many deals of its product it stands for.

    Under the heading of its day a card is not ``dated``: it shows the time of that day, elsewhere the day.
    """
    whole, cents = _parts(deal.price, deal.currency)
    status = deal.status(now)
    ending = deal.ends_at is not None and status is Status.ACTIVE
    return {
        "number": number(deal),
        "title": deal.title,
        "variant": deal.variant,
        "brand": deal.brand,
        "brand_name": deal.brand_name,
        "category": deal.category,
        "category_name": CATEGORIES.get(deal.category, deal.category),
        "picture": picture(deal),
        "image": image(deal, width),
        "price": deal.price,
        "currency": deal.currency,
        "spoken": money(deal.price, deal.currency),
        "whole": whole,
        "cents": cents,
        "list_price": list_price(deal),
        "off": deal.discount_percent,
        "hot": deal.hot_at is not None and status is Status.ACTIVE,
        "at": to_iso(deal.created_at),
        "clock": clock(deal.created_at),
        "day": day(deal.created_at, now),
        "when": day(deal.created_at, now) if dated else clock(deal.created_at),
        "ends": to_iso(deal.ends_at) if ending and deal.ends_at else None,
        "ends_day": day(deal.ends_at, now) if ending and deal.ends_at else None,
        "ends_at": short_moment(deal.ends_at, now) if ending and deal.ends_at else None,
        "soon": bool(ending and deal.ends_at and deal.ends_at - now < SOON),
        "over": _OVER.get(status),
        "score": None,
        "variants": variants,
    }


def head(deal: Deal, now: datetime) -> Card:
    """A deal as the head of its page and of its preview show it: its card, itself, and more."""
    return {
        **card(deal, now, width=720),
        "deal": deal,
        "shop": links.host(deal.link),
        "status": deal.status(now).value,
        "posted": moment(deal.created_at),
        "end": moment(deal.ends_at) if deal.ends_at else None,
        "stock": deal.stock.value if deal.stock else None,
    }


def grouped(deals: Iterable[Deal]) -> list[list[Deal]]:
    """Deals of one product at one price together, each group where its first one stood."""
    groups: dict[tuple[str, str, str], list[Deal]] = {}
    for deal in deals:
        groups.setdefault((links.product(deal.link), deal.price, deal.currency), []).append(deal)
    return list(groups.values())


def first_groups(deals: Sequence[Deal], most: int, *, under_days: bool = True) -> int:
    """How many of some deals, in their order, are ``most`` cards: no card is cut in two.

    Where deals stand ``under_days``, those of one product on two days are two cards.
    """
    seen: set[tuple[date | None, str, str, str]] = set()
    for number, deal in enumerate(deals):
        when = deal.created_at.date() if under_days else None
        seen.add((when, links.product(deal.link), deal.price, deal.currency))
        if len(seen) > most:
            return number
    return len(deals)


def cards(deals: Iterable[Deal], now: datetime, *, most: int | None = None, dated: bool = True) -> list[Card]:
    """Cards of some deals, ``most`` at most, one for each group."""
    return [card(group[0], now, variants=len(group), dated=dated) for group in grouped(deals)[:most]]


def by_day(deals: Iterable[Deal], now: datetime, counts: Mapping[str, int]) -> list[dict[str, Any]]:
    """Deals under their days, newest first, each with its heading and how many deals it has (``counts``, by date)."""
    days: dict[date, list[Deal]] = {}
    for deal in deals:
        days.setdefault(deal.created_at.date(), []).append(deal)
    sections = []
    for when, of_day in days.items():
        name = long_day(when) + _other_year(when, now)
        count = counts.get(when.isoformat(), 0)
        sections.append(
            {"name": name, "remark": counted(count, "deal") if count else "", "cards": cards(of_day, now, dated=False)}
        )
    return sections


def by_month(deals: Iterable[Deal], now: datetime) -> list[dict[str, Any]]:
    """Deals under their months, newest first: as a brand's page shows them."""
    months: dict[date, list[Deal]] = {}
    for deal in deals:
        months.setdefault(deal.created_at.date().replace(day=1), []).append(deal)
    return [{"name": month(when), "remark": "", "cards": cards(found, now)} for when, found in months.items()]


def _other_year(when: date, now: datetime | None) -> str:
    """The year of a day behind a space, where it is another one than that of ``now``."""
    return f" {when.year}" if now is not None and when.year != now.year else ""


def _parts(amount: str, currency: str) -> tuple[str, str]:
    """The part of a price before its point, with the symbol, and the part behind it.

    The second part is empty for a whole amount of a currency without cents.
    """
    whole, _, cents = amount.partition(".")
    shown = "" if currency in WITHOUT_CENTS and not cents.strip("0") else cents or "00"
    return f"{SYMBOLS.get(currency, currency + ' ')}{int(whole):,}", shown
