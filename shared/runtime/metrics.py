"""The metrics of the functions in CloudWatch: names, units and reporters, for the functions and for the alarms.

Actions of both the API and the pages are reported by a function of each, and CloudWatch keeps the two
apart.

Metrics ride on a line of a function's log, in CloudWatch's embedded metric format. Their namespace is the stack's name,
so that two stages in one account stay apart.
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from shared.dynamodb import damage

NAMESPACE = "BigTimeDeals"
"""The namespace of functions that no stack has deployed: in tests and benchmarks."""

DIMENSION = "service"
"""The one dimension of each metric: the function that reports it."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric: its name, its unit, and the functions that report it. None are named where every function does."""

    name: str
    unit: Literal["Count", "Seconds"]
    services: tuple[str, ...] = ()


COLD_START = Metric("ColdStart", "Count")
"""One for each execution environment, in the first line that it logs, by every service."""

FAULTS = Metric("Faults", "Count")
"""Requests that ended in a fault of ours: any exception that is no domain error, and what DynamoDB calls impossible."""

DAMAGED_ITEMS = Metric("DamagedItems", "Count")
"""Items that were left out because they cannot be read, each time that one was met."""

CACHE_HITS = Metric("CacheHits", "Count", ("catalog", "site"))
CACHE_MISSES = Metric("CacheMisses", "Count", ("catalog", "site"))
"""Parts of pages that were read from a copy, and those that had to be made from the indexes."""

CACHE_AGE = Metric("CacheAge", "Seconds", ("refresher",))
"""Since each cached part was built, as the clock finds it each minute: what readers see is no older."""

SIGN_IN_FAILURES = Metric("SignInFailures", "Count", ("accounts", "account"))
"""Wrong passwords and unknown names, and attempts that were refused because there had been too many."""

LIKES_ADDED = Metric("LikesAdded", "Count", ("members", "mine"))
LIKES_REMOVED = Metric("LikesRemoved", "Count", ("members", "mine"))
WATCHES_ADDED = Metric("WatchesAdded", "Count", ("members", "mine"))
WATCHES_REMOVED = Metric("WatchesRemoved", "Count", ("members", "mine"))
"""First likes and watches; repeating one counts nothing."""

DEALS_POSTED = Metric("DealsPosted", "Count", ("editors", "desk", "expiry"))
"""Deals created through the API, at the desk and as planned. Imports and repeated requests count nothing."""

MESSAGES_DELIVERED = Metric("MessagesDelivered", "Count", ("messenger",))
"""Messages that were written. Those that were there already count nothing."""

FAN_OUT_LAG = Metric("FanOutLag", "Seconds", ("messenger",))
"""From a deal's write to the end of a page of its messages. The stream has the write's time in whole seconds."""

ENDED_DEALS_SWEPT = Metric("EndedDealsSwept", "Count", ("expiry",))
"""Deals that left the feeds because their offer had ended. Each sweep reports it, if only zero."""


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
        report(DAMAGED_ITEMS, len(damaged))
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
    report(COLD_START)


@cache
def _format(reported: tuple[Metric, ...]) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """The declaration of some metrics and their dimension for CloudWatch: once for each set.

    Each metric is paid for by the month. ``METRICS`` names those that the stage pays for, if these are not all; the
    others are fields of the line and no more. Powertools' ``Metrics`` would write the same; importing it takes as long
    as all the rest of this package.
    """
    chosen = os.environ.get("METRICS")
    paid = [each for each in reported if chosen is None or each.name in chosen.split()]
    directive = {
        "Namespace": os.environ.get("POWERTOOLS_METRICS_NAMESPACE", NAMESPACE),
        "Dimensions": [[DIMENSION]],
        "Metrics": [{"Name": each.name, "Unit": each.unit} for each in paid],
    }
    dimensions = {DIMENSION: os.environ.get("POWERTOOLS_SERVICE_NAME", "service_undefined")}
    return [directive] if paid else [], dimensions
