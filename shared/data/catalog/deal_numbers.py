"""The short public numbers of deals: drawn from a counter, and each leads to its deal."""

from __future__ import annotations

from dataclasses import dataclass

from shared.data import item_types, keys
from shared.dynamodb import damage
from shared.dynamodb.table import Table
from shared.dynamodb.writes import Write, put_new, update
from shared.errors import DealExists, NoSuchDeal, NotSeeded
from shared.models.catalog import Deal
from shared.values import identifiers, links

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


def draw(table: Table, count: int) -> int:
    """The first of so many numbers, which nobody else gets. Numbers of deals that are then refused are never used."""
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
