"""Templates, and deals as they show them: prices in parts, times in words, variants as one card.

The language is Jinja's, rendered by minijinja (https://docs.rs/minijinja). Values are escaped, and a name without a
value is an error. Its errors print values, so they are never logged whole.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import cache
from html import escape
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from minijinja import Environment, Markup, load_from_path

from shared import features, hooks, settings
from shared.html import links
from shared.html.links import absolute, base, below, origin
from shared.models.catalog import CATEGORIES, Deal, Listed, Mark, Period, Status
from shared.values import kinds
from shared.values import money as amounts
from shared.values.links import LONGEST, LONGEST_OF_LEAD, likenesses, named, numbered, shown_host
from shared.values.links import picture as picture_at
from shared.values.naming import counted
from shared.values.times import to_iso

FOLDER = Path(__file__).resolve().parents[2] / "web" / "templates"

_NOT_XML = dict.fromkeys([*range(9), 11, 12, *range(14, 32), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF], "\ufffd")
"""Characters that XML doesn't allow (https://www.w3.org/TR/xml/#charsets). A pattern would take 8 ms to compile."""


def render(template: str, *, prefix: str | None = None, **values: Any) -> str:
    """Render a template. Its links have the site's prefix, or the given one."""
    return str(_environment(base() if prefix is None else prefix).render_template(template, **values))


@cache
def _environment(prefix: str) -> Environment:
    """The templates, read once in an execution environment; ``prefix`` is that of their links."""
    environment = Environment(
        loader=load_from_path([FOLDER, features.FOLDER]),
        undefined_behavior="strict",
        trim_blocks=True,
        lstrip_blocks=True,
        debug=False,
        auto_escape_callback=lambda name: "html" if name.endswith((".html", ".xml")) else False,
    )
    # Addresses are escaped here: the engine writes each slash as a character reference.
    environment.add_global("link", lambda path, **query: _markup(prefix + below(path, query)))
    environment.add_global("absolute", lambda path, **query: _markup(origin() + prefix + below(path, query)))
    environment.add_global("asset", lambda name: _markup(f"{prefix}/assets/{links.served_name(name)}"))
    environment.add_filter("url", _markup)
    environment.add_global("categories", dict(CATEGORIES))
    environment.add_global("currencies", currencies)
    environment.add_global("base", prefix)
    places = features.roles(hooks.Navigation)
    environment.add_global("in_pages", features.files("templates/in-pages.html"))
    rows = dict.fromkeys(row for each in places for row in each.TABS)
    menu = {row: [tab for each in places for tab in each.TABS.get(row, ())] for row in rows}
    environment.add_global("menu", menu)
    environment.add_global("explains", "".join(each.EXPLAINS for each in places))
    environment.add_global("feeds", features.merged(hooks.Navigation, lambda each: each.FEEDS))
    environment.add_global("edits", "".join(each.EDITS for each in places))
    return environment


def _markup(address: str) -> Markup:
    return Markup(escape(address))


def summary(deal: Deal) -> str:
    higher = list_price(deal)
    before = f", was {higher}" if higher else ""
    return f"{deal.brand_name}: {deal.title} for {money(deal.price, deal.currency)}{before}."[:300]


def xml_text(text: str) -> str:
    """A feed's text without characters that XML doesn't allow."""
    return text.translate(_NOT_XML)


Card = dict[str, Any]
K = TypeVar("K")

_MONTHS = (
    "January February March April May June July August September October November December".split()  # noqa: SIM905  # easier to read
)
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()  # noqa: SIM905  # easier to read
_ON_CARD = tuple(each.on_card for each in features.roles(hooks.Fields))
_IMAGES = tuple(each.image for each in features.roles(hooks.Fields))
_OVER = {Status.EXPIRED: "Ended", Status.WITHDRAWN: "Withdrawn"}

SOON = timedelta(days=2)
"""The time before an end at which cards say when it is."""

