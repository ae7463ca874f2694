"""The rules of CloudWatch's embedded metric format, to hold log lines against.

https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import botocore.session

UNITS = botocore.session.get_session().get_service_model("cloudwatch").shape_for("StandardUnit").metadata["enum"]


def metrics_in(line: Mapping[str, Any]) -> dict[str, Any]:
    """The metrics that CloudWatch makes of a line, by name. Fails for a line that breaks the format."""
    metadata, found = line["_aws"], {}
    assert metadata.keys() == {"Timestamp", "CloudWatchMetrics"}
    assert type(metadata["Timestamp"]) is int
    assert metadata["Timestamp"] >= 10**12, "milliseconds have thirteen digits"
    for directive in metadata["CloudWatchMetrics"]:
        assert directive.keys() == {"Namespace", "Dimensions", "Metrics"}
        assert _is_text(directive["Namespace"], 1024)
        assert directive["Dimensions"]
        assert len(directive["Metrics"]) <= 100
        for dimensions in directive["Dimensions"]:
            assert len(dimensions) <= 30
            # What a directive names must be there, at the root of the document.
            assert all(_is_text(name, 250) and _is_text(line[name], 1024) for name in dimensions)
        for metric in directive["Metrics"]:
            values = line[metric["Name"]]
            assert metric.keys() <= {"Name", "Unit", "StorageResolution"}
            assert _is_text(metric["Name"], 1024)
            assert metric.get("Unit", "None") in UNITS
            assert metric.get("StorageResolution", 60) in (1, 60)
            several = values if isinstance(values, list) else [values]
            assert 1 <= len(several) <= 100
            assert all(type(each) in (int, float) for each in several)
            found[metric["Name"]] = values
    return found


def _is_text(value: Any, most: int) -> bool:
    return isinstance(value, str) and 1 <= len(value) <= most
