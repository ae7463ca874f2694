"""A deal with what its page shows beside it: its product's other offers, and its brand's deals of about its time.

Two round trips: the deal's number, which also says its product and its brand; then the deal and what is beside it, all
at once. Where an editor has changed a deal's brand or address since it was numbered, what is beside it is asked for
again, by what the deal itself says, in a third.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from shared import settings
from shared.data.catalog import deal_numbers, deals, feed_counts, feeds, offers
from shared.dynamodb.attributes import Item
from shared.dynamodb.table import Table
from shared.models.catalog import BRAND, Deal, Topic, feed_of
from shared.values import ksuids


@dataclass(frozen=True, slots=True)
class DealPage:
    """A deal; the newest offers of its product, itself and withdrawn ones included; and deals of its brand.

    Those are of this month, the month before and the deal's own, the newest first.
    """

    deal: Deal
    offers: tuple[Deal, ...]
    of_brand: tuple[Deal, ...]


def read(table: Table, id_or_number: str, now: datetime) -> DealPage:
    """One deal by its id or its number, and what is beside it. Raises NoSuchDeal.

    A GetItem (none by id); then a GetItem, a Query of the product, and one of the brand for each month.
    """
    place = deal_numbers.place_of(table, id_or_number)
    own: list[Callable[[], Any]] = [partial(deals.get, table, place.deal_id)]
    beside = _beside(table, place, now) if place.product and place.brand else []
    deal, *told = table.gather(own + beside)
    actual = deal_numbers.place(deal)
    if not told or actual != place:
        told = table.gather(_beside(table, actual, now))
    offers, *months = told
    return DealPage(deal, tuple(offers), tuple(each for month in months for each in month))



def _beside(table: Table, place: deal_numbers.Place, now: datetime) -> list[Callable[[], Any]]:
    feed = feed_of(Topic(BRAND, place.brand))
    times = (now, now.replace(day=1) - timedelta(days=1), ksuids.time_of(place.deal_id))
    months = sorted({feed.period.start_of(when) for when in times}, reverse=True)
    most = settings.READ_FOR_CARDS // 2
    return [
        partial(offers.offers_of, table, place.product),
        *(partial(feeds.of_periods, table, feed, [month], most=most) for month in months),
    ]
