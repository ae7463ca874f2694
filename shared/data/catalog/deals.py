"""Deals: created, read and changed, as items of the table, and with their short public numbers.

Its feeds count a listed deal in the transaction that lists or unlists it. The item puts a deal into feeds, copies it
for lists of picks, and says what feeds read. Numbers are drawn from a counter, and each leads to its deal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain
from typing import Any, NamedTuple

from shared import features, hooks
from shared.data import bulk, keys
from shared.data.catalog import feed_counts, topics
from shared.data.catalog.attributes import OF_FEATURES
from shared.data.catalog.feed_counts import Stale
from shared.data.idempotency import Idempotency, once
from shared.dynamodb import damage
from shared.dynamodb.attributes import Entity, Item
from shared.dynamodb.schema import GSI1, GSI2, GSI3, KEYS
from shared.dynamodb.table import KEYS_ONLY, Projection, Table
from shared.dynamodb.writes import Write, change, put_new, update
from shared.errors import (
    Busy,
    DamagedDeal,
    DealExists,
    DealIsOver,
    DealTooLarge,
    EditedMeanwhile,
    InvalidInput,
    NoSuchDeal,
    NoSuchTopic,
    NotSeeded,
)
from shared.models.catalog import ALL_DEALS, BRAND, CATEGORIES, CATEGORY, Deal, Status, Topic
from shared.values import identifiers, links, money
from shared.values.money import AMOUNT, amount
from shared.values.times import to_iso

DEAL = Entity(Deal, apart=frozenset({"more"}), more=OF_FEATURES)
"""Deals are read, written, projected and copied as the fields of ``Deal`` and the features' values say."""

CARDS: Mapping[str, Mapping[str, Any]] = {
    index.name: {"index": index, "projection": Projection.of(str(index.sort_key), *DEAL.listed)}
    for index in (GSI1, GSI2, GSI3)
}
"""The arguments of a Query for deals in an index, by its name: it reads all that the API shows of an active deal, and
the index's sort key, which names even a damaged one."""

MAX_BYTES = 8 * 1024
"""Size of a deal's attributes: a page of 100 deals, and ``feeds.SPARE`` more, then fits the 1 MB of one Query."""

_ALWAYS_POSSIBLE = {"withdrawn_at", "hot_at", "ends_at"}
"""Changes allowed even above the size limit."""


def new_id(created_at: datetime, source_id: str | None, entropy: bytes) -> str:
    """The id of a new deal: derived from its source's id if it has one, so that a repeated import gives the same id."""
    return identifiers.derived(created_at, "deal", source_id) if source_id else identifiers.random(created_at, entropy)


def create(
    table: Table, deal: Deal, now: datetime, *, idempotency: Idempotency | None = None, also: Sequence[Write] = ()
) -> Deal:
    """Create a deal with its number, and list it if it is active; ``also`` are other writes of its transaction.

    A repeated request with the same ``idempotency`` key gets the deal that the first one made.
    Raises DealExists, NoSuchTopic, DealTooLarge, IdempotencyKeyReused, and what ``also`` is refused with.
    """
    (deal,) = numbered(table, [deal.changed(stored_brand(table, deal.brand))])
    writes = [*creation([deal], now), *also]
    earlier = feed_counts.mending(table, lambda: once(table, idempotency, deal.deal_id, now, writes), entered=[deal])
    return deal if earlier is None else get(table, earlier, consistent=True)


def stored_brand(table: Table, brand: str) -> dict[str, str]:
    """A deal's ``brand`` and ``brand_name`` as the brand is stored. Raises NoSuchTopic."""
    found = topics.named(table, brand)
    return {"brand": found.topic.slug, "brand_name": found.name}


def numbered(table: Table, deals: Sequence[Deal]) -> list[Deal]:
    """The deals with the next numbers of the sequence. Raises NoSuchTopic, DealTooLarge."""
    for deal in deals:
        check(deal)
    return [replace(deal, number=number) for number, deal in enumerate(deals, draw_numbers(table, len(deals)))]


def creation(deals: Sequence[Deal], now: datetime) -> Iterator[Write]:
    """The writes that create deals: item, number and source of each, and the counts of the feeds they enter.

    Their brands and categories are known to exist; none is ever deleted.
    """
    listed = []
    for deal in deals:
        item = to_item(deal, now)
        yield put_new(item, refused=DealExists(deal.deal_id))
        if deal.source_id is not None:
            source = {**keys.deal_source(deal.source_id), "Type": keys.DEAL_SOURCE, "SourceId": deal.source_id}
            yield put_new(source | {"DealId": deal.deal_id}, refused=DealExists(deal.source_id))
        if deal.number is not None:
            yield numbering(deal, deal.number)
        if is_listed(item):
            listed.append(deal)
            yield from feed_counts.end_note_writes(None, deal)
    yield from feed_counts.count_listed(listed)


