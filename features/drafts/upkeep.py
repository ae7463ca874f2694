"""Each minute: post due drafts."""

from __future__ import annotations

from features.drafts import data as drafts
from shared.dynamodb.damage import Failures
from shared.runtime import metrics
from shared.runtime.environment import logger, request_id, table
from shared.runtime.metrics import report
from shared.values import times


def each_minute(failures: Failures) -> None:
    """Post the drafts that are due."""
    for each in drafts.sweep(table(), times.now(), correlation_id=request_id(), failures=failures):
        report(metrics.DEALS_POSTED)
        logger().info("posted as planned", deal=each.deal.deal_id, late_seconds=each.late.total_seconds())