OF_ONE_BRAND = 3
"""The most consecutive cards of one brand among the newest deals, before a card that links to the rest."""

COLUMNS = (2, 3, 4, 6, 7, 8, 10)
"""The numbers of columns of cards, from phones to wide screens; the stylesheet has the widths."""

FRONT_COLUMNS = (1, 3, 4, 5, 6)
"""The same on the front page, which has another column beside the cards on wide screens."""

OLD = timedelta(days=30)
"""From this age on, a price that no editor has checked since is old."""

FULL_ROWS = 24
"""A number of cards whose last row is full, or has space for the link to the next page."""


money = amounts.text


def currencies(chosen: str) -> dict[str, str]:
    """A form's currencies, by code: the chosen one, those of the settings, then all others."""
    return {code: code for code in (chosen, *settings.CURRENCIES, *amounts.currencies())}


def list_price(deal: Deal) -> str | None:
    """A deal's list price as text, if the deal is at least one percent cheaper; else None."""
    return money(deal.list_price, deal.currency) if deal.list_price and deal.discount_percent else None


def usual(deal: Deal) -> list[str]:
    """The usual prices of a deal's product in the 60 days before it: the lowest and the highest, or one, or none.

    Whole ones are written without cents.
    """
    amounts_of = deal.verdict.usual if deal.verdict else ()
    texts = [money(amounts.of_units(units, deal.currency), deal.currency) for units in amounts_of]
    whole = all(text.endswith(".00") for text in texts)
    return list(dict.fromkeys(text.removesuffix(".00") if whole else text for text in texts))


def since_yesterday(deal: Deal, now: datetime) -> Card | None:
    """How an active deal's price has changed since yesterday: a sign, a word and an amount; None if it hasn't."""
    dearer = deal.dearer_than_yesterday(now) if deal.status(now) is Status.ACTIVE else 0
    if not dearer:
        return None
    return {
        "sign": "▲" if dearer > 0 else "▼",
        "word": "up" if dearer > 0 else "down",
        "amount": money(amounts.of_units(abs(dearer), deal.currency), deal.currency).removesuffix(".00"),
    }


def day(when: date, now: datetime | None = None) -> str:
    """A day in words: ``31 July``, or ``31 July 2025`` if ``now`` is in another year."""
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


def short_day(when: date, now: datetime) -> str:
    """A day: ``31 Jul``, or ``31 Jul 2027`` in another year."""
    return f"{when.day} {_MONTHS[when.month - 1][:3]}{_other_year(when, now)}"


def short_moment(when: datetime, now: datetime) -> str:
    """A time with its zone: ``31 Jul, 19:42 UTC``, or ``31 Jul 2027, 19:42 UTC`` in another year."""
    return f"{short_day(when, now)}, {clock(when)} UTC"


def image(deal: Deal, width: int) -> Card | None:
    """A deal's image on a tile: ``ours`` with its size, or, if the stage allows it, another host's at about a width.

    The other host learns who reads what, so this is a setting of the stage: ``pictures_of_others``.
    """
    for image_of in _IMAGES:
        if shown := image_of(deal):
            return {"ours": True, **shown}
    address = picture_at(deal.image, width) if os.environ.get("PICTURES_OF_OTHERS") == "true" else None
    return {"ours": False, "src": address, "files": {}, "width": None, "height": None} if address else None


def image_address(deal: Deal) -> str | None:
    """The address of a deal's image for readers outside the site, such as search engines."""
    shown = image(deal, 720)
    if shown is None:
        return None
    return absolute(shown["src"]) if shown["ours"] else str(shown["src"])