def get(table: Table, deal_id: str, *, consistent: bool = False) -> Deal:
    """One deal, by its id. One GetItem. Raises NoSuchDeal."""
    return from_item(get_item(table, deal_id, consistent=consistent))


def get_item(table: Table, deal_id: str, *, consistent: bool = True) -> Item:
    """The item of a deal. One GetItem. Raises NoSuchDeal."""
    item = table.get(keys.deal(deal_id), consistent=consistent)
    if item is None:
        raise NoSuchDeal(deal_id)
    return item


def edit(
    table: Table,
    deal_id: str,
    changes: Mapping[str, Any],
    now: datetime,
    *,
    by: str | None = None,
    correlation_id: str | None = None,
    version: int | None = None,
    ask: Callable[[Deal, Deal], object] = lambda _old, _new: None,
) -> Deal:
    """Change fields of a deal; it enters or leaves the feeds as its status then calls for, and keeps its place.

    ``changes`` are those of ``Deal.changed``; ``withdrawn_at`` and ``hot_at`` keep their first times. ``by`` is the
    editor, for the deal's log. Of two editors at once, the later one's changes are applied to what the earlier one
    wrote. With ``version``, the one that the changes are based on, the later one is refused instead: a form sends every
    field, and would undo changes that it does not know of. ``ask`` may refuse what is about to be written, given the
    deal before and after. Raises NoSuchDeal, NoSuchTopic, DealTooLarge, EditedMeanwhile.
    """
    named = stored_brand(table, changes["brand"]) if "brand" in changes else {}

    def attempt() -> Deal:
        old_item = ours(get_item(table, deal_id))
        old = from_item(old_item)
        if version is not None and old.version != version:
            raise EditedMeanwhile(old.version)
        kept = {name for name in ("withdrawn_at", "hot_at") if changes.get(name) and getattr(old, name)}
        new = old.changed({name: value for name, value in changes.items() if name not in kept} | named)
        if new.ends_at == now != old.ends_at:  # by hand, and not by itself: ``editing.py`` asks for the end before
            new = replace(new, ended_from=" ".join(to_iso(each) for each in (now, old.ends_at) if each))
        for each in features.roles(hooks.Fields):
            new = each.edited(old, new, changes)
        if changes.keys() - _ALWAYS_POSSIBLE:
            check(new, old)
        ask(old, new)
        new_item = to_item(new, now)
        if new_item == old_item:
            return old
        edited_at = now if changes else old.updated_at  # the sweep lists a deal anew, and edits nothing
        new = old.next_version(new, now, correlation_id=correlation_id, updated_at=edited_at).signed(by)
        new_item = to_item(new, now)
        left, entered = (old if is_listed(old_item) else None, new if is_listed(new_item) else None)

        def write() -> None:
            table.transact(
                change(old_item, new_item, version="Version", refused=Stale()),
                *feed_counts.count_writes(table, left, entered),
                *feed_counts.end_note_writes(left, entered),
            )

        feed_counts.mending(table, write, left=left, entered=[entered] if entered else [])
        return new

    return table.retry(attempt, when=Stale, gave_up=Busy("Many editors are changing this deal. Try again."))


def find(table: Table, id_or_number: str, *, consistent: bool = False) -> Deal:
    """One deal, by its id or its short public number. One GetItem by id, two by number. Raises NoSuchDeal.

    ``consistent`` is for editors, who look for what they wrote a moment ago, and for what a write is based on.
    """
    return get(table, place_of(table, id_or_number, consistent=consistent).deal_id, consistent=consistent)


def get_many(table: Table, deal_ids: Sequence[str], *, consistent: bool = False) -> list[Deal]:
    """The deals of some ids that exist, in the order of the ids. BatchGetItem, 100 a request."""
    return readable(table.get_many([keys.deal(i) for i in deal_ids], consistent=consistent))


def withdraw(table: Table, deal_id: str, now: datetime, *, by: str | None = None) -> Deal:
    """Withdraw a deal: it leaves the feeds and stays readable. Raises NoSuchDeal."""
    return edit(table, deal_id, {"withdrawn_at": now}, now, by=by)


def make_hot(
    table: Table, deal_id: str, now: datetime, *, by: str | None = None, correlation_id: str | None = None
) -> Deal:
    """Mark an active deal as hot: every user is notified of it, once. Raises NoSuchDeal, DealIsOver."""

    def ask(old: Deal, _: Deal) -> None:
        if old.status(now) is not Status.ACTIVE:
            raise DealIsOver(deal_id)

    return edit(table, deal_id, {"hot_at": now}, now, by=by, correlation_id=correlation_id, ask=ask)


