"""Order statuses: changes, messages about them, and what remains of a removed account's orders.

A shipped order is still on its way, and its pieces are in the books. So when its account is removed it stays as a sale:
with name and address until delivery, then without. A cancelled order is deleted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import chain

from features.shop.data import keys as shop_keys
from features.shop.data import order_items, stock
from features.shop.data.order_items import OPEN, Notify, at_desk, item_keys, key_of, no_message
from features.shop.models import Order, OrderStatus
from shared.data import account_checks, keys
from shared.data.members import messages
from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import GSI3, INDEX_KEYS, KEYS
from shared.dynamodb.table import Table
from shared.dynamodb.writes import Write, assign, delete, forget, put, put_new
from shared.errors import AlreadyExists, Conflict, DealsError, TooLateToUndo
from shared.models.messages import AboutOther, Announcement
from shared.values import money
from shared.values.naming import counted
from shared.values.times import to_iso

STEPS: Mapping[OrderStatus, OrderStatus] = {
    OrderStatus.SHIPPED: OrderStatus.PLACED,
    OrderStatus.DELIVERED: OrderStatus.SHIPPED,
    OrderStatus.CANCELLED: OrderStatus.PLACED,
}
"""The possible new statuses, each with the status before it."""

UNDO_WITHIN = timedelta(minutes=1)
"""How long a step can be undone."""


class WrongStep(Conflict):
    field = "status"

    def __init__(self, order_id: str, status: str, wanted: str) -> None:
        self.status = status
        super().__init__(f"The order {order_id!r} is {status}: it cannot become {wanted}.")


class _Moved(DealsError):
    """The order has changed since it was read."""


def advance(
    table: Table,
    order: Order,
    status: OrderStatus,
    now: datetime,
    *,
    correlation_id: str | None = None,
    notify: Notify = no_message,
) -> Order:
    """Move an order to a status; one that has it already stays as it is. Raises WrongStep, NoSuchOrder.

    One conditional write, so only one of two conflicting steps succeeds.
    """
    before = STEPS.get(status)
    if order.status is not before:  # the order may have changed since it was read
        order = order_items.as_it_is(table, order)
    if order.status is status:
        return order
    if order.status is not before:
        raise WrongStep(order.order_id, order.status, status)
    if status in OPEN:
        order_items.know(table, status, order.order_id, order.open_shard, now)
    new = replace(order, status=status, times={**order.times, status: now}, correlation_id=correlation_id)
    if not order.username:  # a sale: its address is no longer needed
        new = replace(new, address=None)
    try:
        table.transact(
            _step(order, new),
            *(
                [account_checks.held("OpenOrders", order.username, more=-1)]
                if order.status is OrderStatus.PLACED
                else ()
            ),
            *(stock.give_back(order.items) if status is OrderStatus.CANCELLED else ()),
            *(notify(new, now) if new.username else ()),
        )
    except _Moved:
        # Decide again on the current order: it may have taken this very step (a lost answer), or its account may have
        # been removed.
        now_it_is = order_items.as_it_is(table, order)
        return advance(table, now_it_is, status, now, correlation_id=correlation_id, notify=notify)
    return new


def undo(
    table: Table,
    order: Order,
    status: OrderStatus,
    now: datetime,
    *,
    correlation_id: str | None = None,
    notify: Notify = no_message,
) -> Order:
    """Undo the step to a status, within a minute of it. Raises TooLateToUndo, NoSuchOrder.

    A cancelled order takes its pieces from the same shards again; that fails if others have bought them. ``notify`` is
    given the order as it was.
    """
    taken = order_items.as_it_is(table, order)
    if taken.status is STEPS[status]:
        return taken
    if taken.status is not status or not can_undo(taken, now):
        raise TooLateToUndo
    times = {each: when for each, when in taken.times.items() if each is not status}
    back = replace(taken, status=STEPS[status], times=times, correlation_id=correlation_id)
    order_items.know(table, back.status, back.order_id, back.open_shard, now)
    try:
        table.transact(
            _step(taken, back),
            *([account_checks.held("OpenOrders", back.username)] if back.status is OrderStatus.PLACED else ()),
            *(stock.take(taken.items) if status is OrderStatus.CANCELLED else ()),
            *notify(taken, now),
        )
    except stock.Short as error:
        raise TooLateToUndo from error
    except _Moved:  # perhaps by another request to undo it
        return undo(table, order, status, now, correlation_id=correlation_id, notify=notify)
    return back


def can_undo(order: Order, now: datetime) -> bool:
    """Whether an order's last step is at most a minute old, and its account still exists."""
    return bool(order.username) and order.status in STEPS and now - order.times[order.status] <= UNDO_WITHIN


