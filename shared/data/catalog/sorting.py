"""A brand's or category's deals by price and by discount, and those in a price range.

A listed deal's offer (``offers.py``) is in three indexes, so that one Query gives each of these lists:

    cheapest of a category             GSI3    forward, between two prices
    cheapest of a brand                GSI2    the same
    biggest discounts of a category    GSI1    backward

Filters that these keys can't express apply after the read: a brand's deals by category, a category's discounts by
currency or price, small discounts, and prices that aren't the lowest of 60 days. Such a page reads on until it is full.
``SIFTED`` and ``TRIPS`` bound its cost, so it is short where hardly any deal fits. A brand's discounts are sorted here
from all its prices: another index key would cost each new deal a write, and save only some reads of brands' pages.

Ended deals stay among the offers until the sweep and the stream remove them, and are filtered, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, NamedTuple

from shared import settings
from shared.data import keys
from shared.data.catalog import feeds, lows, topics
from shared.data.catalog.deals import CARDS, from_item
from shared.dynamodb import damage
from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import GSI1, GSI2, GSI3, Index
from shared.dynamodb.table import Table
from shared.errors import BadRequest, InvalidCursor, NoSuchTopic
from shared.models.catalog import (
    ALL_DEALS,
    BRAND,
    CATEGORIES,
    CATEGORY,
    CountedTopic,
    Deal,
    Feed,
    Page,
    Period,
    Selection,
    Sort,
    Status,
    Topic,
    TopicKind,
    feed_of,
)
from shared.values import identifiers, money

SIFTED = 100
"""Deals to read in a request if few of them fit: about 10 read units."""

FEW = 12
"""Deals of a day or month from which a list's currencies are taken."""

TRIPS = 3
"""Requests for one page, one after the other, until it is full."""

SIFTS = 2
"""Times that a page of the newest deals reads ``SIFTED``, the second only if fewer than half a page fit of the first:
they may be of many days, and each takes a request."""

Position = tuple[int, str]
"""A deal's place in a list: its price or discount, and its id."""


class Sorted(NamedTuple):
    """A page of a topic's deals; its selected brand, if any; the selection with the displayed currency; the list's
    other currencies."""

    topic: CountedTopic
    brand: CountedTopic | None
    selection: Selection
    currencies: tuple[str, ...]
    page: Page[Deal]


def read(
    table: Table,
    of: Topic,
    selection: Selection,
    *,
    limit: int,
    now: datetime,
    cursor: str | None = None,
    leads_on: bool = False,
) -> Sorted:
    """A page of a topic's active deals, ``limit`` at most, and if it ``leads_on`` the currencies to offer.

    One round trip. A list without a chosen currency uses that of most of its newest deals or, if these are old, one
    that it has prices in. If that isn't the first one in the settings, the list is read again; one by price or discount
    keeps the first one where it fills more of a page. Raises NoSuchTopic, InvalidCursor, BadRequest for an unknown
    brand.
    """
    shown = opened(selection, (), partial(_scope, of), cursor)
    is_guess = shown.currency != selection.currency and (cursor is None or selection.sort is Sort.NEWEST)
    others = [each for each in settings.CURRENCIES if leads_on and shown.currency not in (None, each)]
    newest = _newest(table, of, selection, now) if is_guess or others else []
    page_of = partial(_BY[selection.sort], table, of, limit=limit, now=now, cursor=cursor)
    asked: list[Callable[[], Any]] = [
        partial(topics.get, table, of),
        partial(_brand, table, selection.brand),
        partial(page_of, shown),
        *newest,
        *(partial(_first_offer, table, of, selection, each) for each in others),
    ]
    topic, brand, page, *found = table.gather(asked)
    also = [each for each, first in zip(others, found[len(newest) :], strict=True) if first]
    also += [shown.currency] if page.items and shown.currency else []
    among = _currencies(of, selection, found[: len(newest)]) or also[-1:] if newest else []
    if newest and not among:
        last = feeds.read(table, feed_of(_narrowest(of, selection)), limit=FEW, now=now).items
        among = _currencies(of, selection, [last])
    right = opened(selection, among, partial(_scope, of), None) if is_guess else shown
    if right != shown:
        first, page = page, page_of(right)
        if selection.sort is not Sort.NEWEST and len(page.items) < len(first.items):
            right, page = shown, first  # an import of a few deals in another currency doesn't hide the others
    known = dict.fromkeys([*among, *also])
    return Sorted(topic, brand, right, tuple(each for each in known if each != right.currency), page)


