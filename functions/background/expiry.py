"""Each minute: deals whose offer has ended leave the feeds, drafts that are due are posted.

The age of the oldest open order is reported, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shared.data.catalog import drafts, endings
from shared.data.orders import open_orders
from shared.runtime import metrics
from shared.runtime.environment import logger, table
from shared.runtime.reporting import measured, report
from shared.values import times

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext


def handler(_event: dict[str, Any], context: LambdaContext) -> dict[str, int]:
    """Sweep once; returns how many endings were looked at, and how many drafts were posted."""
    now = times.now()
    swept = endings.sweep(table(), now)
    report(metrics.ENDED_DEALS_SWEPT, swept)
    begun = drafts.sweep(table(), now, correlation_id=context.aws_request_id)
    for each in begun:
        report(metrics.DEALS_POSTED)
        logger().info("posted as planned", deal=each.deal.deal_id, late_seconds=each.late.total_seconds())
    waiting_since = open_orders.waiting_since(table(), now)
    if waiting_since is not None:
        report(metrics.OLDEST_OPEN_ORDER, (now - waiting_since).total_seconds())
    logger().info("swept", endings=swept, posted=len(begun), function_request_id=context.aws_request_id, **measured())
    return {"swept": swept, "posted": len(begun)}
