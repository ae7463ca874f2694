"""Metrics that ride on a line of a function's log, from which CloudWatch takes them."""

from __future__ import annotations

import os
import time
from functools import cache
from typing import Any

from shared.dynamodb import damage
from shared.runtime import metrics
from shared.runtime.metrics import Metric


def report(metric: Metric, value: float = 1) -> None:
    """Note a value of a metric; it goes out with the next line that is logged with ``measured()``."""
    _noted().setdefault(metric, []).append(value)


def report_damaged(name: str) -> None:
    """Note that an item that was asked for by itself is damaged."""
    damage.note(name)


def measured() -> dict[str, Any]:
    """The metrics reported since the last line, as fields of a line that CloudWatch takes them from.

    They are part of a line that is logged anyway, because a separate line would cost half as much again.
    """
    noted = _noted()
    damaged, failed = damage.taken(), damage.failed()
    if damaged:
        report(metrics.DAMAGED_ITEMS, len(damaged))
    _report_cold_start()
    if not noted and not failed:
        return {}
    directives, dimensions = _format(tuple(noted))
    fields = {
        **({"_aws": {"Timestamp": time.time_ns() // 1_000_000, "CloudWatchMetrics": directives}} if directives else {}),
        **dimensions,
        **{metric.name: values for metric, values in noted.items()},
        **({"damaged": sorted(set(damaged))} if damaged else {}),
        **({"failed": failed} if failed else {}),
    }
    noted.clear()
    return fields


@cache
def _noted() -> dict[Metric, list[float]]:
    """The values that no line has carried yet."""
    return {}


@cache
def _report_cold_start() -> None:
    """Note the first line of an environment, and no other."""
    report(metrics.COLD_START)


@cache
def _format(reported: tuple[Metric, ...]) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """How CloudWatch is told of some metrics, and their dimension: once for each set.

    Each metric is paid for by the month. ``METRICS`` names those that the stage pays for, if these are not all; the
    others are fields of the line and no more. Powertools' ``Metrics`` would write the same; importing it takes as long
    as all the rest of this package.
    """
    chosen = os.environ.get("METRICS")
    paid = [each for each in reported if chosen is None or each.name in chosen.split()]
    directive = {
        "Namespace": os.environ.get("POWERTOOLS_METRICS_NAMESPACE", metrics.NAMESPACE),
        "Dimensions": [[metrics.DIMENSION]],
        "Metrics": [{"Name": each.name, "Unit": each.unit} for each in paid],
    }
    dimensions = {metrics.DIMENSION: os.environ.get("POWERTOOLS_SERVICE_NAME", "service_undefined")}
    return [directive] if paid else [], dimensions
