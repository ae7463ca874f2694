"""Each minute: the age of the oldest open order."""

from __future__ import annotations

from features.shop import metrics
from features.shop.data import order_items
from shared.dynamodb.damage import Failures
from shared.runtime.environment import table
from shared.runtime.metrics import report
from shared.values import times


def each_minute(_failures: Failures) -> None:
    """Report the age of the oldest open order."""
    now = times.now()
    waiting_since = order_items.waiting_since(table(), now)
    if waiting_since is not None:
        report(metrics.OLDEST_OPEN_ORDER, (now - waiting_since).total_seconds())
