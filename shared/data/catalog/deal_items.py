"""A deal as an item of the table: its own item, its copies in featured lists, and what feeds read of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from shared.data import keys
from shared.dynamodb import damage
from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import GSI1, GSI2, GSI3
from shared.dynamodb.table import Projection
from shared.errors import DamagedDeal
from shared.models import ALL_DEALS, BRAND, CATEGORIES, Deal, Status, StockLevel
from shared.values import ksuids
from shared.values.times import from_iso, to_iso

_INDEXING = ("PK", "SK", "GSI1PK", "GSI1SK", "GSI2PK", "GSI2SK", "GSI3PK", "GSI3SK", "Type")
_APPLICATION = (
    "DealId", "DealNumber", "Title", "Link", "Image", "Price", "ListPrice", "Currency", "Brand", "BrandName",
    "Category", "CreatedAt", "EndsAt", "WithdrawnAt", "HotAt", "Description", "CouponCode", "SourceId", "Stock",
)  # fmt: skip
_BOOKKEEPING = ("Version", "CorrelationId")
"""What readers are not shown and copies do not hold."""

CARDS = {
    index.name: Projection.of(str(index.sort_key), *(name for name in _APPLICATION if name != "WithdrawnAt"))
    for index in (GSI1, GSI2, GSI3)
}
"""What a feed reads of a deal, by its index: all that the API shows of an active one, and its place, which no damage
takes away. Nothing else of what places it."""

_TEXTS = ("DealId", "Title", "Link", "Price", "Currency", "Brand", "BrandName", "Category", "CreatedAt")
"""What every deal has: a text that is not empty."""

_NUMBERS = ("DealNumber", "Version")
_KINDS = [(name, int if name in _NUMBERS else str) for name in (*_APPLICATION, *_BOOKKEEPING)]
_PRICE = re.compile(r"[0-9]{1,12}\.[0-9]{2}")


def ours(item: Item) -> Item:
    """A Deal item without attributes that this release does not know: edits leave those as they are."""
    return {name: item[name] for name in (*_INDEXING, *_APPLICATION, *_BOOKKEEPING) if name in item}


def attributes(deal: Deal) -> Item:
    """A deal's application attributes: what a copy of it holds."""
    return {
        "DealId": deal.deal_id,
        "DealNumber": deal.number,
        "Title": deal.title,
        "Link": deal.link,
        "Image": deal.image,
        "Price": deal.price,
        "ListPrice": deal.list_price,
        "Currency": deal.currency,
        "Brand": deal.brand,
        "BrandName": deal.brand_name,
        "Category": deal.category,
        "Description": deal.description,
        "CouponCode": deal.coupon_code,
        "SourceId": deal.source_id,
        "Stock": None if deal.stock is None else deal.stock.value,
        "CreatedAt": to_iso(deal.created_at),
        "EndsAt": _iso(deal.ends_at),
        "WithdrawnAt": _iso(deal.withdrawn_at),
        "HotAt": _iso(deal.hot_at),
        "Version": deal.version,
    }


def to_item(deal: Deal, now: datetime) -> Item:
    """The Deal item: in the three feeds' indexes while the deal is active, in none otherwise."""
    return to_item_listed(deal, listed=deal.status(now) is Status.ACTIVE)


def to_item_listed(deal: Deal, *, listed: bool) -> Item:
    """The Deal item, in the three feeds' indexes or not. The feeds' containers must count it accordingly."""
    item = {**keys.deal(deal.deal_id), "Type": "Deal", **attributes(deal), "CorrelationId": deal.correlation_id}
    if listed:
        item |= keys.deal_in_feeds(
            deal.deal_id,
            day=ALL_DEALS.period.start_of(deal.created_at),
            brand=deal.brand,
            month=BRAND.period.start_of(deal.created_at),
            category=deal.category,
        )
    return {name: value for name, value in item.items() if value is not None}


def is_listed(item: Item) -> bool:
    """Whether a Deal item stands in the feeds' indexes."""
    return "GSI1PK" in item


def from_item(item: Item) -> Deal:
    """The deal that an item, a copy or a feed's projection holds. Raises DamagedDeal."""
    try:
        _check(item)
        return _deal(item)
    except (KeyError, ValueError, TypeError, AttributeError, OverflowError) as error:
        raise DamagedDeal(_named(item), f"{type(error).__name__}: {error}") from error


def _check(item: Item) -> None:
    """Refuse what is no deal before it can harm anyone who shows it. Raises ValueError, KeyError, TypeError."""
    for name in _TEXTS:
        if not item[name]:
            raise ValueError(f"{name} is empty")
    for name, kind in _KINDS:
        # Not isinstance: a truth value is no number here.
        if type(item.get(name)) not in (kind, type(None)):
            raise ValueError(f"{name} is no {kind.__name__}")
    for name in ("Price", "ListPrice"):
        if item.get(name) is not None and not _PRICE.fullmatch(item[name]):
            raise ValueError(f"{name} is no price")
    if item["Category"] not in CATEGORIES:
        raise ValueError("Category is none of the eight")
    if not ksuids.is_ksuid(item["DealId"]):
        raise ValueError("DealId is none")
    if keys.deal_id_of(item) not in (None, item["DealId"]):
        raise ValueError("DealId is another deal's")


def _named(item: Any) -> str:
    """The id of a damaged deal, as far as it has one."""
    return (keys.deal_id_of(item) or str(item.get("DealId"))) if isinstance(item, Mapping) else "?"


def _deal(item: Item) -> Deal:
    return Deal(
        deal_id=item["DealId"],
        number=item.get("DealNumber"),
        title=item["Title"],
        link=item["Link"],
        image=item.get("Image"),
        price=item["Price"],
        list_price=item.get("ListPrice"),
        currency=item["Currency"],
        brand=item["Brand"],
        brand_name=item["BrandName"],
        category=item["Category"],
        description=item.get("Description"),
        coupon_code=item.get("CouponCode"),
        source_id=item.get("SourceId"),
        stock=StockLevel(item["Stock"]) if item.get("Stock") is not None else None,
        created_at=from_iso(item["CreatedAt"]),
        ends_at=_time(item.get("EndsAt")),
        withdrawn_at=_time(item.get("WithdrawnAt")),
        hot_at=_time(item.get("HotAt")),
        version=item.get("Version") or 1,
        correlation_id=item.get("CorrelationId"),
    )


def readable(items: Iterable[Item]) -> list[Deal]:
    """The deals that some items hold. One that is damaged is left out, and noted: the others are shown."""
    found = []
    for item in items:
        try:
            found.append(from_item(item))
        except DamagedDeal as damaged:
            damage.note(damaged.deal_id)
    return found


def _iso(when: datetime | None) -> str | None:
    return None if when is None else to_iso(when)


def _time(text: str | None) -> datetime | None:
    return None if text is None else from_iso(text)