def _newest(table: Table, of: Topic, selection: Selection, now: datetime) -> list[Callable[[], list[Deal]]]:
    """Requests for some deals of each of the last three days or months of a list's feed."""
    feed = feed_of(_narrowest(of, selection))
    step = timedelta(days=1 if feed.period is Period.DAY else 28)
    periods = sorted({feed.period.start_of(now - step * back) for back in range(3)})
    return [partial(feeds.of_periods, table, feed, [period], most=FEW) for period in periods]


def _currencies(of: Topic, selection: Selection, newest: Sequence[Sequence[Deal]]) -> list[str]:
    """The currency of each of some of a list's newest deals."""
    fitting = Selection(brand=selection.brand)
    return [deal.currency for deals in newest for deal in deals if _fits(deal, of, fitting)]


def _first_offer(table: Table, of: Topic, selection: Selection, currency: str) -> list[Item]:
    """A list's cheapest offer in a currency, if it has one."""
    return _query(table, of, Selection(Sort.CHEAPEST, currency=currency, brand=selection.brand), None, 1)


def opened(
    selection: Selection, among: Iterable[str | None], scope: Callable[[Selection], str], cursor: str | None
) -> Selection:
    """A selection with its displayed currency, if it needs one and has none.

    That is its cursor's, else that of most deals in ``among``, else the first in the settings.
    """
    if selection.currency is not None or not selection.is_priced:
        return selection
    for each in money.currencies() if cursor is not None else ():
        with suppress(InvalidCursor):
            identifiers.read_ranked_cursor(scope(replace(selection, currency=each)), cursor or "")
            return replace(selection, currency=each)
    most = Counter(filter(None, among)).most_common(1)
    return replace(selection, currency=most[0][0] if most else settings.CURRENCIES[0])


def opened_in_settings(selection: Selection) -> Selection:
    """A selection with the settings' first currency if it needs one; price limits without an order sort by price."""
    if not selection.is_priced:
        return selection
    shown = replace(selection, currency=selection.currency or settings.CURRENCIES[0])
    return replace(shown, sort=Sort.CHEAPEST) if shown.sort is Sort.NEWEST else shown


class OfAll(NamedTuple):
    """Deals of all categories, the next cursor, and how many of the newest were examined if there are more
    (``looked``)."""

    page: Page[Deal]
    looked: int | None


def of_all(table: Table, selection: Selection, *, limit: int, now: datetime, cursor: str | None = None) -> OfAll:
    """A page of the selected deals of all categories, ``limit`` at most.

    Of the newest, a page examines ``SIFTED`` at a time: about 10 read units. By price or discount, each page takes a
    Query of each category, all at once, of the first ``limit`` deals after the cursor: about 3 read units. 60-day lows
    have a list of their own. Raises InvalidCursor.
    """
    shown = opened_in_settings(selection)
    if shown.lowest:
        scope = feeds.scope(ALL_DEALS) if shown.sort is Sort.NEWEST else _scope_of_all(shown)
        filed = lows.read(table, shown, scope=scope, limit=limit, now=now, cursor=cursor)
        return OfAll(filed.page, filed.looked)
    if shown.sort is not Sort.NEWEST:
        return OfAll(_ranked_of_all(table, shown, limit, now, cursor), None)
    found, looked, last = _sifted(table, ALL_DEALS, limit, now, cursor, lambda deal: _is_selected(deal, shown))
    more = identifiers.next_cursor(feeds.scope(ALL_DEALS), [deal.deal_id for deal in found], limit)
    return OfAll(Page(tuple(found[:limit]), more or last), looked if last else None)


