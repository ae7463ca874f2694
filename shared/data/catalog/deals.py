"""Creating, reading and changing deals.

While a deal is listed, its three feeds count it (``feed_counts.py``), in the transaction that lists or unlists it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from shared.data import item_types, keys
from shared.data.catalog import feed_counts
from shared.data.catalog.deal_items import attributes, from_item, is_listed, ours, readable, to_item
from shared.data.catalog.feed_counts import Stale
from shared.data.catalog.topics import no_such
from shared.data.idempotency import Idempotency, once
from shared.dynamodb.table import Projection, Table
from shared.dynamodb.writes import Write, change, put_new, update
from shared.errors import (
    Busy,
    DealExists,
    DealIsOver,
    DealTooLarge,
    EditedMeanwhile,
    NoSuchDeal,
    NoSuchTopic,
    NotSeeded,
)
from shared.models.catalog import BRAND, CATEGORIES, CATEGORY, Deal, Status, StockLevel, Topic
from shared.values import ksuids, links

MAX_BYTES = 8 * 1024
"""Size of a deal's attributes: a page of 100 deals, and ``feeds.SPARE`` more, then fits the 1 MB of one Query."""

MAX_TOGETHER = 14
"""Deals one transaction creates: each takes at most seven of its 100 writes."""

_NAMED = Projection.of("PK", "SK", "Name")


def new_id(created_at: datetime, source_id: str | None, entropy: bytes) -> str:
    """The id of a new deal: derived from its source's id if it has one, so that a repeated import gives the same id."""
    return ksuids.derived(created_at, "deal", source_id) if source_id else ksuids.random(created_at, entropy)


def create(table: Table, deal: Deal, now: datetime, *, idempotency: Idempotency | None = None) -> Deal:
    """Create a deal with its number, and list it if it is active.

    A repeated request with the same ``idempotency`` key gets the deal that the first one made.
    Raises DealExists, NoSuchTopic, DealTooLarge, IdempotencyKeyReused.
    """
    deal = replace(deal, brand_name=_brand_name(table, deal.brand))
    (deal,) = _numbered(table, [deal])
    writes = _creation([deal], now)
    if idempotency is None:
        table.transact(*writes)
        return deal
    earlier = once(table, idempotency, deal.deal_id, now, writes)
    return deal if earlier is None else get(table, earlier, consistent=True)


def create_many(table: Table, deals: Sequence[Deal], now: datetime) -> list[Deal]:
    """Create up to ``MAX_TOGETHER`` deals in one transaction: all, or none if one is refused.

    The brands' names are taken from the deals. Raises as ``create`` does.
    """
    sources = Counter(deal.source_id for deal in deals if deal.source_id is not None)
    for source_id, times in sources.items():
        # DynamoDB would call it an invalid transaction:
        # https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
        if times > 1:
            raise DealExists(source_id)
    numbered = _numbered(table, deals)
    brands = {deal.brand: keys.topic(Topic(BRAND, deal.brand)) for deal in deals}
    known = {item["PK"] for item in table.get_many([*brands.values()], consistent=True, projection=_NAMED)}
    for brand, key in brands.items():
        if key["PK"] not in known:
            raise no_such(Topic(BRAND, brand))
    table.transact(*_creation(numbered, now))
    return numbered


def get(table: Table, deal_id: str, *, consistent: bool = False) -> Deal:
    """One deal, by its id. One GetItem. Raises NoSuchDeal."""
    item = table.get(keys.deal(deal_id), consistent=consistent)
    if item is None:
        raise NoSuchDeal(deal_id)
    return from_item(item)


def find(table: Table, id_or_number: str, *, consistent: bool = False) -> Deal:
    """One deal, by its id or its short public number. One GetItem by id, two by number. Raises NoSuchDeal.

    ``consistent`` is for editors, who look for what they wrote a moment ago, and for what a write is based on.
    """
    return get(table, place_of(table, id_or_number, consistent=consistent).deal_id, consistent=consistent)


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
    if ksuids.is_ksuid(id_or_number):
        return Place(id_or_number)
    if not (id_or_number.isascii() and id_or_number.isdigit() and len(id_or_number) <= 12):
        raise NoSuchDeal(id_or_number)
    pointer = table.get(keys.deal_number(int(id_or_number)), consistent=consistent)
    if pointer is None:
        raise NoSuchDeal(id_or_number)
    return Place(pointer["DealId"], pointer["Product"], pointer["Brand"])


def get_many(table: Table, deal_ids: Sequence[str], *, consistent: bool = False) -> list[Deal]:
    """The deals of some ids that exist, in the order of the ids. BatchGetItem, 100 a request."""
    return readable(table.get_many([keys.deal(i) for i in deal_ids], consistent=consistent))


def by_source(table: Table, source_ids: Sequence[str]) -> dict[str, str]:
    """The ids of the deals that exist for some sources, by source id. BatchGetItem, 100 a request."""
    items = table.get_many([keys.deal_source(source_id) for source_id in source_ids], consistent=True)
    return {item["SourceId"]: item["DealId"] for item in items}


