"""Orders and their items in the table: numbers, partitions of open orders, and reads.

They copy everything that must not change with the deal or the address book. Numbers come from one sequence item, in
blocks of ten: an item takes 1,000 writes a second
(https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html), so 10,000 orders.
Unused numbers of a block are lost when its environment ends, so numbers are unique but have gaps, and aren't in the
order of placing.

An order is open until it is delivered. Open orders have an index partition by status, day and, for a rush, shard. A
container collection has a note for each partition with orders.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from itertools import chain, groupby, islice, takewhile
from operator import attrgetter
from threading import Lock
from typing import Any

from features.shop.data import addresses
from features.shop.data import keys as shop_keys
from features.shop.models import Customer, Order, OrderItem, OrderStatus, read_order_number
from shared.data import keys
from shared.dynamodb import damage
from shared.dynamodb.attributes import Codec, Entity, Item
from shared.dynamodb.schema import GSI1, GSI2, GSI3, Key
from shared.dynamodb.table import Projection, Table
from shared.dynamodb.writes import Write, delete, put, put_new, update
from shared.errors import AlreadyExists, DealsError, NoSuchUser, NotFound
from shared.models.catalog import Page, Period
from shared.values import identifiers
from shared.values.money import amount
from shared.values.times import from_iso, to_iso

BLOCK = 10
BEFORE_FIRST = 10_000
"""The number before the first one, so that numbers have five digits."""

_POINTER = Projection.of("PK", "SK", "OrderId")


class NoSuchOrder(NotFound):
    plain = "There is no such order."
    text = "There is no order {!r}."


class Numbers:
    """The numbers that this process has drawn but not used, by table."""

    def __init__(self) -> None:
        self._left: dict[str, list[int]] = {}
        self._lock = Lock()

    def next(self, table: Table) -> int:
        """An unused order number. One UpdateItem a block."""
        drawing = update(
            shop_keys.order_numbers(),
            "SET #type = :type, LastNumber = if_not_exists(LastNumber, :before) + :block",
            condition=None,  # the first order creates the sequence
            names={"#type": "Type"},
            values={":type": keys.SEQUENCE, ":before": BEFORE_FIRST, ":block": BLOCK},
            refused=None,
        )
        with self._lock:
            left = self._left.setdefault(table.name, [])
            if not left:
                last = int(table.write(drawing, returning="UPDATED_NEW")["LastNumber"])
                left += range(last, last - BLOCK, -1)
            return left.pop()


NUMBERS = Numbers()


def pointer(number: int, order_id: str) -> Write:
    """The write that maps a number to its order, for the order's transaction."""
    item = {**shop_keys.order_number(number), "Type": shop_keys.ORDER_NUMBER, "Number": number, "OrderId": order_id}
    return put_new(item, refused=AlreadyExists())


def order_id_of(table: Table, id_or_number: str) -> str:
    """An order's id, from its id or number. One GetItem for a number. Raises NoSuchOrder."""
    if identifiers.is_ksuid(id_or_number):
        return id_or_number
    number = read_order_number(id_or_number)
    found = None if number is None else table.get(shop_keys.order_number(number), consistent=True, projection=_POINTER)
    if found is None:
        raise NoSuchOrder(id_or_number)
    return damage.read(found, lambda item: damage.attribute(item, "OrderId", str))


OPEN = (OrderStatus.PLACED, OrderStatus.SHIPPED)
"""Statuses in which editors still have something to do: ship the order, or record its delivery."""

Notify = Callable[[Order, datetime], Sequence[Write]]
"""The message to an order's owner, written in the transaction of the order or step."""


def _amounts(stored: Mapping[str, str]) -> dict[str, str]:
    """Amounts by currency. Raises ValueError, TypeError."""
    return {currency: amount(each) for currency, each in dict(stored).items()}


