"""What an execution environment makes once, at its first use: the connection to the table, the logger, the metrics."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Iterator
from functools import cache
from typing import Any

from aws_lambda_powertools import Logger, Metrics

from shared import sqs
from shared.dynamodb.table import Table, connect
from shared.runtime import metrics
from shared.runtime.metrics import Metric
from shared.sqs import Queue


@cache
def table() -> Table:
    """The table that the environment names (``TABLE_NAME``), connected once per execution environment."""
    return connect(os.environ["TABLE_NAME"], **_credentials())


@cache
def queue() -> Queue:
    """The queue of the fan-out that the environment names (``QUEUE_URL``)."""
    return sqs.connect(os.environ["QUEUE_URL"], **_credentials())


def _credentials() -> dict[str, str]:
    """The role's keys where Lambda puts them into the environment: boto3 need not make ready to look elsewhere.

    Under SnapStart it does not, for they would be old by the time the snapshot is used; boto3 then asks for new ones.
    """
    names = {
        "aws_access_key_id": "AWS_ACCESS_KEY_ID",
        "aws_secret_access_key": "AWS_SECRET_ACCESS_KEY",
        "aws_session_token": "AWS_SESSION_TOKEN",
    }
    return {argument: os.environ[name] for argument, name in names.items() if os.environ.get(name)}


@cache
def logger() -> Logger:
    """The structured logger of this function."""
    return Logger()


def report(metric: Metric, value: float = 1) -> None:
    """Note a value of a metric; it goes out with the next line that is logged with ``measured()``."""
    _noted().setdefault(metric, []).append(value)


def measured() -> dict[str, Any]:
    """What was reported since the last line, as fields of a line that CloudWatch makes metrics of.

    They ride on a line that is logged anyway, for one of their own would cost half of another.
    """
    noted = _noted()
    if next(_cold_starts()):
        noted[metrics.COLD_START] = [1]
    if not noted:
        return {}
    directives, dimensions = _format(tuple(noted))
    fields = {
        "_aws": {"Timestamp": time.time_ns() // 1_000_000, "CloudWatchMetrics": directives},
        **dimensions,
        **{metric.name: values for metric, values in noted.items()},
    }
    noted.clear()
    return fields


@cache
def _noted() -> dict[Metric, list[float]]:
    """The values that no line has carried yet."""
    return {}


@cache
def _cold_starts() -> Iterator[int]:
    """One, then zeros."""
    return itertools.chain([1], itertools.repeat(0))


@cache
def _format(reported: tuple[Metric, ...]) -> tuple[Any, dict[str, str]]:
    """How CloudWatch is told of some metrics, and their dimension, as Powertools writes both: once for each set.

    https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
    """
    powertools = Metrics(namespace=os.environ.get("POWERTOOLS_METRICS_NAMESPACE", metrics.NAMESPACE))
    written: dict[str, Any] = dict(
        powertools.serialize_metric_set(metrics={each.name: {"Unit": each.unit, "Value": []} for each in reported})
    )
    directives = written["_aws"]["CloudWatchMetrics"]
    return directives, {name: written[name] for directive in directives for name in directive["Dimensions"][0]}
