"""Answers that are the same for everyone, and the lists of deals on them: their orders, prices and parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from http import HTTPStatus
from typing import Any

from shared import settings
from shared.data.catalog import feed_counts, feeds, page_cache
from shared.html import fragments, pages, views
from shared.html.fragments import path_of
from shared.html.links import link
from shared.html.pages import Answer, Request
from shared.http import requests
from shared.models.catalog import CATEGORIES, CATEGORY, CountedTopic, Deal, Feed, Selection, Sort, Topic, feed_of
from shared.runtime.environment import table
from shared.values.money import sign


def public_page(template: str, request: Request, **values: Any) -> Answer:
    """A page that is the same for everyone. One that is not to be indexed names no other in its place."""
    if cursor_of(request) or "q" in request.query or values.get("robots"):
        values["canonical"] = None
    return pages.page(template, cache=pages.PUBLIC, here=request.path, notice=request.query.get("notice"), **values)


def cursor_of(request: Request) -> str | None:
    """Where the page begins that is asked for; an empty cursor is none."""
    return request.query.get("cursor") or None


def selection_of(request: Request) -> Selection:
    """The deals of a list that a page is asked for; a field that a form sends empty is none. Raises BadRequest."""
    return requests.selection({name: text.strip() or None for name, text in request.query.items()})


def feed_addresses(path: str, **query: str) -> dict[str, str]:
    """The addresses of a list's feed, by format."""
    return {"atom": link(f"{path}.atom", **query), "json": link(f"{path}.json", **query)}


def for_machines(text: str, media_type: str) -> Answer:
    """A text that changes slowly and is read by machines."""
    return Answer(text, media_type=media_type, cache=pages.FOR_A_DAY)


def moved(path: str, status: int = HTTPStatus.MOVED_PERMANENTLY) -> Answer:
    """An answer that leads to where something is now."""
    return Answer("", status=status, cache=pages.FOR_A_DAY, headers={"Location": link(path)})


def latest_of(feed: Feed, now: datetime, held: feeds.PeriodCounts | None = None) -> str:
    """The newest page of a feed, made from the indexes."""
    # Of as many days as the page can show.
    counts = held[0] if held else feed_counts.counts(table(), feed, most=settings.READ_FOR_CARDS)
    page = feeds.read(table(), feed, limit=settings.READ_FOR_CARDS, now=now, held=held)
    shown = page_cache.first(page, feed, views.first_groups(page.items, fragments.GROUPS, feed.period))
    return fragments.latest(shown, feed, now, counts, shown.next)


def older_of(feed: Feed, now: datetime, cursor: str) -> str:
    """A page of a feed further back, of as many cards as the first. Raises InvalidCursor, NoSuchTopic."""
    page = feeds.read(table(), feed, limit=settings.READ_FOR_CARDS, now=now, cursor=cursor)
    page = page_cache.first(page, feed, views.first_groups(page.items, fragments.GROUPS, feed.period))
    return fragments.latest(page, feed, now, {}, page.next, first=False)


MOST = 6
"""Brands or categories that a list leads to: those that its page has most of."""

ORDERS = {Sort.NEWEST: "Newest", Sort.CHEAPEST: "Cheapest", Sort.DISCOUNT: "Discount"}
MORE = {Sort.NEWEST: "Older deals", Sort.CHEAPEST: "Higher prices", Sort.DISCOUNT: "Smaller discounts"}

LOWEST = "Lowest in 60 days"

_FIRST = {
    Sort.NEWEST: "The newest first",
    Sort.CHEAPEST: "The cheapest first",
    Sort.DISCOUNT: "The biggest discounts first",
}

Choices = list[dict[str, Any]]
"""Links, one of which may be the current page's."""


