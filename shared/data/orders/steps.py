"""The steps that orders take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from shared.data import keys
from shared.data.orders import reading, stock
from shared.data.orders.order_items import Telling, time_attribute, untold
from shared.dynamodb.table import Table
from shared.dynamodb.writes import Write, update
from shared.errors import DealsError, WrongStep
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
"""All steps there are. Only orders that are ``placed`` are open: they are still to be sent."""


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
    if order.status is status:
        return order
    if step is None or order.status is not step.after:
        raise WrongStep(order.order_id, order.status, status)
    new = replace(order, status=status, times={**order.times, status: now}, correlation_id=correlation_id)
    try:
        table.transact(
            _step(order, new), *(stock.give_back(_taken(order)) if step.gives_back else ()), *telling(new, now)
        )
    except _Moved:
        # Decide again on the order as it is now: it may have taken this very step, whose answer was lost.
        now_it_is = reading.get(table, order.username, order.order_id)
        return advance(table, now_it_is, status, now, correlation_id=correlation_id, telling=telling)
    return new


def _taken(order: Order) -> dict[tuple[str, int], int]:
    """The pieces that an order took, by deal and shard."""
    return {(item.deal_id, shard): pieces for item in order.items for shard, pieces in item.shards.items()}


def _step(old: Order, new: Order) -> Write:
    """The write by which an order takes a step. It leaves the open orders when it is sent or cancelled."""
    history = keys.order_in_history(new.username, new.status, new.placed_at, new.order_id)
    leaves = old.status is OrderStatus.PLACED
    request = {":request": new.correlation_id} if new.correlation_id else {}
    return update(
        keys.order(new.username, new.order_id),
        "SET #status = :status, #time = :time, GSI2SK = :history"
        + (", CorrelationId = :request" if request else "")
        + (" REMOVE GSI3PK, GSI3SK" if leaves else ""),
        condition="#status = :old",
        names={"#status": "Status", "#time": time_attribute(new.status)},
        values={
            ":status": new.status.value,
            ":old": old.status.value,
            ":time": to_iso(new.times[new.status]),
            ":history": history["GSI2SK"],
            **request,
        },
        refused=_Moved(),
    )