def card(deal: Deal, now: datetime, *, variants: int = 1, width: int = 360, dated: bool = True) -> Card:
    """A deal's card; ``variants`` is the number of deals that the card stands for.

    A card under the heading of its day isn't ``dated``: it shows the time instead of the day.
    """
    whole, cents = amounts.parts(deal.price, deal.currency)
    name, kind = named(deal.title, deal.brand_name, LONGEST_OF_LEAD if width > 360 else LONGEST)
    status = deal.status(now)
    ends_at = deal.ends_at if status is Status.ACTIVE else None
    shown: Card = {
        "number": deal.page_id,
        "title": deal.title,
        "variant": deal.variant,
        "name": name,
        "kind": " · ".join(
            filter(None, [deal.variant or kind, f"{variants} colours and sizes" if variants > 1 else ""])
        ),
        "brand": deal.brand,
        "brand_name": deal.brand_name,
        "look": kinds.look(deal.title, deal.deal_id),
        "category": deal.category,
        "category_name": CATEGORIES.get(deal.category, deal.category),
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
        "on": short_day(deal.created_at, now) if dated else clock(deal.created_at),
        "when": day(deal.created_at, now) if dated else clock(deal.created_at),
        "ends": to_iso(ends_at) if ends_at else None,
        "ends_at": short_moment(ends_at, now) if ends_at else None,
        "ends_on": short_day(ends_at, now) if ends_at else None,
        "soon": bool(ends_at and ends_at - now < SOON),
        "over": _OVER.get(status),
        "marks": (),
        "old": status is Status.ACTIVE and now - deal.changed_at >= OLD,
        "usual": usual(deal) if status is Status.ACTIVE else [],
        "low": deal.is_lowest and status is Status.ACTIVE,
        "remark": None,
        "unseen": [],
    }
    for on_card in _ON_CARD:
        shown |= on_card(deal, active=status is Status.ACTIVE)
    return shown


def head(deal: Deal, now: datetime) -> Card:
    """The values for the head of a deal's page and of its preview: its card, and more."""
    return {
        **card(deal, now, width=720),
        "deal": deal,
        "shop": shown_host(deal.link),
        "status": deal.status(now).value,
        "since_yesterday": since_yesterday(deal, now),
        "posted": moment(deal.created_at),
        "end": moment(deal.ends_at) if deal.ends_at else None,
    }


def grouped(deals: Iterable[Deal]) -> list[list[Deal]]:
    """Group the deals of one product at one price, with its colours and sizes, each at its first deal's position."""
    groups: list[list[Deal]] = []
    for number, deal in _numbered(deals):
        if number == len(groups):
            groups.append([])
        groups[number].append(deal)
    return groups


def first_groups(deals: Sequence[Deal], most: int, under: Period | None = Period.DAY) -> int:
    """The number of deals, from the first, that make ``most`` whole cards.

    They stand ``under`` their days, their months or nothing. A product of two days is two cards under days.
    """
    cards, heading, brand, in_a_row = 0, None, "", 0
    seen: set[int] = set()
    for number, (group, deal) in enumerate(_numbered(deals, under)):
        if under and (begun := under.start_of(deal.created_at)) != heading:
            heading, brand = begun, ""
        if group in seen:
            continue
        seen.add(group)
        in_a_row = in_a_row + 1 if deal.brand == brand else 1
        brand = deal.brand
        # The first card beyond those of one brand is the one that leads to the rest.
        cards += under is not Period.DAY or in_a_row <= OF_ONE_BRAND + 1
        if cards > most:
            return number
    return len(deals)


def cards(
    deals: Iterable[Deal], now: datetime, *, most: int | None = None, alike: Mapping[str, int] | None = None
) -> list[Card]:
    """At most ``most`` cards, one for each group; ``alike`` has, by id, the number of deals that one stands for."""
    number = alike or {}
    return [
        card(group[0], now, variants=sum(number.get(deal.deal_id, 1) for deal in group))
        for group in grouped(deals)[:most]
    ]


def cards_of_each(deals: Sequence[Deal], now: datetime, *, first: int = 360) -> list[Card]:
    """A card for each deal; ``first`` is the width of the first card's picture."""
    return [card(deal, now, width=360 if n else first) for n, deal in enumerate(deals)]