_ORDER = Entity(
    Order,
    forms={
        "address": Codec(addresses.to_map, addresses.from_map),
        **dict.fromkeys(("shipping", "tax", "totals"), Codec(dict, _amounts)),
    },
    apart=frozenset({"username", "times", "items"}),  # sales lack it, an attribute each, other items
)

_ORDER_ITEM = Entity(
    OrderItem,
    forms={
        "price": Codec(str, amount),
        "shards": Codec(  # a map's keys are texts
            lambda shards: {str(shard): pieces for shard, pieces in shards.items()},
            lambda shards: {int(shard): pieces for shard, pieces in shards.items()},
        ),
    },
)

item_from_item = _ORDER_ITEM.read
"""Read an order's item."""


def to_item(order: Order) -> Item:
    """The Order item, with its places in the owner's orders by status and in the desk's list."""
    return {
        **shop_keys.order(order.username, order.order_id),
        **places(order),
        "Type": shop_keys.ORDER,
        "Username": order.username,
        **_ORDER.write(order),
        **{status.time_attribute: to_iso(when) for status, when in order.times.items()},
    }


def places(order: Order) -> Key:
    """The index keys of an order in its status."""
    return {
        **shop_keys.order_in_parts(order.order_id),
        **shop_keys.order_in_history(order.username, order.status, order.placed_at, order.order_id),
        **at_desk(order),
    }


def at_desk(order: Order) -> Key:
    """The index key of an order in the desk's list of its status."""
    if order.status not in OPEN:
        return shop_keys.order_in_closed(order.status, order.order_id)
    return shop_keys.order_in_open(order.status, open_day(order.order_id), order.open_shard, order.order_id)


def open_day(order_id: str) -> str:
    """The day under which an open order is filed, from its id."""
    return Period.DAY.start_of(identifiers.time_of(order_id))


def open_shard(order_id: str, shards: int) -> int:
    """The shard, from 1, of a new order among ``shards``."""
    return zlib.crc32(order_id.encode()) % shards + 1


def from_item(item: Item) -> Order:
    """Read an order without its items; a sale (an order of a removed account) has them."""
    attributes = {status: status.time_attribute for status in OrderStatus}
    reached = [status for status, name in attributes.items() if name in item or status is OrderStatus.PLACED]
    times = {status: from_iso(item[attributes[status]]) for status in reached}
    parts = tuple(map(item_from_item, item.get("Items", ())))
    username = damage.attribute({"Username": "", **item}, "Username", str)
    return _ORDER.read(item, username=username, times=times, items=parts)


def item_to_item(order: Order, item: OrderItem) -> Item:
    """The OrderItem item. It names the owner, so that an order can be found by its id alone."""
    return {
        **shop_keys.order_item(order.order_id, item.item_id),
        **shop_keys.order_item_in_parts(order.order_id, item.item_id),
        "Type": shop_keys.ORDER_ITEM,
        "OrderId": order.order_id,
        "Username": order.username,
        **_ORDER_ITEM.write(item),
    }


def key_of(order: Order) -> Key:
    """The key of an order, or of a sale."""
    return shop_keys.order(order.username, order.order_id) if order.username else shop_keys.sale(order.order_id)


def no_message(_order: Order, _now: datetime) -> Sequence[Write]:
    """No message."""
    return ()


def item_id(place: int) -> str:
    """The id of an order's item: its place, from 1."""
    return f"{place:03d}"


def item_keys(order_id: str, count: int) -> list[Key]:
    """The keys of an order's items in their order, from their number."""
    return [shop_keys.order_item(order_id, item_id(place)) for place in range(1, count + 1)]


FRESH = timedelta(days=1)
"""The age up to which a note serves another order; an older one is written again."""

SETTLED = timedelta(days=2)
"""The age at which a note of an empty partition is removed: its order is then at least a day old, so the index shows
it."""

MOST_DAYS = 10
"""Days that one run of the clock examines; later runs remove notes of further empty days."""