def cursor_in_all(selection: Selection, deal: Deal) -> str:
    """The cursor of the page of all categories after a deal."""
    shown = opened_in_settings(selection)
    if shown.sort is Sort.NEWEST:
        return identifiers.cursor_after(feeds.scope(ALL_DEALS), deal.deal_id)
    return identifiers.ranked_cursor_after(_scope_of_all(shown), *_position(shown, deal))


def _sifted(
    table: Table, feed: Feed, limit: int, now: datetime, cursor: str | None, fits: Callable[[Deal], bool]
) -> tuple[list[Deal], int, str | None]:
    """A feed's newest deals that fit, how many were looked through, and the cursor after these."""
    found: list[Deal] = []
    looked = 0
    for _ in range(SIFTS):
        page = feeds.read(table, feed, limit=SIFTED, now=now, cursor=cursor)
        found += filter(fits, page.items)
        looked, cursor = looked + len(page.items), page.next
        if cursor is None or len(found) * 2 >= limit:
            break
    return found, looked, cursor


def _ranked_of_all(table: Table, shown: Selection, limit: int, now: datetime, cursor: str | None) -> Page[Deal]:
    """The first deals of all categories by price or discount, after a cursor.

    Nothing is known beyond the nearest end of a category's page, so the page ends there: it is short if few of the
    deals fit.
    """
    scope = _scope_of_all(shown)
    after = None if cursor is None else identifiers.read_ranked_cursor(scope, cursor)
    by_rank = replace(shown, discount=None)  # filtered deals aren't made up for by reading on
    scopes = [_scope(Topic(CATEGORY, slug), by_rank) for slug in CATEGORIES]
    starts = [None if after is None else identifiers.ranked_cursor_after(each, *after) for each in scopes]
    page_of = partial(_BY[shown.sort], table, selection=by_rank, limit=limit, now=now)
    pages = table.gather(
        [partial(page_of, Topic(CATEGORY, slug), cursor=start) for slug, start in zip(CATEGORIES, starts, strict=True)]
    )
    biggest_first = shown.sort is Sort.DISCOUNT
    ends = [
        identifiers.read_ranked_cursor(each, page.next)
        for each, page in zip(scopes, pages, strict=True)
        if page.next is not None
    ]
    end = (max(ends) if biggest_first else min(ends)) if ends else None
    found = [deal for page in pages for deal in page.items if _is_selected(deal, shown)]
    found.sort(key=partial(_position, shown), reverse=biggest_first)
    if end is not None:
        places = (_position(shown, deal) for deal in found)
        known = [place >= end if biggest_first else place <= end for place in places]
        found = [deal for deal, is_known in zip(found, known, strict=True) if is_known]
    if len(found) > limit:
        found, end = found[:limit], _position(shown, found[limit - 1])
    elif end is not None and biggest_first and not shown.admits(end[0], lowest=True):
        end = None
    return Page(tuple(found), identifiers.ranked_cursor_after(scope, *end) if end else None)


def _scope_of_all(selection: Selection) -> str:
    return f"{feeds.scope(ALL_DEALS)}/{selection.name}"


def cursor_after(of: Topic, selection: Selection, deal: Deal) -> str:
    """The cursor of the page after a deal."""
    if selection.sort is Sort.NEWEST:
        return identifiers.cursor_after(feeds.scope(feed_of(_narrowest(of, selection))), deal.deal_id)
    return identifiers.ranked_cursor_after(_scope(of, selection), *_position(selection, deal))