def cards_of_list(found: Sequence[Listed], now: datetime) -> list[Card]:
    """The cards of a feature's list, one for each product, with the marks of its first deal in the list."""
    marks = {each.deal.deal_id: each.marks for each in found}
    groups = grouped(each.deal for each in found)
    return [card(group[0], now, variants=len(group)) | {"marks": marks[group[0].deal_id]} for group in groups]


def leave_out(shown: Sequence[Card], *, lead: bool = False) -> None:
    """Have a selection of cards fill its rows: each card notes the numbers of columns at which it is ``unseen``.

    A ``lead`` is the first of them on the front page, and has a row of its own.
    """
    for columns in FRONT_COLUMNS if lead else COLUMNS:
        full = (len(shown) - lead) // columns * columns
        for each in shown[full + lead :] if full else ():
            each["unseen"].append(columns)


def by_day(
    deals: Iterable[Deal],
    now: datetime,
    counts: Mapping[str, int],
    marks: Mapping[str, tuple[Mark, ...]] = MappingProxyType({}),
) -> list[dict[str, Any]]:
    """Deals by day, newest first, each day with its heading and its number of deals (``counts``, by date).

    Of many cards of one brand in a row it has the first ones, and one that leads to the brand's others.
    """
    sections = []
    for when, of_day in _by(lambda deal: deal.created_at.date(), deals).items():
        name = long_day(when) + _other_year(when, now)
        count = counts.get(when.isoformat(), 0)
        remark = counted(count, "deal") if count else ""
        sections.append({"name": name, "remark": remark, "cards": _of_a_day(of_day, now, marks)})
    return sections


def _of_a_day(deals: Iterable[Deal], now: datetime, marks: Mapping[str, tuple[Mark, ...]]) -> list[Card]:
    shown: list[Card] = []
    for _, row in groupby(grouped(deals), key=lambda group: group[0].brand):
        groups = list(row)
        few = OF_ONE_BRAND if len(groups) > OF_ONE_BRAND + 1 else len(groups)
        for group in groups[:few]:
            made = card(group[0], now, variants=len(group), dated=False)
            shown.append(made | {"marks": marks.get(group[0].deal_id, made["marks"])})
        if rest := [deal for group in groups[few:] for deal in group]:
            shown.append(_rest(rest))
    return shown


def _rest(deals: Sequence[Deal]) -> Card:
    """The card that leads to more deals of a brand: their number, and their lowest price if they share a currency."""
    first = deals[0]
    least = min(deals, key=lambda deal: deal.units) if len({deal.currency for deal in deals}) == 1 else None
    priced = {"price": least.price, "spoken": money(least.price, least.currency)} if least else {"price": None}
    return {"more": len(deals), "brand": first.brand, "brand_name": first.brand_name, **priced}


def by_month(deals: Iterable[Deal], now: datetime) -> list[dict[str, Any]]:
    """Deals by month, newest first, for a brand's page."""
    months = _by(lambda deal: month(deal.created_at), deals)
    return [{"name": name, "remark": "", "cards": cards(found, now)} for name, found in months.items()]


def _by(key: Callable[[Deal], K], deals: Iterable[Deal]) -> dict[K, list[Deal]]:
    groups: dict[K, list[Deal]] = {}
    for deal in deals:
        groups.setdefault(key(deal), []).append(deal)
    return groups


def _numbered(deals: Iterable[Deal], under: Period | None = None) -> Iterator[tuple[int, Deal]]:
    """Deals with the numbers of their cards; cards don't cross a period that deals are ``under``."""
    found = list(deals)
    shown = (
        (
            likenesses(deal.link, deal.title, deal.brand),
            f"{deal.price} {deal.currency} {under and under.start_of(deal.created_at)}",
        )
        for deal in found
    )
    return zip(numbered(shown), found, strict=True)


def _other_year(when: date, now: datetime | None) -> str:
    """A space and a day's year, if it isn't the year of ``now``; else an empty text."""
    return f" {when.year}" if now is not None and when.year != now.year else ""
