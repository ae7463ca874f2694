"""The steps that orders take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from shared.data import account_checks, keys
from shared.data.orders import open_orders, reading, stock
from shared.data.orders.order_items import OPEN, Telling, at_desk, key_of, time_attribute, untold
from shared.dynamodb.table import Table
from shared.dynamodb.writes import Write, assign
from shared.errors import DealsError, TooLateToUndo, WrongStep
from shared.models.orders import Order, OrderStatus
from shared.values.times import to_iso

STEPS: Mapping[OrderStatus, OrderStatus] = {
    OrderStatus.SHIPPED: OrderStatus.PLACED,
    OrderStatus.DELIVERED: OrderStatus.SHIPPED,
    OrderStatus.CANCELLED: OrderStatus.PLACED,
}
"""All steps there are, each with the status before it."""

UNDO_WITHIN = timedelta(minutes=1)
"""Time in which a step can be taken back."""


class _Moved(DealsError):
    """The order changed since it was read."""


def advance(
    table: Table,
    order: Order,
    status: OrderStatus,
    now: datetime,
    *,
    correlation_id: str | None = None,
    telling: Telling = untold,
) -> Order:
    """Move an order to a status; one that has it already is left as it is. Raises WrongStep, NoSuchOrder.

    A step is one conditional write, so of two that exclude each other one wins and the other is refused.
    """
    before = STEPS.get(status)
    if order.status is not before:  # the order may have changed since it was read
        order = reading.as_it_is(table, order)
    if order.status is status:
        return order
    if order.status is not before:
        raise WrongStep(order.order_id, order.status, status)
    if status in OPEN:
        open_orders.know(table, status, order.order_id, order.open_shard, now)
    new = replace(order, status=status, times={**order.times, status: now}, correlation_id=correlation_id)
    if not order.username:  # its account was removed: nobody needs to know any longer where it went
        new = replace(new, address=None)
    try:
        table.transact(
            _step(order, new),
            *([account_checks.ordered(order.username, more=-1)] if order.status is OrderStatus.PLACED else ()),
            *(stock.give_back(order.items) if status is OrderStatus.CANCELLED else ()),
            *(telling(new, now) if new.username else ()),
        )
    except _Moved:
        # Decide again on the order as it is now: it may have taken this very step, whose answer was lost, or its
        # account may have been removed.
        now_it_is = reading.as_it_is(table, order)
        return advance(table, now_it_is, status, now, correlation_id=correlation_id, telling=telling)
    return new


def undo(
    table: Table,
    order: Order,
    status: OrderStatus,
    now: datetime,
    *,
    correlation_id: str | None = None,
    telling: Telling = untold,
) -> Order:
    """Take back the step to a status, within a minute of it. Raises TooLateToUndo, NoSuchOrder.

    A cancelled order takes its pieces again, from the shards that they were given back to: it is too late once others
    have bought them. ``telling`` is given the order as it was.
    """
    taken = reading.as_it_is(table, order)
    if taken.status is STEPS[status]:
        return taken
    if taken.status is not status or not can_undo(taken, now):
        raise TooLateToUndo
    times = {each: when for each, when in taken.times.items() if each is not status}
    back = replace(taken, status=STEPS[status], times=times, correlation_id=correlation_id)
    open_orders.know(table, back.status, back.order_id, back.open_shard, now)
    try:
        table.transact(
            _step(taken, back),
            *([account_checks.ordered(back.username)] if back.status is OrderStatus.PLACED else ()),
            *(stock.take(taken.items) if status is OrderStatus.CANCELLED else ()),
            *telling(taken, now),
        )
    except (_Moved, stock.Short) as error:
        raise TooLateToUndo from error
    return back


def can_undo(order: Order, now: datetime) -> bool:
    """Whether the last step of an order was taken within the last minute, and its account is still there."""
    return bool(order.username) and order.status in STEPS and now - order.times[order.status] <= UNDO_WITHIN


def _step(old: Order, new: Order) -> Write:
    """The write by which an order takes a step, or takes it back: it is in the lists of its new status then.

    What stays of an order whose account was removed is in nobody's history, and loses its address when it is delivered.
    """
    goes_back = new.status in old.times
    step = time_attribute(old.status if goes_back else new.status)
    left: dict[str, str | None] = {"Status": new.status.value, **at_desk(new)}
    left[step] = None if goes_back else to_iso(new.times[new.status])
    if new.username:
        left["GSI2SK"] = keys.order_in_history(new.username, new.status, new.placed_at, new.order_id)["GSI2SK"]
    else:
        left["Address"] = None
    if new.correlation_id:
        left["CorrelationId"] = new.correlation_id
    return assign(
        key_of(new),
        left,
        # It goes back only from this very step, and not from a later one to the same status.
        condition="#status = :old AND #time = :time" if goes_back else "#status = :old",
        names={"#status": "Status", **({"#time": step} if goes_back else {})},
        values={":old": old.status.value, **({":time": to_iso(old.times[old.status])} if goes_back else {})},
        refused=_Moved(),
    )
