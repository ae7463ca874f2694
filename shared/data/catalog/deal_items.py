"""A deal as an item of the table, and its short public number.

The item puts a deal into feeds, copies it for lists of picks, and says what feeds read. Numbers are drawn from a
counter, and each leads to its deal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from shared.data import item_types, keys
from shared.dynamodb import damage
from shared.dynamodb.attributes import Codec, Entity, Item
from shared.dynamodb.schema import GSI1, GSI2, GSI3, KEYS
from shared.dynamodb.table import Projection, Table
from shared.dynamodb.writes import Write, put_new, update
from shared.errors import DamagedDeal, DealExists, DealTooLarge, InvalidInput, NoSuchDeal, NoSuchTopic, NotSeeded
from shared.models.catalog import ALL_DEALS, BRAND, CATEGORIES, CATEGORY, Deal, Status, Verdict
from shared.values import identifiers, links, money
from shared.values.money import AMOUNT, amount
from shared.values.pictures import Picture

DEAL = Entity(Deal, forms={"picture": Codec(str, Picture.parse), "verdict": Codec(str, Verdict.parse)})
"""Deals are read, written, projected and copied as the fields of ``Deal`` say."""

CARDS: Mapping[str, Mapping[str, Any]] = {
    index.name: {"index": index, "projection": Projection.of(str(index.sort_key), *DEAL.listed)}
    for index in (GSI1, GSI2, GSI3)
}
"""The arguments of a Query for deals in an index, by its name: it reads all that the API shows of an active deal, and
the index's sort key, which names even a damaged one."""

MAX_BYTES = 8 * 1024
"""Size of a deal's attributes: a page of 100 deals, and ``feeds.SPARE`` more, then fits the 1 MB of one Query."""

_OURS = (*KEYS, "Type", *DEAL.names)


def ours(item: Item) -> Item:
    """A Deal item without attributes that this release does not know: edits leave those as they are."""
    return {name: item[name] for name in _OURS if name in item}


def not_ours(item: Item) -> Item:
    """The attributes of a Deal item that this release does not know, or does not read with the deal."""
    return {name: value for name, value in item.items() if name not in _OURS and isinstance(value, str | int)}


def attributes(deal: Deal) -> Item:
    """The attributes that a copy of a deal has; its version says which state of the deal it is."""
    return DEAL.copy(deal)


def check(deal: Deal, before: Deal | None = None) -> None:
    """Refuse a deal that cannot be stored. Raises NoSuchTopic, DealTooLarge, InvalidInput."""
    if deal.category not in CATEGORIES:
        raise NoSuchTopic(CATEGORY.label, deal.category)
    check_prices(deal, before)
    check_size(deal)


def check_prices(deal: Deal, before: Deal | None = None) -> None:
    """Refuse prices of more decimals than their currency has, unless they are the deal's ``before``.

    Raises InvalidInput.
    """
    known = (before.currency, before.price, before.list_price) if before else ()
    if (deal.currency, deal.price, deal.list_price) != known:
        prices = {"price": deal.price, "listPrice": deal.list_price or ""}
        faults = {name: fault for name, price in prices.items() if (fault := money.fault(price, deal.currency))}
        if faults:
            raise InvalidInput(faults)


def check_size(deal: Deal) -> None:
    """Refuse a deal of more than ``MAX_BYTES``. Raises DealTooLarge."""
    size = sum(len(name) + len(str(value).encode()) for name, value in attributes(deal).items() if value is not None)
    if size > MAX_BYTES:
        raise DealTooLarge(size, MAX_BYTES)


def to_item(deal: Deal, now: datetime) -> Item:
    """The Deal item: in the three feeds' indexes while the deal is active, in none otherwise."""
    return to_item_listed(deal, listed=deal.status(now) is Status.ACTIVE)


