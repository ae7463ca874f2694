"""What alarms watch and the dashboard draws: parts of a stage by name, and the metrics of AWS."""

from __future__ import annotations

from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs

from infra.lambdas import StreamReader, WorkQueue
from infra.rows import Caller
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


def queues(site: Site) -> dict[str, sqs.Queue]:
    """The queues of work."""
    return {each.name: each.queue for each in site.work}


def dead_letters(site: Site) -> dict[str, sqs.Queue]:
    """The dead-letter queues, by the name of the queue or reader that they belong to."""
    return {each.name: each.dead_letters for each in _fed(site)}


def mappings(site: Site) -> dict[str, str]:
    """The ids of event source mappings, by function."""
    return {each.worker.row.name: each.mapping_id for each in _fed(site)}


def _fed(site: Site) -> list[WorkQueue | StreamReader]:
    return [*site.work, *site.readers]


def stream_readers(site: Site) -> dict[str, lambda_.Function]:
    """The functions that read the table's stream."""
    return {each.worker.row.name: each.worker.function for each in site.readers}


def answering(site: Site) -> dict[str, lambda_.Function]:
    """The functions that a client waits for."""
    return _called_by(site, Caller.GATEWAY)


def working(site: Site) -> dict[str, lambda_.Function]:
    """The functions that events invoke."""
    return _called_by(site, Caller.EVENTS)


def reading(site: Site) -> list[str]:
    """The functions that read the table, and may meet a damaged item."""
    return [name for each in site.functions if each.row.access and (name := each.row.name) != "seed"]


def _called_by(site: Site, caller: Caller) -> dict[str, lambda_.Function]:
    return {each.row.name: each.function for each in site.functions if each.row.caller is caller}