def above(
    path: str,
    selection: Selection,
    *,
    query: str | None = None,
    among: Choices | None = None,
    currencies: Iterable[str] = (),
    opened: Selection | None = None,
) -> dict[str, Any]:
    """The values of ``narrowing`` in ``macros.html`` for a list at a path, of a search where there is a ``query``.

    A link of ``marks`` narrows it to 60-day lows. ``among`` are links to parts of the list; ``currencies`` are others
    in which it has prices. ``opened`` is the selection with the currency that it is shown in.
    """
    currency, asked = (opened or selection).currency, {"q": query, **query_of(selection)}
    known = sorted({*currencies, *([currency] if currency else [])}, key=_by_settings)
    return {
        "action": link(path),
        "kept": {name: value for name, value in asked.items() if value is not None and name not in ("from", "to")},
        "from": asked["from"] or "",
        "to": asked["to"] or "",
        "unit": sign(currency) if currency else "",
        "orders": [
            _choice(name, path, {**asked, **_sorted(sort)}, current=sort is selection.sort)
            for sort, name in ORDERS.items()
        ],
        "marks": [] if selection.lowest else [_choice(LOWEST, path, {**asked, "lowest": "true"})],
        "among": among or [],
        "currencies": [
            _choice(each, path, {**asked, "currency": each}, current=each == currency)
            for each in known
            if len(known) > 1
        ],
    }


def brands_in(category: Topic, selection: Selection, brand: CountedTopic | None, shown: Iterable[Deal]) -> Choices:
    """As ``brands_among`` does, of a category's page."""
    return brands_among(path_of(feed_of(category)), selection, shown, brand.name if brand else None)


def brands_among(
    path: str, selection: Selection, shown: Iterable[Deal], name: str | None = None, query: str | None = None
) -> Choices:
    """Links to the brands that a page has most of; and from the one that is selected, of that name, back to all."""
    asked = {"q": query, **query_of(selection)}
    most = Counter((deal.brand, deal.brand_name) for deal in shown).most_common(MOST)
    if selection.brand is None:
        return [_choice(each, path, {**asked, "brand": slug}) for (slug, each), _ in most if len(most) > 1]
    name = name or (most[0][0][1] if most else selection.brand)
    return [_choice("All brands", path, {**asked, "brand": None}), _choice(name, path, asked, current=True)]


def categories_of(brand: Topic, selection: Selection, _: CountedTopic | None, shown: Iterable[Deal]) -> Choices:
    """Links from a brand's page to its deals in the categories that the page has most of."""
    most = Counter(deal.category for deal in shown).most_common(MOST)
    asked = {**query_of(selection), "brand": brand.slug}
    return [_choice(CATEGORIES[slug], path_of(feed_of(Topic(CATEGORY, slug))), asked) for slug, _ in most]


def query_of(selection: Selection) -> dict[str, str | None]:
    """The query that a selection is asked for by; what goes without saying is None."""
    return {
        **_sorted(selection.sort),
        "from": selection.least and selection.least.removesuffix(".00"),
        "to": selection.most and selection.most.removesuffix(".00"),
        "currency": selection.currency,
        "off": str(selection.discount) if selection.discount else None,
        "lowest": "true" if selection.lowest else None,
        "brand": selection.brand,
    }


def sentence(selection: Selection, brand: CountedTopic | None = None) -> str:
    """The order of a list and what of it is shown, in words: ``The cheapest first, from $10 to $80``."""
    bounds = (("from", selection.least), ("to", selection.most))
    within = [f"{word} {views.money(price, selection.currency or '')}" for word, price in bounds if price is not None]
    said = [
        _FIRST[selection.sort],
        *([" ".join(within)] if within else []),
        *([_off(selection.discount)] if selection.discount else []),
        *([LOWEST.lower()] if selection.lowest else []),
        *([f"of {brand.name}"] if brand else []),
    ]
    return ", ".join(said)


def chips(path: str, selection: Selection, query: str | None = None) -> list[tuple[str, str]]:
    """The limits of a list beside its prices, in words, each with the address of the list without it."""
    asked = {"q": query, **query_of(selection)}
    return [
        *([(_off(selection.discount), link(path, **{**asked, "off": None}))] if selection.discount else []),
        *([(LOWEST, link(path, **{**asked, "lowest": None}))] if selection.lowest else []),
    ]


def _off(percent: int) -> str:
    return f"{percent}% off or more"


def _sorted(sort: Sort) -> dict[str, str | None]:
    return {"sort": None if sort is Sort.NEWEST else sort.value}


def _by_settings(currency: str) -> tuple[bool, int | str]:
    """The order of currencies: those of the settings first."""
    known = currency in settings.CURRENCIES
    return not known, settings.CURRENCIES.index(currency) if known else currency


def _choice(name: str, path: str, asked: dict[str, str | None], *, current: bool = False) -> dict[str, Any]:
    return {"name": name, "address": link(path, **asked), "current": current}