def to_item_listed(deal: Deal, *, listed: bool) -> Item:
    """The Deal item, in the three feeds' indexes or not. The counts of their periods must say the same."""
    item = {**keys.deal(deal.deal_id), "Type": item_types.DEAL, **DEAL.write(deal)}
    if listed:
        item |= keys.deal_in_feeds(
            deal.deal_id,
            day=ALL_DEALS.period.start_of(deal.created_at),
            brand=deal.brand,
            month=BRAND.period.start_of(deal.created_at),
            category=deal.category,
        )
    return item


def is_listed(item: Item) -> bool:
    """Whether a Deal item is in the feeds' indexes."""
    return "GSI1PK" in item


def has_ended(item: Item) -> bool:
    """Whether a Deal item left the feeds because its offer ended, and not because it was withdrawn."""
    return not is_listed(item) and "WithdrawnAt" not in item


def from_item(item: Item) -> Deal:
    """The deal that an item, a copy or a feed's projection holds. Raises DamagedDeal."""
    try:
        deal = DEAL.read(item)
        _check(deal, keys.deal_id_of(item))
    except damage.UNREADABLE as error:
        named = (keys.deal_id_of(item) or str(item.get("DealId"))) if isinstance(item, Mapping) else "?"
        raise DamagedDeal(named, f"{type(error).__name__}: {error}") from error
    return deal


def unreadable(fields: Mapping[str, Any]) -> set[str]:
    """Which of a deal's fields hold what no valid deal has."""
    prices = {name for name in ("price", "list_price") if not AMOUNT.fullmatch(fields.get(name) or "0.00")}
    return prices | ({"category"} if fields.get("category") not in CATEGORIES else set())


def _check(deal: Deal, placed_as: str | None) -> None:
    """Refuse what is not a valid deal before a page shows it. Raises ValueError."""
    for price in (deal.price, deal.list_price):
        if price is not None:
            amount(price)
    if deal.category not in CATEGORIES:
        raise ValueError("Category is not one of the eight")
    if not identifiers.is_ksuid(deal.deal_id):
        raise ValueError("DealId is none")
    if placed_as not in (None, deal.deal_id):
        raise ValueError("DealId is another deal's")


def readable(items: Iterable[Item]) -> list[Deal]:
    """The deals that some items hold. One that is damaged is left out, and noted: the others are shown."""
    return damage.readable(items, from_item)


_LEADS_TO = ("DealId", "Product", "Brand")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a deal's number leads: to its id, the hash of its product's address, and its brand, so that a page can ask
    for all of them at once. The last two are empty where only the id is known.
    """

    deal_id: str
    product: str = ""
    brand: str = ""


def place(deal: Deal) -> Place:
    """Where the number of a deal leads."""
    return Place(deal.deal_id, links.product_hash(deal.link), deal.brand)


def place_of(table: Table, id_or_number: str, *, consistent: bool = False) -> Place:
    """Where an id or a number leads, as it was when the deal was numbered. A GetItem by number. Raises NoSuchDeal."""
    if identifiers.is_ksuid(id_or_number):
        return Place(id_or_number)
    if not (id_or_number.isascii() and id_or_number.isdigit() and len(id_or_number) <= 12):
        raise NoSuchDeal(id_or_number)
    pointer = table.get(keys.deal_number(int(id_or_number)), consistent=consistent)
    if pointer is None:
        raise NoSuchDeal(id_or_number)
    return damage.read(pointer, lambda each: Place(*(damage.attribute(each, name, str) for name in _LEADS_TO)))


def draw_numbers(table: Table, count: int) -> int:
    """The first of so many reserved numbers. Numbers of deals that are then refused are never used."""
    drawn = table.write(
        update(keys.deal_numbers(), "ADD LastNumber :n", values={":n": count}, refused=NotSeeded()),
        returning="UPDATED_NEW",
    )
    return int(drawn["LastNumber"]) - count + 1


def numbering(deal: Deal, number: int) -> Write:
    """The write that makes a number lead to its deal. Refused with DealExists."""
    at = place(deal)
    item = {**keys.deal_number(number), "Type": item_types.DEAL_NUMBER, "Number": number}
    return put_new(
        item | {"DealId": at.deal_id, "Product": at.product, "Brand": at.brand}, refused=DealExists(str(number))
    )