NOTES_ARE_KEPT = timedelta(minutes=1)
"""How long a function remembers where a day's open orders are noted."""

_PLACE = Projection.of("PK", "SK", "GSI3SK")

_known: dict[tuple[str, str], datetime] = {}
"""When a note was last seen, by table and partition: in a rush each order would read it from one partition."""


class _KnownAgain(DealsError):
    """The note was written again since it was read."""


def open_orders(
    table: Table, now: datetime, *, status: OrderStatus = OrderStatus.PLACED, limit: int, cursor: str | None = None
) -> Page[Order]:
    """A page of the open orders in a status, oldest first, without items. Raises InvalidCursor.

    Two round trips: the container names the partitions with orders.
    """
    scope = f"open orders/{status}"
    after = identifiers.read_cursor(scope, cursor) if cursor is not None else None
    first_day = "" if after is None else Period.DAY.start_of(identifiers.time_of(after))
    days = [(day, notes) for day, notes in _by_day(table, status) if day >= first_day]
    found: list[Order] = []
    while days and len(found) <= limit:
        together, days = days[: limit + 1], days[limit + 1 :]
        bounds = {
            day: shop_keys.open_order_sort_key(after) if after and day == first_day else None for day, _ in together
        }
        reads = [
            partial(_open_in, table, note, bounds[day], limit + 1, now) for day, notes in together for note in notes
        ]
        found += sorted(chain.from_iterable(table.gather(reads)), key=attrgetter("order_id"))
    return Page(tuple(found[:limit]), identifiers.next_cursor(scope, [each.order_id for each in found], limit))


def waiting_since(table: Table, now: datetime) -> datetime | None:
    """When the oldest unshipped order was placed, or None, for the clock.

    A Query of the container and of each day's partitions until one has an order: usually the first, because empty ones
    are removed. The index key has the time, so no buyer's data is read.
    """
    for _, notes in _by_day(table, OrderStatus.PLACED)[:MOST_DAYS]:
        firsts = [islice(_shown_in(table, note, now, page_size=1, projection=_PLACE), 1) for note in notes]
        oldest = damage.readable(chain(*firsts), lambda item: identifiers.time_of(keys.id_in(item["GSI3SK"])))
        if oldest:
            return min(oldest)
    return None


def know(table: Table, status: OrderStatus, order_id: str, shard: int, now: datetime) -> None:
    """Note that a partition has orders, before the order is written; a needless note costs an empty read.

    A count in each order's transaction would be one item for all buyers of a rush. A note is written once a day, and a
    function that has seen it doesn't read it again for a minute.
    """
    key = shop_keys.open_orders_note(status, open_day(order_id), shard)
    place = (table.name, key["SK"])
    if (seen := _known.get(place)) is not None and seen <= now < seen + NOTES_ARE_KEPT:
        return
    note = table.get(key)
    known_at = damage.read_or(note, _known_at, otherwise=None) if note else None
    if known_at is None or known_at <= now - FRESH:
        note = {**key, "Type": shop_keys.OPEN_ORDERS, "KnownAt": to_iso(now)}
        table.write(put(note, because="who else notes it means the same"))
    _known[place] = now


def _by_day(table: Table, status: OrderStatus) -> list[tuple[str, list[Item]]]:
    """The notes of a status by day, oldest first. One Query."""
    notes = table.query(shop_keys.open_orders(), prefix=shop_keys.open_orders_prefix(status))
    return [(day, list(those)) for day, those in groupby(notes, key=lambda note: shop_keys.open_orders_noted(note)[0])]


def _known_at(note: Item) -> datetime:
    return from_iso(note["KnownAt"])


def _open_in(table: Table, note: Item, after: str | None, limit: int, now: datetime) -> list[Order]:
    """A partition's oldest orders after one."""
    shown = _shown_in(table, note, now, after=after, page_size=limit)
    return list(islice((order for item in shown for order in damage.readable([item], from_item)), limit))


