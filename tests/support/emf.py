"""The rules of CloudWatch's embedded metric format, to hold log lines against.

https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jsonschema import Draft202012Validator

UNITS = [
    "Seconds", "Microseconds", "Milliseconds", "Bytes", "Kilobytes", "Megabytes", "Gigabytes", "Terabytes", "Bits",
    "Kilobits", "Megabits", "Gigabits", "Terabits", "Percent", "Count", "Bytes/Second", "Kilobytes/Second",
    "Megabytes/Second", "Gigabytes/Second", "Terabytes/Second", "Bits/Second", "Kilobits/Second", "Megabits/Second",
    "Gigabits/Second", "Terabits/Second", "Count/Second", "None",
]  # fmt: skip
"""Of CloudWatch's MetricDatum."""

METRIC = {
    "type": "object",
    "required": ["Name"],
    "additionalProperties": False,
    "properties": {
        "Name": {"type": "string", "minLength": 1, "maxLength": 1024},
        "Unit": {"enum": UNITS},
        "StorageResolution": {"enum": [1, 60]},
    },
}
DIRECTIVE = {
    "type": "object",
    "required": ["Namespace", "Dimensions", "Metrics"],
    "additionalProperties": False,
    "properties": {
        "Namespace": {"type": "string", "minLength": 1, "maxLength": 1024},
        "Dimensions": {
            "type": "array",
            "minItems": 1,
            "items": {"type": "array", "maxItems": 30, "items": {"type": "string", "minLength": 1, "maxLength": 250}},
        },
        "Metrics": {"type": "array", "maxItems": 100, "items": METRIC},
    },
}
DOCUMENT = {
    "type": "object",
    "required": ["_aws"],
    "properties": {
        "_aws": {
            "type": "object",
            "required": ["Timestamp", "CloudWatchMetrics"],
            "additionalProperties": False,
            "properties": {
                "Timestamp": {"type": "integer", "minimum": 10**12},
                "CloudWatchMetrics": {"type": "array", "items": DIRECTIVE},
            },
        }
    },
}
"""The root node, its metadata object, and its metric directives. A time in milliseconds has thirteen digits."""

DIMENSION_VALUE = {"type": "string", "minLength": 1, "maxLength": 1024}
METRIC_VALUE = {
    "anyOf": [{"type": "number"}, {"type": "array", "minItems": 1, "maxItems": 100, "items": {"type": "number"}}]
}

MAX_BYTES = 1024 * 1024
"""Of a log event, and so of a document."""


def metrics_in(line: Mapping[str, Any]) -> dict[str, Any]:
    """The metrics that CloudWatch makes of a line, by name. Raises ValidationError for one that breaks the format."""
    Draft202012Validator(DOCUMENT).validate(line)
    found = {}
    for directive in line["_aws"]["CloudWatchMetrics"]:
        # What a directive names must be there, at the root of the document.
        for dimensions in directive["Dimensions"]:
            for dimension in dimensions:
                Draft202012Validator(DIMENSION_VALUE).validate(line[dimension])
        for metric in directive["Metrics"]:
            Draft202012Validator(METRIC_VALUE).validate(line[metric["Name"]])
            found[metric["Name"]] = line[metric["Name"]]
    return found