def newest(
    table: Table, of: Topic, selection: Selection, *, limit: int, now: datetime, cursor: str | None
) -> Page[Deal]:
    """The newest deals that fit. Requests as in ``feeds.read``, perhaps twice.

    A category's 60-day lows have a list of their own.
    """
    feed = feed_of(_narrowest(of, selection))
    if selection.lowest and feed.topic == of and of.kind is CATEGORY:
        scope = feeds.scope(feed)
        return lows.read(table, selection, scope=scope, limit=limit, now=now, cursor=cursor, category=of.slug).page
    found, _, last = _sifted(table, feed, limit, now, cursor, lambda deal: _fits(deal, of, selection))
    return _first(found, of, selection, limit, last)


def cheapest(
    table: Table, of: Topic, selection: Selection, *, limit: int, now: datetime, cursor: str | None
) -> Page[Deal]:
    """The cheapest deals first. One Query, or up to ``TRIPS`` if few of a brand's deals are in the category."""
    return _walk(table, of, selection, limit, now, cursor)


def discounted(
    table: Table, of: Topic, selection: Selection, *, limit: int, now: datetime, cursor: str | None
) -> Page[Deal]:
    """The biggest discounts first. One Query, or up to ``TRIPS`` if few deals of a category are in the price range.

    A brand's are sorted here, after one Query of all its prices.
    """
    if _narrowest(of, selection).kind in _BY_DISCOUNT:
        return _walk(table, of, selection, limit, now, cursor)
    after = None if cursor is None else identifiers.read_ranked_cursor(_scope(of, selection), cursor)
    by_price = replace(selection, sort=Sort.CHEAPEST)
    read = damage.readable(_query(table, of, by_price, None, None), partial(_offered_deal, of, by_price))
    found = [deal for deal in read if _is_shown(deal, of, selection, now)]
    behind = [deal for deal in found if after is None or _position(selection, deal) < after]
    behind.sort(key=partial(_position, selection), reverse=True)
    return _first(behind, of, selection, limit, None)


def nearest_below(table: Table, of: Topic, selection: Selection, *, limit: int, now: datetime) -> list[Deal]:
    """The dearest of the selected deals first. One Query, backward from the highest selected price."""
    index, partition = _place(of, selection)
    lowest, highest = keys.prices_between(*selection.bounds, None)
    items = table.query(partition, **CARDS[index.name], prefix=lowest, until=highest, newest_first=True, limit=limit)
    read = damage.readable(items, partial(_offered_deal, of, selection))
    return [deal for deal in read if _is_shown(deal, of, selection, now)]


_BY = {Sort.NEWEST: newest, Sort.CHEAPEST: cheapest, Sort.DISCOUNT: discounted}

_BY_PRICE: Mapping[TopicKind, tuple[Index, Callable[[str, str], str]]] = {
    BRAND: (GSI2, keys.brand_prices),
    CATEGORY: (GSI3, keys.category_prices),
}
_BY_DISCOUNT: Mapping[TopicKind, tuple[Index, Callable[[str], str]]] = {CATEGORY: (GSI1, keys.discounts)}
"""The index of a topic's offers by discount, with the key of its partition."""


def _walk(table: Table, of: Topic, selection: Selection, limit: int, now: datetime, cursor: str | None) -> Page[Deal]:
    """The first deals in an index partition that fit; a category's 60-day lows from their own list, if it holds all."""
    if selection.lowest and of.kind is CATEGORY and selection.brand is None:
        scope = _scope(of, selection)
        filed = lows.read(
            table, selection, scope=scope, limit=limit, now=now, cursor=cursor, category=of.slug, if_all=True
        )
        if filed.looked is None:
            return filed.page
    after = None if cursor is None else identifiers.read_ranked_cursor(_scope(of, selection), cursor)
    found: list[Deal] = []
    for trip in range(TRIPS):
        most = SIFTED if trip else limit + 1
        items = _query(table, of, selection, after, most)
        read = damage.readable(items, partial(_offered_deal, of, selection))
        found += [deal for deal in read if _is_shown(deal, of, selection, now)]
        is_past = (
            selection.sort is Sort.DISCOUNT
            and bool(read)
            and not selection.admits(read[-1].discount_percent, lowest=True)
        )
        if len(items) < most or not read or is_past:
            return _first(found, of, selection, limit, None)
        after = _position(selection, read[-1])
        if len(found) >= limit:
            break
    return _first(found, of, selection, limit, cursor_after(of, selection, read[-1]))


