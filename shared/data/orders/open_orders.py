"""The orders that are still to be sent, and the container that knows the days that have any."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial

from shared.data import item_types, keys
from shared.data.orders.order_items import from_item
from shared.dynamodb import cursors
from shared.dynamodb.schema import GSI3
from shared.dynamodb.table import Projection, Table
from shared.dynamodb.writes import update
from shared.models.catalog import Period
from shared.models.lists import Page
from shared.models.orders import Order
from shared.values import ksuids

SETTLED = timedelta(days=2)
"""Age of a day to which no order is added any more, and which the index shows completely."""

MOST_DAYS = 10
"""Days that the clock looks at in one run; the next runs forget further days without an open order."""

_DAYS = Projection.of("PK", "SK", "Days")
_ID = Projection.of("OrderId")


def read(table: Table, now: datetime, *, limit: int, cursor: str | None = None) -> Page[Order]:
    """A page of the orders that are still to be sent, oldest first, without their items. Raises InvalidCursor.

    Two round trips: the container knows the days that have any. A day that turns out to have none is forgotten.
    """
    after = cursors.decode("open orders", cursor) if cursor is not None else None
    first_day = "" if after is None else Period.DAY.start_of(ksuids.time_of(after))
    container = table.get(keys.open_orders(), projection=_DAYS) or {}
    days = [day for day in sorted(container.get("Days", ())) if day >= first_day]
    found: list[Order] = []
    while days and len(found) <= limit:
        together, days = days[: limit + 1], days[limit + 1 :]
        bounds = {day: keys.open_order_sort_key(after) if after and day == first_day else None for day in together}
        answers = table.gather(
            [partial(_open_on, table, day, after=bound, limit=limit + 1) for day, bound in bounds.items()]
        )
        for (day, bound), orders in zip(bounds.items(), answers, strict=True):
            if not orders and bound is None:
                _forget_settled(table, day, now)
            found += orders
    page = tuple(found[:limit])
    return Page(page, cursors.encode("open orders", page[-1].order_id) if len(found) > limit else None)


def waiting_since(table: Table, now: datetime) -> datetime | None:
    """When the open order that waits longest was placed; None where none is open. For the clock.

    A GetItem of the container and a Query of each day until one has an order: usually the first, for a day that has
    none left is forgotten. Its id says the time, so nothing of its buyer is read.
    """
    container = table.get(keys.open_orders(), projection=_DAYS) or {}
    for day in sorted(container.get("Days", ()))[:MOST_DAYS]:
        for item in table.query(keys.open_orders_of(day), index=GSI3, limit=1, projection=_ID):
            return ksuids.time_of(item["OrderId"])
        _forget_settled(table, day, now)
    return None


def know_day(table: Table, day: str) -> None:
    """Write down in the container that a day has open orders, before its first: a day too many is only an empty read.

    A count in each order's transaction would be one item in which all buyers of a rush meet; a day is written once.
    """
    known = table.get(keys.open_orders(), projection=_DAYS)
    if known is None or day not in known.get("Days", ()):
        write = update(
            keys.open_orders(),
            "SET #type = :type ADD #days :day",
            condition=None,  # the first order of all makes the container
            names={"#type": "Type", "#days": "Days"},
            values={":type": item_types.OPEN_ORDERS, ":day": {day}},
            refused=None,
        )
        table.write(write)


def _open_on(table: Table, day: str, *, after: str | None, limit: int) -> list[Order]:
    return [from_item(item) for item in table.query(keys.open_orders_of(day), index=GSI3, after=after, limit=limit)]


def _forget_settled(table: Table, day: str, now: datetime) -> None:
    """Forget a day that has no open order, once none can be added."""
    if day >= Period.DAY.start_of(now - SETTLED):
        return
    table.write(
        update(
            keys.open_orders(),
            "DELETE #days :day",
            condition=None,  # nobody adds to a day that is settled
            names={"#days": "Days"},
            values={":day": {day}},
            refused=None,
        )
    )