def edit(
    table: Table,
    deal_id: str,
    changes: Mapping[str, Any],
    now: datetime,
    *,
    correlation_id: str | None = None,
    version: int | None = None,
) -> Deal:
    """Change fields of a deal; it enters or leaves the feeds as its status then calls for, and keeps its place.

    ``changes`` maps fields of ``Deal`` to values. ``withdrawn_at`` and ``hot_at`` keep their first times.
    Of two editors at once, the later one's changes are applied to what the earlier one wrote. ``correlation_id`` names
    the request that asks for this. With ``version``, the one that the changes are based on, a later editor is refused
    instead: a form sends every field, and would undo changes that it does not know of.
    Raises NoSuchDeal, NoSuchTopic, DealTooLarge, EditedMeanwhile.
    """
    brand_name = {"brand_name": _brand_name(table, changes["brand"])} if "brand" in changes else {}

    def attempt() -> Deal:
        old_item = table.get(keys.deal(deal_id), consistent=True)
        if old_item is None:
            raise NoSuchDeal(deal_id)
        old_item = ours(old_item)
        old = from_item(old_item)
        if version is not None and old.version != version:
            raise EditedMeanwhile(old.version)
        firsts = {
            name: getattr(old, name)
            for name in ("withdrawn_at", "hot_at")
            if changes.get(name) is not None and getattr(old, name) is not None
        }
        new = replace(old, **{**changes, **firsts, **brand_name})
        if changes.keys() - _ALWAYS_POSSIBLE:
            check(new)
        new_item = to_item(new, now)
        if new_item == old_item:
            return old
        new = replace(new, version=old.version + 1, correlation_id=correlation_id)
        new_item = to_item(new, now)
        table.transact(
            change(old_item, new_item, version="Version", refused=Stale()),
            *feed_counts.recount(table, old if is_listed(old_item) else None, new if is_listed(new_item) else None),
            *feed_counts.renote(old if is_listed(old_item) else None, new if is_listed(new_item) else None),
        )
        return new

    return table.retry(attempt, when=Stale, gave_up=Busy("Many are editing this deal at once; try again."))


_ALWAYS_POSSIBLE = {"withdrawn_at", "hot_at", "ends_at"}
"""Changes allowed even above the size limit."""


def withdraw(table: Table, deal_id: str, now: datetime) -> Deal:
    """Take a deal back: it leaves the feeds and stays readable. Raises NoSuchDeal."""
    return edit(table, deal_id, {"withdrawn_at": now}, now)


def make_hot(table: Table, deal_id: str, now: datetime, *, correlation_id: str | None = None) -> Deal:
    """Mark an active deal as hot: every user is told of it, once. Raises NoSuchDeal, DealIsOver."""
    if get(table, deal_id, consistent=True).status(now) is not Status.ACTIVE:
        raise DealIsOver(deal_id)
    return edit(table, deal_id, {"hot_at": now}, now, correlation_id=correlation_id)


def relist(table: Table, deal_id: str, now: datetime) -> Deal:
    """List or unlist a deal as its status calls for, as after its offer has ended."""
    return edit(table, deal_id, {}, now)


def show_stock(table: Table, deal_id: str, level: StockLevel, seen: int) -> bool:
    """Store on a deal how much of it is left; returns whether that changed it.

    ``seen`` numbers the state of the stock that the level was read from: an older one changes nothing. The deal's
    version stays, because an editor who has the deal open has missed nothing.
    """
    try:
        table.write(
            update(
                keys.deal(deal_id),
                "SET Stock = :level, StockSeen = :seen",
                condition="attribute_exists(PK) AND "
                "(attribute_not_exists(Stock) OR (Stock <> :level AND StockSeen < :seen))",
                values={":level": level.value, ":seen": seen},
                refused=Stale(),
            )
        )
    except Stale:
        return False
    return True


def check(deal: Deal) -> None:
    """Refuse a deal that cannot be stored, before anything is written for it. Raises NoSuchTopic, DealTooLarge."""
    if deal.category not in CATEGORIES:
        raise NoSuchTopic(CATEGORY.label, deal.category)
    size = sum(len(name) + len(str(value).encode()) for name, value in attributes(deal).items() if value is not None)
    if size > MAX_BYTES:
        raise DealTooLarge(size, MAX_BYTES)


def _brand_name(table: Table, brand: str) -> str:
    topic = Topic(BRAND, brand)
    item = table.get(keys.topic(topic), projection=_NAMED, consistent=True)
    if item is None:
        raise no_such(topic)
    return str(item["Name"])


def _numbered(table: Table, deals: Sequence[Deal]) -> list[Deal]:
    """The deals with the next numbers of the sequence. Numbers of deals that are then refused are never used."""
    for deal in deals:
        check(deal)
    drawn = table.write(
        update(keys.deal_numbers(), "ADD LastNumber :n", values={":n": len(deals)}, refused=NotSeeded()),
        returning="UPDATED_NEW",
    )
    first = drawn["LastNumber"] - len(deals) + 1
    return [replace(deal, number=first + offset) for offset, deal in enumerate(deals)]


def _creation(deals: Sequence[Deal], now: datetime) -> Iterator[Write]:
    """The writes that create deals: item, number and source of each, and the counts of the feeds they enter.

    Their brands and categories are known to exist; none is ever deleted.
    """
    listed = []
    for deal in deals:
        item = to_item(deal, now)
        pointer = {"DealId": deal.deal_id}
        yield put_new(item, refused=DealExists(deal.deal_id))
        if deal.source_id is not None:
            source = {**keys.deal_source(deal.source_id), "Type": item_types.DEAL_SOURCE, "SourceId": deal.source_id}
            yield put_new(source | pointer, refused=DealExists(deal.source_id))
        if deal.number is not None:
            number = {**keys.deal_number(deal.number), "Type": item_types.DEAL_NUMBER, "Number": deal.number}
            number |= {"Product": links.product_hash(deal.link), "Brand": deal.brand}
            yield put_new(number | pointer, refused=DealExists(str(deal.number)))
        if is_listed(item):
            listed.append(deal)
            yield from feed_counts.renote(None, deal)
    yield from feed_counts.count_listed(listed)


def missing(deal_ids: Iterable[str], found: Iterable[Deal]) -> list[str]:
    """Which of some ids no deal was found for."""
    known = {deal.deal_id for deal in found}
    return [deal_id for deal_id in deal_ids if deal_id not in known]