def _step(old: Order, new: Order) -> Write:
    """The write of a step, done or undone, which also moves the order to its new status's lists.

    A sale is in no account's history, and loses its address on delivery.
    """
    goes_back = new.status in old.times
    step = (old.status if goes_back else new.status).time_attribute
    left: dict[str, str | None] = {"Status": new.status.value, **at_desk(new)}
    left[step] = None if goes_back else to_iso(new.times[new.status])
    if new.username:
        left["GSI2SK"] = shop_keys.order_in_history(new.username, new.status, new.placed_at, new.order_id)["GSI2SK"]
    else:
        left["Address"] = None
    if new.correlation_id:
        left["CorrelationId"] = new.correlation_id
    return assign(
        key_of(new),
        left,
        # Undo only this very step, and not a later one to the same status.
        condition="#status = :old AND #time = :time" if goes_back else "#status = :old",
        names={"#status": "Status", **({"#time": step} if goes_back else {})},
        values={":old": old.status.value, **({":time": to_iso(old.times[old.status])} if goes_back else {})},
        refused=_Moved(),
    )


_OF_OWNER = {"Username", "CorrelationId"}
_AT_DESK = {GSI3.partition_key, GSI3.sort_key}
"""The keys of the desk's index; no other index has a sale."""


class _MovedMeanwhile(DealsError):
    """The order was delivered meanwhile, or another run of the removal was first."""


def close_some(table: Table, username: str, most: int, *, required: Write) -> int:
    """Close at most ``most`` orders of a user who has none to be shipped; returns how many.

    One transaction each, so an order is either its owner's or a sale.
    """
    collection = keys.user(username)["PK"]
    above = shop_keys.order_sort_key("~")
    found = list(table.query(collection, after=above, newest_first=True, limit=most, consistent=True))
    parts = {order["OrderId"]: item_keys(order["OrderId"], order["ItemCount"]) for order in found}
    items = {item["PK"]: item for item in table.get_many(list(chain.from_iterable(parts.values())), consistent=True)}
    for order in found:
        own = [items[key["PK"]] for key in parts[order["OrderId"]] if key["PK"] in items]
        same = delete(
            keys.primary(order),
            condition="#status = :status",
            names={"#status": "Status"},
            values={":status": order["Status"]},
            refused=_MovedMeanwhile(),
        )
        gone = [forget(key, because="it goes with its order") for key in parts[order["OrderId"]]]
        if order["Status"] == OrderStatus.CANCELLED:
            rest = forget(shop_keys.order_number(order["OrderNumber"]), because="it goes with its order")
        else:
            rest = _sale(order, own)
        try:
            table.transact(required, same, *gone, rest)
        except _MovedMeanwhile:
            return most  # there may be more: the next run reads it again
    return len(found)


def _sale(order: Item, parts: list[Item]) -> Write:
    """The write of an order's sale. It is in the list of undelivered orders if the order was."""
    left_out = _OF_OWNER | (INDEX_KEYS - _AT_DESK)
    if order["Status"] == OrderStatus.DELIVERED:
        left_out |= {"Address"}
    kept = {name: value for name, value in order.items() if name not in left_out}
    of_part = {*KEYS, *_OF_OWNER, "Type"}
    items = [{name: value for name, value in part.items() if name not in of_part} for part in parts]
    sale = {**kept, **shop_keys.sale(order["OrderId"]), "Type": shop_keys.SALE, "Items": items}
    return put_new(sale, refused=AlreadyExists())


NEWS: Mapping[OrderStatus, tuple[str, str]] = {
    OrderStatus.PLACED: ("placed", "We have your order of {pieces}, {totals}."),
    OrderStatus.SHIPPED: ("sent", "Your order of {pieces} is on its way."),
    OrderStatus.DELIVERED: ("delivered", "Your order of {pieces} was delivered."),
    OrderStatus.CANCELLED: ("cancelled", "Your order of {pieces} is cancelled."),
}
"""The messages to a buyer, by the order's new status."""

CORRECTIONS: Mapping[OrderStatus, str] = {
    OrderStatus.SHIPPED: "Your order of {pieces} is not on its way yet: it was marked as sent too early.",
    OrderStatus.DELIVERED: "Your order of {pieces} is still on its way: it was marked as delivered too early.",
    OrderStatus.CANCELLED: "Your order of {pieces} is not cancelled after all.",
}
"""The messages to a buyer, by the status that was undone."""


def notify(order: Order, now: datetime) -> list[Write]:
    """The write that notifies an order's owner of its new status, for the step's transaction."""
    return _message(order, *NEWS[order.status], now)


def notify_correction(order: Order, now: datetime) -> list[Write]:
    """The write that notifies an order's owner of an undone status, for the undo's transaction."""
    return _message(order, "corrected", CORRECTIONS[order.status], now)


def _message(order: Order, kind: str, words: str, now: datetime) -> list[Write]:
    totals = money.sums(order.totals)
    subject = words.format(pieces=counted(order.pieces, "piece"), totals=totals)
    news = Announcement(kind, subject, AboutOther("order", order.order_id), now, order.correlation_id)
    message = messages.compose(news, order.username)
    return [put(messages.to_item(message), because="a step taken twice within a second is notified once")]
