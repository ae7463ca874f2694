"""The functions' CloudWatch metrics: names, units and reporting functions, for the functions and for the alarms.

Metrics are fields of a function's log line, in CloudWatch's embedded metric format. The namespace is the stack's name,
which separates two stages in one account. If the API and the pages share an action, each has a function that reports
it.
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
"""

from __future__ import annotations

import os
import time
from functools import cache
from typing import Any, Literal, NamedTuple

from shared.dynamodb import damage

NAMESPACE = "BigTimeDeals"
"""The namespace outside a deployed stack: in tests and benchmarks."""

DIMENSION = "service"
"""Each metric's only dimension: the function that reports it."""


class Metric(NamedTuple):
    """One metric: its name, its unit, and the functions that report it (empty: all functions). A row of a feature's
    function says which of the core's it reports, too."""

    name: str
    unit: Literal["Count", "Seconds"]
    services: tuple[str, ...] = ()


COLD_START = Metric("ColdStart", "Count")
"""One per execution environment, in the first line that it logs."""

FAULTS = Metric("Faults", "Count")
"""Requests that ended in a fault: an exception other than a domain error, or a request impossible for DynamoDB."""

DAMAGED_ITEMS = Metric("DamagedItems", "Count")
"""Unreadable items that were skipped, counted each time."""

CACHE_HITS = Metric("CacheHits", "Count", ("catalog", "site"))
CACHE_MISSES = Metric("CacheMisses", "Count", ("catalog", "site"))
"""Page parts that were read from a copy, and those that had to be built from the indexes."""

CACHE_AGE = Metric("CacheAge", "Seconds", ("refresher",))
"""The age of each cached part, found each minute: readers see none older."""

SIGN_IN_FAILURES = Metric("SignInFailures", "Count", ("accounts", "account"))
"""Wrong passwords, unknown names, and attempts refused because there were too many."""

LIKES_ADDED = Metric("LikesAdded", "Count", ("members", "mine"))
LIKES_REMOVED = Metric("LikesRemoved", "Count", ("members", "mine"))
WATCHES_ADDED = Metric("WatchesAdded", "Count", ("members", "mine"))
WATCHES_REMOVED = Metric("WatchesRemoved", "Count", ("members", "mine"))
"""First likes and watches; repeated ones don't count."""

DEALS_POSTED = Metric("DealsPosted", "Count", ("editors", "expiry"))
"""Deals created through the API, on pages and as scheduled. Imports and repeated requests don't count."""

MESSAGES_DELIVERED = Metric("MessagesDelivered", "Count", ("messenger",))
"""Messages written. Existing ones don't count."""

FAN_OUT_LAG = Metric("FanOutLag", "Seconds", ("messenger",))
"""From a deal's write to the end of a cohort's messages. The stream has the write's time in whole seconds."""

ENDED_DEALS_SWEPT = Metric("EndedDealsSwept", "Count", ("expiry",))
"""Deals that left the feeds because they had ended. Every sweep reports it, even if zero."""


def report(metric: Metric, value: float = 1) -> None:
    """Note a metric's value, which goes out with the next line that is logged with ``measured()``."""
    _noted().setdefault(metric, []).append(value)


def report_damaged(name: str) -> None:
    """Note that an item which was requested by itself is damaged."""
    damage.note(name)


def measured() -> dict[str, Any]:
    """Take the metrics noted since the last line, as fields from which CloudWatch reads them.

    They join a line that is logged anyway: a separate one would cost half as much again.
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
    """The values that no line has taken yet."""
    return {}


@cache
def _report_cold_start() -> None:
    """Note an environment's first line, once."""
    report(COLD_START)


@cache
def _format(reported: tuple[Metric, ...]) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """CloudWatch's declaration of some metrics and their dimension, made once for each set.

    Each metric costs money every month. ``METRICS`` names those that the stage pays for, if not all; others are plain
    fields. Powertools' ``Metrics`` would write the same, but importing it takes as long as the rest of this package.
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
