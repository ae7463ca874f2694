"""Notifications of an order's owner."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from shared.data.members import announcements
from shared.dynamodb.writes import Write, put
from shared.models.members import AboutOther, Announcement
from shared.models.orders import Order, OrderStatus
from shared.values import money
from shared.values.naming import counted

NEWS: Mapping[OrderStatus, tuple[str, str]] = {
    OrderStatus.PLACED: ("placed", "We have your order of {pieces}, {totals}."),
    OrderStatus.SHIPPED: ("sent", "Your order of {pieces} is on its way."),
    OrderStatus.DELIVERED: ("delivered", "Your order of {pieces} was delivered."),
    OrderStatus.CANCELLED: ("cancelled", "Your order of {pieces} is cancelled."),
}
"""The words to a buyer, by the order's new status."""

CORRECTIONS: Mapping[OrderStatus, str] = {
    OrderStatus.SHIPPED: "Your order of {pieces} is not on its way yet: it was marked as sent too early.",
    OrderStatus.DELIVERED: "Your order of {pieces} is still on its way: it was marked as delivered too early.",
    OrderStatus.CANCELLED: "Your order of {pieces} is not cancelled after all.",
}
"""The words to a buyer, by the status that was taken back."""


def notify(order: Order, now: datetime) -> list[Write]:
    """The write that notifies an order's owner of its new status, for the transaction that changes the status."""
    return _tell(order, *NEWS[order.status], now)


def notify_correction(order: Order, now: datetime) -> list[Write]:
    """The write that notifies an order's owner that its status was taken back, for the transaction that does so."""
    return _tell(order, "corrected", CORRECTIONS[order.status], now)


def _tell(order: Order, kind: str, words: str, now: datetime) -> list[Write]:
    totals = money.sums(order.totals)
    subject = words.format(pieces=counted(order.pieces, "piece"), totals=totals)
    news = Announcement(kind, subject, AboutOther("order", order.order_id), now, order.correlation_id)
    message = announcements.compose(news, order.username)
    return [put(announcements.to_item(message), because="a step taken twice within a second is notified once")]