def create_many(table: Table, deals: Sequence[Deal], now: datetime) -> list[Deal]:
    """Create deals, in the transactions of ``batches``: of each, all of its deals or none.

    The brands' names are taken from the deals. Raises as ``create`` does.
    """
    found = batches(table, deals, now)
    for batch in found:
        create_batch(table, batch, now)
    return sorted(chain(*found), key=lambda deal: deal.number or 0)


def batches(table: Table, deals: Sequence[Deal], now: datetime) -> list[list[Deal]]:
    """Deals with the next numbers of the sequence, in parts that one transaction each creates; their brands exist.

    One UpdateItem however many deals, and a BatchGetItem for 100 brands. Raises NoSuchTopic, DealTooLarge, NotSeeded.
    """
    new = numbered(table, deals) if deals else []
    brands = {deal.brand: keys.topic(Topic(BRAND, deal.brand)) for deal in deals}
    known = {item["PK"] for item in table.get_many([*brands.values()], consistent=True, projection=KEYS_ONLY)}
    for brand, key in brands.items():
        if key["PK"] not in known:
            raise topics.no_such(Topic(BRAND, brand))
    # Deals of one category and brand together: a transaction writes each of their counts once.
    new.sort(key=lambda deal: (deal.status(now), deal.category, deal.brand))
    # A deal's own writes are its item, its number, its source, and perhaps the note of its end.
    own = [3 + (deal.ends_at is not None) for deal in new]
    counts = [frozenset(tuple(key.values()) for key, _ in feed_counts.counters(deal)) for deal in new]
    return [*bulk.together(zip(new, own, counts, strict=True))]


def create_batch(table: Table, deals: Sequence[Deal], now: datetime) -> None:
    """Create the deals of one of ``batches``: all, or none if one is refused. Raises DealExists."""
    sources = Counter(deal.source_id for deal in deals if deal.source_id is not None)
    for source_id, times in sources.items():
        # DynamoDB would call it an invalid transaction:
        # https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
        if times > 1:
            raise DealExists(source_id)
    feed_counts.mending(table, lambda: table.transact(*creation(deals, now)), entered=deals)


def by_source(table: Table, source_ids: Sequence[str]) -> dict[str, str]:
    """The ids of the deals that exist for some sources, by source id. BatchGetItem, 100 a request."""
    items = table.get_many([keys.deal_source(source_id) for source_id in source_ids], consistent=True)
    return {item["SourceId"]: item["DealId"] for item in items}


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
    item = {**keys.deal(deal.deal_id), "Type": keys.DEAL, **DEAL.write(deal)}
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
    """The fields of a deal whose values are invalid."""
    prices = {name for name in ("price", "list_price") if not AMOUNT.fullmatch(fields.get(name) or "0.00")}
    return prices | ({"category"} if fields.get("category") not in CATEGORIES else set())


def _check(deal: Deal, placed_as: str | None) -> None:
    """Refuse an invalid deal before a page shows it. Raises ValueError."""
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


class Place(NamedTuple):
    """What a deal's number points to: its id, its product's hash and its brand, so that a page reads all three at once.

    The last two are empty if only the id is known.
    """

    deal_id: str
    product: str = ""
    brand: str = ""


def place(deal: Deal) -> Place:
    """What a deal's number points to."""
    return Place(deal.deal_id, links.product_hash(deal.link), deal.brand)


_LEADS_TO = ("DealId", "Product", "Brand")


def place_of(table: Table, id_or_number: str, *, consistent: bool = False) -> Place:
    """What an id or a number points to, as of the deal's numbering. One GetItem for a number. Raises NoSuchDeal."""
    if identifiers.is_ksuid(id_or_number):
        return Place(id_or_number)
    if not (id_or_number.isascii() and id_or_number.isdigit() and len(id_or_number) <= 12):
        raise NoSuchDeal(id_or_number)
    pointer = table.get(keys.deal_number(int(id_or_number)), consistent=consistent)
    if pointer is None:
        raise NoSuchDeal(id_or_number)
    return damage.read(pointer, lambda each: Place(*(damage.attribute(each, name, str) for name in _LEADS_TO)))


def draw_numbers(table: Table, count: int) -> int:
    """Reserve ``count`` numbers; returns the first. Numbers of deals that are then refused are never used."""
    drawn = table.write(
        update(keys.deal_numbers(), "ADD LastNumber :n", values={":n": count}, refused=NotSeeded()),
        returning="UPDATED_NEW",
    )
    return int(drawn["LastNumber"]) - count + 1


def numbering(deal: Deal, number: int) -> Write:
    """The write that points a number to its deal. Refused with DealExists."""
    at = place(deal)
    item = {**keys.deal_number(number), "Type": keys.DEAL_NUMBER, "Number": number}
    return put_new(
        item | {"DealId": at.deal_id, "Product": at.product, "Brand": at.brand}, refused=DealExists(str(number))
    )
