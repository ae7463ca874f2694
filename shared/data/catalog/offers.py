"""Offers of one product over time: earlier prices, other colours and sizes, duplicates - one Query of one partition.

Each deal has a copy of itself under the hash of its product's address, kept by the stream a second or two behind the
deal (``functions/background/publisher.py``), so that a deal's own transaction stays as small as it is. The copy of a
listed deal also stands in the indexes, by its price and its discount (``sorting.py`` reads them), and that of a deal
that has ended under its brand and category: their pages show it where nothing else is.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime

from shared.data import item_types, keys
from shared.data.catalog.deal_items import CARDS, attributes, readable
from shared.dynamodb.attributes import Item
from shared.dynamodb.table import Table
from shared.dynamodb.writes import ABSENT, Write, forget, put_over
from shared.errors import AlreadyExists
from shared.models.catalog import Deal, Topic, feed_of
from shared.values import links
from shared.values.money import cents

MOST = 100
"""Offers that are read of a product, newest first. Of the real deals' products, none has half as many."""


def offers(table: Table, link: str) -> list[Deal]:
    """The newest offers of the product that an address is of, newest first, withdrawn ones included. One Query."""
    return offers_of(table, links.product_hash(link))


def offers_of(table: Table, product: str) -> list[Deal]:
    """As ``offers`` does, of a product whose address has this hash."""
    return readable(table.query(keys.product(product), newest_first=True, limit=MOST))


def ended(table: Table, topic: Topic, limit: int) -> list[Deal]:
    """The ended deals of a brand or a category that were posted last, newest first. One Query of its feed's index."""
    return readable(table.query(keys.ended(topic), **CARDS[feed_of(topic).index], newest_first=True, limit=limit))


def file(table: Table, before: Deal | None, after: Deal | None, *, has_ended: bool = False) -> None:
    """Bring a deal's offer up to date with what the stream says; saying it again changes nothing."""
    was, now_is = (links.product_hash(deal.link) if deal else None for deal in (before, after))
    if before is not None and was is not None and was != now_is:
        key = keys.product_offer(was, before.deal_id)
        table.write(forget(key, because="a repeated record finds it gone already"))
    if after is not None and now_is is not None:
        with suppress(AlreadyExists):  # a later version stands there already
            table.write(filing(after, has_ended=has_ended))


def filing(deal: Deal, *, has_ended: bool = False) -> Write:
    """The write of a deal's offer. Refused with AlreadyExists where there is a later version of it."""
    item = to_item(deal, has_ended=has_ended)
    return put_over(item, f"{ABSENT} OR Version <= :version", {":version": deal.version}, refused=AlreadyExists())


def to_item(deal: Deal, *, has_ended: bool) -> Item:
    """The offer of a deal. One that is withdrawn stands in no index; one whose end has come, and which is still in the
    feeds until the sweep, is still among prices."""
    key = keys.product_offer(links.product_hash(deal.link), deal.deal_id)
    item = {**key, "Type": item_types.PRODUCT_OFFER, **attributes(deal)}
    if deal.withdrawn_at is not None:
        return item
    if has_ended:
        return item | keys.offer_of_ended(deal.deal_id, deal.brand, deal.category)
    return item | keys.offer_of_listed(
        deal.deal_id,
        brand=deal.brand,
        category=deal.category,
        price=cents(deal.price),
        currency=deal.currency,
        percent=deal.discount_percent,
    )


def lowest_since(found: list[Deal], since: datetime) -> Deal | None:
    """The cheapest of some offers that were posted since a time, the newest of equals; None where there is none."""
    recent = [deal for deal in found if deal.created_at >= since]
    return min(recent, key=lambda deal: (cents(deal.price), -deal.created_at.timestamp()), default=None)
