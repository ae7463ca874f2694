"""What holds an account: orders that are to be sent."""

from __future__ import annotations

from shared.errors import StillNeeded


class OrdersRemain(StillNeeded):
    text = "You have an order that has not been sent yet. Cancel it, or wait until it is sent."


HOLDS_ACCOUNTS = {"OpenOrders": OrdersRemain}