def _shown_in(
    table: Table,
    note: Item,
    now: datetime,
    *,
    page_size: int,
    after: str | None = None,
    projection: Projection | None = None,
) -> Iterator[Item]:
    """A partition's orders, oldest first. The note of an old partition that has none is removed."""
    _, partition = shop_keys.open_orders_noted(note)
    items = table.query(partition, index=GSI3, after=after, page_size=page_size, projection=projection)
    first = next(items, None)
    if first is not None:
        yield first
        yield from items
    elif after is None and damage.read_or(note, _known_at, otherwise=now) <= now - SETTLED:
        seen = {":seen": note["KnownAt"]}
        with suppress(_KnownAgain):
            table.write(delete(keys.primary(note), condition="KnownAt = :seen", values=seen, refused=_KnownAgain()))


_OWNER = Projection.of("PK", "SK", "Username")


def get(table: Table, username: str, id_or_number: str) -> Order:
    """A user's current order with its items, by id or number. Raises NoSuchOrder.

    One round trip: the order from the table, and in parallel its items from GSI1.
    """
    order_id = order_id_of(table, id_or_number)
    itself = partial(table.get, shop_keys.order(username, order_id), consistent=True)
    reads: list[Callable[[], Any]] = [itself, partial(_parts, table, order_id)]
    item, (_, parts) = table.gather(reads)
    if item is None:
        raise NoSuchOrder(order_id)
    return _whole(table, item, parts)


def find(table: Table, id_or_number: str) -> Order:
    """Any user's order with its items, for editors, by id or number. Raises NoSuchOrder.

    One Query of GSI1. If the index lags, the order's first item names its owner. For a removed account it is the sale.
    """
    order_id = order_id_of(table, id_or_number)
    order, parts = _parts(table, order_id)
    if order is not None:
        return _whole(table, order, parts)
    first = table.get_many(item_keys(order_id, 1), consistent=True, projection=_OWNER)
    if not first:
        return sale(table, order_id)
    return get(table, damage.read(first[0], lambda item: damage.attribute(item, "Username", str)), order_id)


def sale(table: Table, order_id: str) -> Order:
    """A sale: what remains of a removed account's order. Raises NoSuchOrder."""
    item = table.get(shop_keys.sale(order_id), consistent=True)
    if item is None:
        raise NoSuchOrder(order_id)
    return damage.read(item, from_item)


def as_it_is(table: Table, order: Order) -> Order:
    """The current state of an order, even if its account was removed meanwhile. Raises NoSuchOrder."""
    if order.username:
        with suppress(NoSuchOrder):
            return get(table, order.username, order.order_id)
    return sale(table, order.order_id)


def _parts(table: Table, order_id: str) -> tuple[Item | None, list[Item]]:
    """An order, or None, and its items in GSI1. One Query."""
    shown = list(table.query(shop_keys.order_parts(order_id), index=GSI1))
    order = next((part for part in shown if part.get("Type") == shop_keys.ORDER), None)
    return order, [part for part in shown if part.get("Type") == shop_keys.ORDER_ITEM]


def _whole(table: Table, item: Item, parts: Iterable[Item]) -> Order:
    """An order with its items. Those missing from the index are read by their keys, which follow from the order's
    count."""
    order = damage.read(item, from_item)
    found = {part["PK"]: part for part in parts}
    missing = [key for key in item_keys(order.order_id, order.item_count) if key["PK"] not in found]
    if missing:
        found |= {part["PK"]: part for part in table.get_many(missing, consistent=True)}
    return replace(order, items=tuple(damage.read(found[each], item_from_item) for each in sorted(found)))


def customer(table: Table, username: str, *, newest: int = 5) -> Customer:
    """A user and the newest orders. One Query of the user's collection, backward. Raises NoSuchUser."""
    items = list(table.query(keys.user(username)["PK"], newest_first=True, limit=newest + 1, consistent=True))
    if not items or items[0].get("Type") != keys.USER:
        raise NoSuchUser(username)
    user, *orders = items
    name, known = damage.read(user, lambda item: (damage.attribute(item, "Name", str), addresses.from_user(item)))
    return Customer(username, name, known, tuple(damage.readable(orders, from_item)))


