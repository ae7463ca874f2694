"""The metrics of AWS that alarms watch and the dashboard draws."""

from __future__ import annotations

from aws_cdk import aws_cloudwatch as cloudwatch

from infra.site import SUM, Site

MINIMUM, SAMPLES, P99 = "Minimum", "SampleCount", "p99"

OPERATIONS = (
    "GetItem", "BatchGetItem", "Query", "Scan", "PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems",
    "BatchExecuteStatement", "BatchWriteItem",
)  # fmt: skip
"""The functions' operations on the table: DynamoDB counts its own failures only by operation.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/metrics-dimensions.html"""


def of_table(site: Site, name: str, **dimensions: str) -> cloudwatch.Metric:
    """A count that DynamoDB reports. Without an index's name it excludes the indexes."""
    return cloudwatch.Metric(
        namespace="AWS/DynamoDB",
        metric_name=name,
        dimensions_map={"TableName": site.table.name, **dimensions},
        statistic=SUM,
    )


def polls(mapping: str) -> cloudwatch.Metric:
    """Polls of an event source mapping: a value for each poll, zero if it found nothing.

    https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html#event-source-mapping-metrics
    """
    return cloudwatch.Metric(
        namespace="AWS/Lambda",
        metric_name="PolledEventCount",
        dimensions_map={"EventSourceMappingUUID": mapping},
        statistic=SAMPLES,
    )
