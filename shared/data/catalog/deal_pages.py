"""A deal and what its page shows with it: features' values, other offers of its product, and its brand's deals.

Three round trips: first the deal's number, whose item also names product and brand; then the deal and its neighbours,
all at once; then cheaper deals of the category and the brand's at this price, which need the price. If an editor has
changed the deal's brand or address since it was numbered, the neighbours are first read again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from functools import partial
from itertools import accumulate
from typing import Any, NamedTuple

from shared import features, hooks, settings
from shared.data.catalog import deals, feed_counts, feeds, offers, sorting
from shared.dynamodb.attributes import Item
from shared.dynamodb.table import Table
from shared.models.catalog import BRAND, CATEGORY, Deal, Selection, Sort, Status, Topic, feed_of
from shared.values import identifiers, kinds, links, money

CHEAPER = 24
"""The nearest cheaper deals of a category to read: about two read units."""

AT_PRICE = 30
"""Deals of a brand at one price to read, for the colours and sizes on a deal's card: half a read unit for most."""


class DealPage(NamedTuple):
    """A deal; the newest offers of its product and variant (with itself and withdrawn ones); related deals.

    ``asked`` is what features have read with the deal (``beside_deal``).

    ``variants`` are active offers of the product, and of its colours and sizes among the brand's deals: those below,
    and those at its price, as on its card. ``of_brand`` are other active deals of the brand, of this month, the last
    one and the deal's own, or else of the brand page's first months. Both are newest first. ``cheaper`` are
    active deals of other brands and the same kind that cost a little less; none for a withdrawn deal.
    """

    deal: Deal
    offers: tuple[Deal, ...]
    variants: tuple[Deal, ...]
    of_brand: tuple[Deal, ...]
    cheaper: tuple[Deal, ...] = ()
    asked: tuple[Any, ...] = ()


def read(table: Table, id_or_number: str, now: datetime) -> DealPage:
    """Read a deal by its id or number, and what its page shows with it. Raises NoSuchDeal.

    A GetItem (none by id); then one for the deal, what features ask, a Query of the product, one of the brand's counts
    and one for each month; then one of the category and one of the brand by price.
    """
    place = deals.place_of(table, id_or_number)
    own: list[Callable[[], Any]] = [
        partial(deals.get, table, place.deal_id),
        *(partial(of.ask, table, place.deal_id) for of in features.roles(hooks.DealPage)),
    ]
    beside = _beside(table, place, now) if place.product and place.brand else []
    answers = table.gather(own + beside)
    (deal, *asked), rest = answers[: len(own)], answers[len(own) :]
    actual = deals.place(deal)
    if not rest or actual != place:
        rest = table.gather(_beside(table, actual, now))
    found, books, *months = rest
    of_brand = [each for month in months for each in month]
    cheaper, at_price = table.gather([partial(of, table, deal, now) for of in (_cheaper, _at_price)])
    variants, _ = _beside_it(deal, [*found, *of_brand, *at_price], now)
    _, others = _beside_it(deal, [*found, *of_brand], now)
    if not others:
        _, others = _beside_it(deal, _longer_ago(table, deal, books, now), now)
    alike = tuple(each for each in found if each.is_alike(deal))
    return DealPage(deal, alike, variants, others, cheaper, tuple(asked))


def below(deal: Deal) -> Selection:
    """The filter for deals of a list that cost less than a deal, cheapest first."""
    return Selection(Sort.CHEAPEST, most=money.of_units(max(deal.units - 1, 0), deal.currency), currency=deal.currency)


def _cheaper(table: Table, deal: Deal, now: datetime) -> tuple[Deal, ...]:
    """Deals of other brands and of the same kind of thing that cost a little less, the nearest price first. One Query.

    Without a kind in its title, a deal has the nearest ones of its category.
    """
    if deal.withdrawn_at is not None or not deal.units:
        return ()
    found = sorting.nearest_below(table, Topic(CATEGORY, deal.category), below(deal), limit=CHEAPER, now=now)
    kind = kinds.kind(deal.title)
    return tuple(each for each in found if each.brand != deal.brand and kind in (None, kinds.kind(each.title)))


def _at_price(table: Table, deal: Deal, now: datetime) -> tuple[Deal, ...]:
    """The active deals of a deal's brand at its price, with its colours and sizes. One Query."""
    at = Selection(Sort.CHEAPEST, least=deal.price, most=deal.price, currency=deal.currency)
    return sorting.cheapest(table, Topic(BRAND, deal.brand), at, limit=AT_PRICE, now=now, cursor=None).items


def _longer_ago(table: Table, deal: Deal, books: Sequence[Item], now: datetime) -> list[Deal]:
    """The newest deals of the brand, from the months that its page begins with. One round trip, or none."""
    feed = feed_of(Topic(BRAND, deal.brand))
    counted = feed_counts.counted(feed, books, until=None)
    others = [period for period in counted if period not in _months(deal.deal_id, now)]
    newer = accumulate((counted[period] for period in others), initial=0)
    months = [
        period for period, deals_before in zip(others, newer, strict=False) if deals_before < settings.READ_FOR_CARDS
    ]
    return feeds.of_periods(table, feed, months, most=settings.READ_FOR_CARDS) if months else []


def _beside_it(deal: Deal, among: Iterable[Deal], now: datetime) -> tuple[tuple[Deal, ...], tuple[Deal, ...]]:
    """The active deals except this one, newest first: its variants, and the others."""
    newest = sorted({each.deal_id: each for each in among}.values(), key=lambda each: each.deal_id, reverse=True)
    parts: tuple[list[Deal], list[Deal]] = ([], [])
    own = set(links.likenesses(deal.link, deal.title, deal.brand))
    for each in newest:
        if each.status(now) is Status.ACTIVE and each.deal_id != deal.deal_id:
            parts[own.isdisjoint(links.likenesses(each.link, each.title, each.brand))].append(each)
    return tuple(parts[0]), tuple(parts[1])


def _beside(table: Table, place: deals.Place, now: datetime) -> list[Callable[[], Any]]:
    feed = feed_of(Topic(BRAND, place.brand))
    return [
        partial(offers.offers_of, table, place.product),
        feed_counts.requests(table, feed, most=settings.READ_FOR_CARDS, until=None)[0],
        *(
            partial(feeds.of_periods, table, feed, [month], most=settings.READ_FOR_CARDS // 2)
            for month in _months(place.deal_id, now)
        ),
    ]


def _months(deal_id: str, now: datetime) -> list[str]:
    """This month, the last one and a deal's own, newest first, as in a brand's feed."""
    times = (now, now.replace(day=1) - timedelta(days=1), identifiers.time_of(deal_id))
    return sorted({feed_of(Topic(BRAND, "")).period.start_of(when) for when in times}, reverse=True)
