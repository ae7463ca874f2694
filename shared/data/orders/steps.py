"""The steps that orders take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from shared.data import account_checks, keys
from shared.data.orders import open_orders, reading, stock
from shared.data.orders.order_items import OPEN, Telling, at_desk, key_of, time_attribute, untold
from shared.dynamodb.table import Table
from shared.dynamodb.writes import Write, update
from shared.errors import DealsError, TooLateToUndo, WrongStep
from shared.models.orders import Order, OrderStatus
from shared.values.times import to_iso


@dataclass(frozen=True, slots=True)
class Step:
    """A step of an order: the status before it, and whether the stock is given back."""

    after: OrderStatus
    gives_back: bool = False


STEPS: Mapping[OrderStatus, Step] = {
    OrderStatus.SHIPPED: Step(after=OrderStatus.PLACED),
    OrderStatus.DELIVERED: Step(after=OrderStatus.SHIPPED),
    OrderStatus.CANCELLED: Step(after=OrderStatus.PLACED, gives_back=True),
}
"""All steps there are."""


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

    A step is one conditional write, so of two that exclude each other one wins and the other is refused. Cancelling
    gives the stock back in the same transaction.
    """
    step = STEPS.get(status)
    if step is None or order.status is not step.after:  # what was read may be older than the order is
        order = reading.as_it_is(table, order)
    if order.status is status:
        return order
    if step is None or order.status is not step.after:
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
            *(stock.give_back(_taken(order)) if step.gives_back else ()),
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
    step = STEPS[status]
    if taken.status is step.after:
        return taken
    if taken.status is not status or not can_undo(taken, now):
        raise TooLateToUndo
    times = {each: when for each, when in taken.times.items() if each is not status}
    back = replace(taken, status=step.after, times=times, correlation_id=correlation_id)
    open_orders.know(table, back.status, back.order_id, back.open_shard, now)
    pieces = [write for item in taken.items for write in stock.take(item.deal_id, item.shards)]
    try:
        table.transact(
            _step(taken, back),
            *([account_checks.ordered(back.username)] if back.status is OrderStatus.PLACED else ()),
            *(pieces if step.gives_back else ()),
            *telling(taken, now),
        )
    except (_Moved, stock.Short) as error:
        raise TooLateToUndo from error
    return back


def can_undo(order: Order, now: datetime) -> bool:
    """Whether the last step of an order was taken within the last minute, and its account is still there."""
    return bool(order.username) and order.status in STEPS and now - order.times[order.status] <= UNDO_WITHIN


def _taken(order: Order) -> dict[tuple[str, int], int]:
    """The pieces that an order took, by deal and shard."""
    return {(item.deal_id, shard): pieces for item in order.items for shard, pieces in item.shards.items()}


def _step(old: Order, new: Order) -> Write:
    """The write by which an order takes a step, or takes it back: it is in the lists of its new status then.

    What stays of an order whose account was removed is in nobody's history, and loses its address when it is delivered.
    """
    history = keys.order_in_history(new.username, new.status, new.placed_at, new.order_id)
    kept = {":history": history["GSI2SK"]} if new.username else {}
    place = {f":{name}": value for name, value in at_desk(new).items()}
    request = {":request": new.correlation_id} if new.correlation_id else {}
    goes_back = new.status in old.times
    step = old.status if goes_back else new.status
    removed = [*(["#time"] if goes_back else []), *([] if new.username else ["Address"])]
    return update(
        key_of(new),
        "SET #status = :status, GSI3PK = :GSI3PK, GSI3SK = :GSI3SK"
        + ("" if goes_back else ", #time = :time")
        + (", GSI2SK = :history" if kept else "")
        + (", CorrelationId = :request" if request else "")
        + (f" REMOVE {', '.join(removed)}" if removed else ""),
        # It goes back only from this very step, and not from a later one to the same status.
        condition="#status = :old AND #time = :time" if goes_back else "#status = :old",
        names={"#status": "Status", "#time": time_attribute(step)},
        values={
            ":status": new.status.value,
            ":old": old.status.value,
            ":time": to_iso((old if goes_back else new).times[step]),
            **kept,
            **request,
            **place,
        },
        refused=_Moved(),
    )
