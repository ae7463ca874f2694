"""What an execution environment makes once, at its first use: the connection to the table, the logger, the metrics."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from functools import cache
from typing import Any

from aws_lambda_powertools import Logger, Metrics

from shared import metrics
from shared.data import queues
from shared.data.queues import Queue
from shared.data.table import Table, connect
from shared.metrics import Metric


@cache
def table() -> Table:
    """The table that the environment names (``TABLE_NAME``), connected once per execution environment."""
    return connect(os.environ["TABLE_NAME"])


@cache
def queue() -> Queue:
    """The queue of the fan-out that the environment names (``QUEUE_URL``)."""
    return queues.connect(os.environ["QUEUE_URL"])


@cache
def logger() -> Logger:
    """The structured logger of this function."""
    return Logger()


def report(metric: Metric, value: float = 1) -> None:
    """Note a value of a metric; it goes out with the next line that is logged with ``measured()``."""
    _noted().setdefault(metric.name, {"Unit": metric.unit, "Value": []})["Value"].append(value)


def measured() -> dict[str, Any]:
    """What was reported since the last line, as fields of a line that CloudWatch makes metrics of.

    A line of its own would cost as much again as the line it follows (docs/runbook.md).
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
    """
    noted = _noted()
    if next(_cold_starts()):
        noted[metrics.COLD_START] = {"Unit": "Count", "Value": [1]}
    if not noted:
        return {}
    fields: dict[str, Any] = dict(_serializer().serialize_metric_set(metrics=noted))
    noted.clear()
    return fields


@cache
def _noted() -> dict[str, Any]:
    """The values that no line has carried yet, by metric, as Powertools wants them."""
    return {}


@cache
def _cold_starts() -> Iterator[int]:
    """One, then zeros."""
    return itertools.chain([1], itertools.repeat(0))


@cache
def _serializer() -> Metrics:
    """Powertools' metrics, with the namespace and the service that the environment names."""
    return Metrics(namespace=os.environ.get("POWERTOOLS_METRICS_NAMESPACE", metrics.NAMESPACE))
