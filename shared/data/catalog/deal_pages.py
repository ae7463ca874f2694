"""A deal with what its page shows beside it: its score, its product's other offers, its brand's deals of its time.

Three round trips: the deal's number, which also says its product and its brand; then the deal and what is beside it,
all at once; then cheaper deals of its category, because only now its price is known. Where an editor has changed a
deal's brand or address since it was numbered, what is beside it is asked for again first, by what the deal itself says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from itertools import accumulate
from typing import Any

from shared import settings
from shared.data.catalog import deals, feed_counts, feeds, offers, sorting, votes
from shared.data.catalog.votes import Scored
from shared.dynamodb.attributes import Item
from shared.dynamodb.table import Table
from shared.models.catalog import BRAND, CATEGORY, Deal, Selection, Sort, Status, Topic, feed_of
from shared.values import identifiers, links, money

CHEAPER = 12
"""Cheaper deals of a category that are read beside a deal: about one read unit."""


@dataclass(frozen=True, slots=True)
class DealPage:
    """A deal and its score; the newest offers of its product and variant, itself and withdrawn ones included; others of
    its brand.

    ``variants`` are active offers of the product, and of its colours and sizes among the brand's deals. ``of_brand``
    are other active deals of the brand: of this month, the month before and the deal's own. Where these have none, they
    are those that the brand's page begins with. All are the newest first. ``cheaper`` are the cheapest active deals of
    the category that cost less, of other brands; none beside a deal that was withdrawn.
    """

    scored: Scored
    offers: tuple[Deal, ...]
    variants: tuple[Deal, ...]
    of_brand: tuple[Deal, ...]
    cheaper: tuple[Deal, ...] = ()


def read(table: Table, id_or_number: str, now: datetime) -> DealPage:
    """One deal by its id or its number, and what is beside it. Raises NoSuchDeal.

    A GetItem (none by id); then two, of the deal and its score, a Query of the product, and of the brand one of its
    counts and one for each month; then one of the category by price.
    """
    place = deals.place_of(table, id_or_number)
    own: list[Callable[[], Any]] = [
        partial(deals.get, table, place.deal_id),
        partial(votes.score_of, table, place.deal_id),
    ]
    beside = _beside(table, place, now) if place.product and place.brand else []
    deal, score, *rest = table.gather(own + beside)
    actual = deals.place(deal)
    if not rest or actual != place:
        rest = table.gather(_beside(table, actual, now))
    found, books, *months = rest
    if len(offers.places(deal.link)) > 1 and all(each.deal_id != deal.deal_id for each in found):
        found = offers.offers(table, deal.link)  # 1.0.0 filed the deal
    of_brand = [each for month in months for each in month]
    variants, others = _beside_it(deal, [*found, *of_brand], now)
    if not others:
        _, others = _beside_it(deal, _longer_ago(table, deal, books, now), now)
    alike = tuple(each for each in found if each.is_alike(deal))
    return DealPage(Scored(deal, score), alike, variants, others, _cheaper(table, deal, now))


def below(deal: Deal) -> Selection:
    """The deals of a list that cost less than a deal, the cheapest first."""
    return Selection(Sort.CHEAPEST, most=money.of_units(max(deal.units - 1, 0), deal.currency), currency=deal.currency)


def _cheaper(table: Table, deal: Deal, now: datetime) -> tuple[Deal, ...]:
    """The cheapest deals of a deal's category that cost less than it does, of other brands. A Query."""
    if deal.withdrawn_at is not None or not deal.units:
        return ()
    page = sorting.cheapest(table, Topic(CATEGORY, deal.category), below(deal), limit=CHEAPER, now=now, cursor=None)
    return tuple(each for each in page.items if each.brand != deal.brand)


def _longer_ago(table: Table, deal: Deal, books: Sequence[Item], now: datetime) -> list[Deal]:
    """The newest deals of a deal's brand, of as many months as its page begins with: a round trip if any."""
    feed = feed_of(Topic(BRAND, deal.brand))
    counted = feed_counts.counted(feed, books, until=None)
    others = [period for period in counted if period not in _months(deal.deal_id, now)]
    newer = accumulate((counted[period] for period in others), initial=0)
    months = [
        period for period, deals_before in zip(others, newer, strict=False) if deals_before < settings.READ_FOR_CARDS
    ]
    return feeds.of_periods(table, feed, months, most=settings.READ_FOR_CARDS) if months else []


def _beside_it(deal: Deal, among: Iterable[Deal], now: datetime) -> tuple[tuple[Deal, ...], tuple[Deal, ...]]:
    """The active ones of some deals but one, newest first: its variants, and all others."""
    newest = sorted({each.deal_id: each for each in among}.values(), key=lambda each: each.deal_id, reverse=True)
    parts: tuple[list[Deal], list[Deal]] = ([], [])
    own = set(links.likenesses(deal.link, deal.title))
    for each in newest:
        if each.status(now) is Status.ACTIVE and each.deal_id != deal.deal_id:
            parts[own.isdisjoint(links.likenesses(each.link, each.title))].append(each)
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
    """This month, the one before and a deal's own, the newest first, as a brand's feed is divided."""
    times = (now, now.replace(day=1) - timedelta(days=1), identifiers.time_of(deal_id))
    return sorted({feed_of(Topic(BRAND, "")).period.start_of(when) for when in times}, reverse=True)