def _query(table: Table, of: Topic, selection: Selection, after: Position | None, most: int | None) -> list[Item]:
    """Offers in an index partition after a position, ``most`` of them or all."""
    index, partition = _place(of, selection)
    if selection.sort is Sort.DISCOUNT:
        before = keys.offer_by_discount(*after) if after else None
        bounds: dict[str, Any] = {"after": before, "newest_first": True}
    else:
        lowest, highest = keys.prices_between(*selection.bounds, after)
        bounds = {"prefix": lowest, "until": highest}
    return list(table.query(partition, **CARDS[index.name], limit=most, **bounds))


def _place(of: Topic, selection: Selection) -> tuple[Index, str]:
    """A list's index and partition."""
    topic = _narrowest(of, selection)
    if selection.sort is Sort.DISCOUNT:
        index, discounts = _BY_DISCOUNT[topic.kind]
        return index, discounts(topic.slug)
    index, prices = _BY_PRICE[topic.kind]
    return index, prices(topic.slug, selection.currency or settings.CURRENCIES[0])


def _offered_deal(of: Topic, selection: Selection, item: Item) -> Deal:
    """Read an offer's deal. Raises ValueError if its index key doesn't match."""
    index, _ = _place(of, selection)
    deal = from_item(item)
    rank, deal_id = _position(selection, deal)
    by = keys.offer_by_discount if selection.sort is Sort.DISCOUNT else keys.offer_by_price
    if item[str(index.sort_key)] != by(rank, deal_id):
        raise ValueError("the offer is in another place than its own")
    return deal


def _narrowest(of: Topic, selection: Selection) -> Topic:
    """The selected brand of a category, or else the topic: a brand has fewer deals."""
    return of if selection.brand is None else Topic(BRAND, selection.brand)


def _is_shown(deal: Deal, of: Topic, selection: Selection, now: datetime) -> bool:
    listed = selection.sort is not Sort.DISCOUNT or bool(deal.discount_percent)
    return listed and deal.status(now) is Status.ACTIVE and _fits(deal, of, selection)


def _fits(deal: Deal, of: Topic, selection: Selection) -> bool:
    """Whether a deal is in the topic and selected."""
    topics_of = (Topic(BRAND, deal.brand), Topic(CATEGORY, deal.category))
    is_of = of in topics_of and _narrowest(of, selection) in topics_of
    return is_of and _is_selected(deal, selection)


def _is_selected(deal: Deal, selection: Selection) -> bool:
    """Whether a deal's price and discount are selected."""
    is_admitted = selection.admits(deal.discount_percent, lowest=deal.is_lowest)
    return is_admitted and selection.takes(deal.price, deal.currency)


def _position(selection: Selection, deal: Deal) -> Position:
    rank = (deal.discount_percent or 0) if selection.sort is Sort.DISCOUNT else deal.units
    return rank, deal.deal_id


def _first(found: Sequence[Deal], of: Topic, selection: Selection, limit: int, next_: str | None) -> Page[Deal]:
    """The first ``limit`` deals; the next page begins after them, or at ``next_`` if these are all."""
    shown = tuple(found[:limit])
    return Page(shown, cursor_after(of, selection, shown[-1]) if len(found) > limit else next_)


def _scope(of: Topic, selection: Selection) -> str:
    return f"{feeds.scope(feed_of(of))}/{selection.name}"


def _brand(table: Table, slug: str | None) -> CountedTopic | None:
    if slug is None:
        return None
    try:
        return topics.get(table, Topic(BRAND, slug))
    except NoSuchTopic as error:
        raise BadRequest(f"There is no brand {slug}.", "brand") from error
