"""The metrics of the shop."""

from __future__ import annotations

from shared.runtime.metrics import Metric

ORDERS_PLACED = Metric("OrdersPlaced", "Count", ("orders", "shop"))
"""Orders placed through the API and in the shop. Repeated requests count nothing."""

OLDEST_OPEN_ORDER = Metric("OldestOpenOrder", "Seconds", ("expiry",))
"""The age of the oldest open order, each minute; nothing while none is open."""

METRICS = (ORDERS_PLACED, OLDEST_OPEN_ORDER)
ESSENTIAL = (OLDEST_OPEN_ORDER,)
"""The metrics that are paid for if a stage watches only the essential."""