def latest(
    table: Table,
    username: str,
    *,
    limit: int,
    cursor: str | None = None,
    status: OrderStatus | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> Page[Order]:
    """A page of a user's orders without items, newest first; both bounds are inclusive. Raises InvalidCursor."""
    scope = f"orders/{username}/{status or 'all'}"
    before = identifiers.read_cursor(scope, cursor) if cursor is not None else None
    if before is None and until is not None:
        before = _lowest_after(until)
    if status is None:
        read = partial(
            table.query, keys.user(username)["PK"], after=shop_keys.order_sort_key(before or "~"), consistent=True
        )
    else:
        place = () if before is None else (identifiers.time_of(before), before)
        read = partial(
            table.query, shop_keys.order_history(username), index=GSI2, after=shop_keys.history_before(status, *place)
        )

    def is_asked_for(order: Order) -> bool:
        return status in (None, order.status) and (since is None or order.placed_at >= since)

    items = read(newest_first=True, page_size=limit + 1)
    orders = (order for item in items for order in damage.readable([item], from_item))
    found = list(islice(takewhile(is_asked_for, orders), limit + 1))
    return Page(tuple(found[:limit]), identifiers.next_cursor(scope, [each.order_id for each in found], limit))


def closed(table: Table, status: OrderStatus, *, limit: int, cursor: str | None = None) -> Page[Order]:
    """A page of all orders in a final status, for editors, the last placed first. Raises InvalidCursor.

    They share one partition of GSI3, which takes 1,000 deliveries a second.
    """
    scope = f"closed orders/{status}"
    before = shop_keys.open_order_sort_key("~" if cursor is None else identifiers.read_cursor(scope, cursor))
    shown = table.query(
        shop_keys.closed_orders_of(status), index=GSI3, after=before, newest_first=True, limit=limit + 1
    )
    found = damage.readable(shown, from_item)
    return Page(tuple(found[:limit]), identifiers.next_cursor(scope, [each.order_id for each in found], limit))


def filled(table: Table, orders: Sequence[Order]) -> list[Order]:
    """Orders with their items, read by key, without orders that have a damaged item. BatchGetItem, 100 items a
    request."""
    # A sale holds its items.
    parts = {each.order_id: [] if each.items else item_keys(each.order_id, each.item_count) for each in orders}
    found = {part["PK"]: part for part in table.get_many(list(chain.from_iterable(parts.values())))}

    def fill(order: Order) -> Order:
        own = [found[key["PK"]] for key in parts[order.order_id] if key["PK"] in found]
        return replace(order, items=tuple(damage.read(part, item_from_item) for part in own) or order.items)

    return list(damage.each(orders, fill, attrgetter("order_id")))


def begun(table: Table, orders: Sequence[Order], most: int) -> list[Order]:
    """Orders with their first items, at most ``most`` of each and without damaged ones. BatchGetItem, 100 items a
    request."""
    parts = [item_keys(each.order_id, min(each.item_count, most)) for each in orders]
    found = {part["PK"]: part for part in table.get_many(list(chain.from_iterable(parts)))}
    own = ([found[key["PK"]] for key in keys_of_order if key["PK"] in found] for keys_of_order in parts)
    return [
        replace(order, items=tuple(damage.readable(items, item_from_item)))
        for order, items in zip(orders, own, strict=True)
    ]


def _lowest_after(time: datetime) -> str | None:
    """The lowest id after a second; before the first id that one, and None after the last."""
    second = timedelta(seconds=1)
    if time >= identifiers.END - second:
        return None
    return identifiers.random(max(time + second, identifiers.EPOCH), bytes(16))
