"""What the clock does for the shop: it reports how long the oldest open order waits."""

from __future__ import annotations

from shared.data.orders import order_items
from shared.dynamodb.damage import Failures
from shared.runtime import shop_metrics
from shared.runtime.environment import table
from shared.runtime.metrics import report
from shared.values import times


def measure(_failures: Failures) -> None:
    """Report the age of the oldest open order."""
    now = times.now()
    waiting_since = order_items.waiting_since(table(), now)
    if waiting_since is not None:
        report(shop_metrics.OLDEST_OPEN_ORDER, (now - waiting_since).total_seconds())
