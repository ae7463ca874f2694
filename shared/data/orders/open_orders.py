"""The orders that are still to be sent or delivered, and the container that knows where there are any.

In the index an order's partition is one of its status, of the day it was placed and, where a rush needs more than one
partition takes, of one of several shards. The container is a collection with a note for each partition that has orders.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from itertools import chain, groupby, islice
from operator import attrgetter

from shared import settings
from shared.data import item_types, keys
from shared.data.orders.order_items import from_item, open_day
from shared.dynamodb import cursors, damage
from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import GSI3
from shared.dynamodb.table import Projection, Table
from shared.dynamodb.writes import delete, put
from shared.errors import DealsError
from shared.models.catalog import Page, Period
from shared.models.orders import Order, OrderStatus
from shared.values import identifiers
from shared.values.times import from_iso, to_iso

FRESH = timedelta(days=1)
"""Age up to which a note is good enough for another order. An older one is written again."""

SETTLED = timedelta(days=2)
"""Age of a note at which its partition, if it shows no order, has none: what the note was written for is a day old at
least, and the index shows it by then."""

MOST_DAYS = 10
"""Days that the clock looks at in one run; the next runs forget further days without an open order."""

_PLACE = Projection.of("PK", "SK", "GSI3SK")

_known: dict[tuple[str, str], datetime] = {}
"""When a note was last seen, by table and partition: a rush would read it with each order, all from one partition."""


class _KnownAgain(DealsError):
    """The note was written again since it was read."""


def read(
    table: Table, now: datetime, *, status: OrderStatus = OrderStatus.PLACED, limit: int, cursor: str | None = None
) -> Page[Order]:
    """A page of the orders of an open status, oldest first, without their items. Raises InvalidCursor.

    Two round trips: the container knows the partitions that have any.
    """
    scope = f"open orders/{status}"
    after = cursors.decode(scope, cursor) if cursor is not None else None
    first_day = "" if after is None else Period.DAY.start_of(identifiers.time_of(after))
    days = [(day, notes) for day, notes in _by_day(table, status) if day >= first_day]
    found: list[Order] = []
    while days and len(found) <= limit:
        together, days = days[: limit + 1], days[limit + 1 :]
        bounds = {day: keys.open_order_sort_key(after) if after and day == first_day else None for day, _ in together}
        reads = [
            partial(_open_in, table, note, bounds[day], limit + 1, now) for day, notes in together for note in notes
        ]
        found += sorted(chain.from_iterable(table.gather(reads)), key=attrgetter("order_id"))
    page = tuple(found[:limit])
    return Page(page, cursors.encode(scope, page[-1].order_id) if len(found) > limit else None)


def waiting_since(table: Table, now: datetime) -> datetime | None:
    """When the order that has waited longest to be sent was placed; None where none waits. For the clock.

    A Query of the container, and of each day's partitions until one has an order: usually the first, for those that
    have none left are forgotten. Its place in the index says the time, so nothing of its buyer is read.
    """
    for _, notes in _by_day(table, OrderStatus.PLACED)[:MOST_DAYS]:
        firsts = [islice(_shown_in(table, note, now, page_size=1, projection=_PLACE), 1) for note in notes]
        oldest = damage.readable(chain(*firsts), lambda item: identifiers.time_of(keys.id_in(item["GSI3SK"])))
        if oldest:
            return min(oldest)
    return None


def know(table: Table, status: OrderStatus, order_id: str, shard: int, now: datetime) -> None:
    """Note that an order's partition has some, before it comes in: a note too many is only an empty read.

    A count in each order's transaction would be one item in which all buyers of a rush meet; a note is written once a
    day, and a function that has seen it does not ask for it again for a minute.
    """
    key = keys.open_orders_note(status, open_day(order_id), shard)
    place = (table.name, key["SK"])
    if (seen := _known.get(place)) is not None and seen <= now < seen + settings.NOTES_ARE_KEPT:
        return
    note = table.get(key)
    known_at = damage.read_or(note, _known_at, otherwise=None) if note else None
    if known_at is None or known_at <= now - FRESH:
        note = {**key, "Type": item_types.OPEN_ORDERS, "KnownAt": to_iso(now)}
        table.write(put(note, because="who else notes it means the same"))
    _known[place] = now


def _by_day(table: Table, status: OrderStatus) -> list[tuple[str, list[Item]]]:
    """The notes of a status, day by day, oldest first. One Query."""
    notes = table.query(keys.open_orders(), prefix=keys.open_orders_prefix(status))
    return [(day, list(those)) for day, those in groupby(notes, key=lambda note: keys.open_orders_noted(note)[0])]


def _known_at(note: Item) -> datetime:
    return from_iso(note["KnownAt"])


def _open_in(table: Table, note: Item, after: str | None, limit: int, now: datetime) -> list[Order]:
    """The oldest orders of a partition behind one."""
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
    """The orders of a partition, oldest first. It is forgotten if it has none, nor any that the index does not show."""
    _, partition = keys.open_orders_noted(note)
    items = table.query(partition, index=GSI3, after=after, page_size=page_size, projection=projection)
    first = next(items, None)
    if first is not None:
        yield first
        yield from items
    elif after is None and damage.read_or(note, _known_at, otherwise=now) <= now - SETTLED:
        seen = {":seen": note["KnownAt"]}
        with suppress(_KnownAgain):
            table.write(delete(keys.primary(note), condition="KnownAt = :seen", values=seen, refused=_KnownAgain()))
