"""Notify readers of deals: each message of the queue is one cohort."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from shared.data.members import fanout
from shared.data.members.cohorts import Unit
from shared.runtime import metrics
from shared.runtime.batches import each_message
from shared.runtime.environment import logger, queue, table
from shared.runtime.metrics import measured, report
from shared.values import times

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord


def deliver(record: SQSRecord) -> None:
    """Do one unit of work."""
    unit = Unit.from_json(record.body)
    logger().set_correlation_id(unit.correlation_id)
    done = fanout.deliver(table(), queue(), unit, times.now())
    if done.written:  # a repeated cohort reports no lag
        report(metrics.MESSAGES_DELIVERED, done.written)
        if unit.written_at is not None:
            report(metrics.FAN_OUT_LAG, round(time.time() - unit.written_at, 3))
    logger().info(
        "delivered",
        deal_id=unit.deal_id,
        kind=unit.kind,
        segment=unit.segment,
        cohort=unit.number,
        readers=done.readers,
        written=done.written,
        **measured(),
    )


handler = each_message(deliver)
